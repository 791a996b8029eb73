// A CUDA call that fails throws std::runtime_error with file, line and CUDA's own words.
#pragma once
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace stickslip::cuda {

inline void check_call(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that a later call does not report it again
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                           cudaGetErrorString(error));
}

}  // namespace stickslip::cuda

#define SS_CUDA(call) ::stickslip::cuda::check_call(call, #call, __FILE__, __LINE__)
