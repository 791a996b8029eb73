#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>

#include "support.cuh"
#include "tests.cuh"

namespace {

void scans(int n, const std::vector<int>& x) {
  const Device<int> dx(x);
  Device<int> out(n);
  with_storage("DeviceScan::ExclusiveSum", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceScan::ExclusiveSum(t, b, dx.p, out.p, n, s);
  });
  std::vector<int> want(n);
  std::exclusive_scan(x.begin(), x.end(), want.begin(), 0);
  same("DeviceScan::ExclusiveSum", n, out.host(), want);
  std::vector<long long> y(x.begin(), x.end()), sums(n);
  Device<long long> dy(y), dz(n);
  with_storage("DeviceScan::InclusiveSum", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceScan::InclusiveSum(t, b, dy.p, dz.p, n, s);
  });
  std::inclusive_scan(y.begin(), y.end(), sums.begin());
  same("DeviceScan::InclusiveSum", n, dz.host(), sums);
}

void reductions(int n, const std::vector<int>& x) {
  const Device<int> dx(x);
  Device<int> count(1);
  with_storage("DeviceReduce::Sum", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceReduce::Sum(t, b, dx.p, count.p, n, s);
  });
  same("DeviceReduce::Sum", n, count.host(), {std::accumulate(x.begin(), x.end(), 0)});
  std::vector<double> y(x.begin(), x.end());
  Device<double> dy(y), most(1);
  with_storage("DeviceReduce::Max", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceReduce::Max(t, b, dy.p, most.p, n, s);
  });
  same("DeviceReduce::Max", n, most.host(), {*std::max_element(y.begin(), y.end())});
}

}  // namespace

void sums(int n) {
  const std::vector<int> x = Lists(n).x;
  scans(n, x);
  reductions(n, x);
}
