// A kernel that ptxas must keep in local memory when LOCAL_ARRAY is 1: an indexed array per thread.
__global__ void indexed(const int* index, float* x) {
  const int i = index[threadIdx.x];
#if LOCAL_ARRAY
  float values[64];
  for (int k = 0; k < 64; ++k) values[k] = x[k];
  for (int k = 0; k < i; ++k) values[index[k] & 63] += values[index[k + 1] & 63];
  x[threadIdx.x] = values[i & 63];
#else
  x[threadIdx.x] = x[i];
#endif
}
