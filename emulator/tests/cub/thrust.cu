#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/partition.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <numeric>

#include "support.cuh"
#include "tests.cuh"

namespace {

void sorts(int n, const std::vector<int>& x) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Device<int> keys(x), values(order);
  thrust::device_ptr<int> k(keys.p), v(values.p);
  thrust::stable_sort_by_key(thrust::device, k, k + n, v);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] < x[b]; });
  same("thrust::stable_sort_by_key", n, values.host(), order);
  Device<int> merged(x), mv(order);
  thrust::device_ptr<int> mk(merged.p), mp(mv.p);
  std::iota(order.begin(), order.end(), 0);
  CUDA(cudaMemcpy(mv.p, order.data(), sizeof(int) * n, cudaMemcpyHostToDevice));
  thrust::stable_sort_by_key(thrust::device, mk, mk + n, mp,
                             [] __host__ __device__(int a, int b) { return a / 3 > b / 3; });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] / 3 > x[b] / 3; });
  same("thrust::stable_sort_by_key, merge", n, mv.host(), order);
}

void scans(int n, const std::vector<int>& x) {
  const Device<int> dx(x);
  Device<int> out(n);
  const thrust::device_ptr<int> o(out.p);
  const thrust::device_ptr<const int> in(dx.p);
  thrust::exclusive_scan(thrust::device, in, in + n, o);
  std::vector<int> want(n);
  std::exclusive_scan(x.begin(), x.end(), want.begin(), 0);
  same("thrust::exclusive_scan", n, out.host(), want);
}

void partitions(int n, const std::vector<int>& x) {
  Device<int> parts(x);
  thrust::device_ptr<int> p(parts.p);
  const auto middle = thrust::stable_partition(thrust::device, p, p + n, Even());
  std::vector<int> want = x;
  const auto host_middle = std::stable_partition(want.begin(), want.end(), Even());
  same("thrust::stable_partition", n, std::vector<int>{int(middle - p)},
       {int(host_middle - want.begin())});
  same("thrust::stable_partition", n, parts.host(), want);
  Device<int> again(x);
  thrust::device_ptr<int> q(again.p);
  const int evens = int(thrust::partition(thrust::device, q, q + n, Even()) - q);
  same("thrust::partition", n, std::vector<int>{evens}, {int(host_middle - want.begin())});
}

}  // namespace

void thrust_algorithms(int n) {
  const std::vector<int> x = Lists(n).x;
  sorts(n, x);
  scans(n, x);
  partitions(n, x);
  check(cudaGetLastError(), "thrust");
}
