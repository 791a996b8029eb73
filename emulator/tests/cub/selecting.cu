#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <iterator>

#include "support.cuh"
#include "tests.cuh"

namespace {

void flagged(int n, const Lists& l) {
  const auto& x = l.x;
  const auto& flags = l.flags;
  const Device<int> dx(x), df(flags);
  Device<int> out(n), count(1);
  with_storage("DeviceSelect::Flagged", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceSelect::Flagged(t, b, dx.p, df.p, out.p, count.p, n, s);
  });
  std::vector<int> want;
  for (int i = 0; i < n; ++i)
    if (flags[i]) want.push_back(x[i]);
  const int c = count.host()[0];
  same("DeviceSelect::Flagged", n, std::vector<int>{c}, {int(want.size())});
  same("DeviceSelect::Flagged", n, out.host(want.size()), want);
}

void selected(int n, const Lists& l) {
  const auto& x = l.x;
  const Device<int> dx(x);
  Device<int> out(n), count(1);
  with_storage("DeviceSelect::If", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceSelect::If(t, b, dx.p, out.p, count.p, n, Even(), s);
  });
  std::vector<int> want;
  std::copy_if(x.begin(), x.end(), std::back_inserter(want), Even());
  same("DeviceSelect::If", n, count.host(), {int(want.size())});
  same("DeviceSelect::If", n, out.host(want.size()), want);
}

void unique(int n, const Lists& l) {
  const auto& flags = l.flags;
  const Device<int> df(flags);
  Device<int> out(n), count(1);
  with_storage("DeviceSelect::Unique", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceSelect::Unique(t, b, df.p, out.p, count.p, n, s);
  });
  std::vector<int> want = flags;
  want.erase(std::unique(want.begin(), want.end()), want.end());
  same("DeviceSelect::Unique", n, count.host(), {int(want.size())});
  same("DeviceSelect::Unique", n, out.host(want.size()), want);
}

void partitioned(int n, const Lists& l) {
  const auto& x = l.x;
  const auto& flags = l.flags;
  const Device<int> dx(x), df(flags);
  Device<int> out(n), count(1);
  with_storage("DevicePartition::Flagged", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DevicePartition::Flagged(t, b, dx.p, df.p, out.p, count.p, n, s);
  });
  std::vector<int> want, rest;
  for (int i = 0; i < n; ++i) (flags[i] ? want : rest).push_back(x[i]);
  same("DevicePartition::Flagged", n, count.host(), {int(want.size())});
  want.insert(want.end(), rest.rbegin(), rest.rend());
  same("DevicePartition::Flagged", n, out.host(), want);
}

}  // namespace

void selecting(int n) {
  const Lists l(n);
  flagged(n, l);
  selected(n, l);
  unique(n, l);
  partitioned(n, l);
}

void run_lengths(int n) {
  const std::vector<int> flags = Lists(n).flags;
  const Device<int> df(flags);
  Device<int> out(n), more(n), count(1);
  with_storage("DeviceRunLengthEncode", [&](void* t, size_t& b, cudaStream_t s) {
    return cub::DeviceRunLengthEncode::Encode(t, b, df.p, out.p, more.p, count.p, n, s);
  });
  std::vector<int> value, length;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || flags[i] != flags[i - 1]) {
      value.push_back(flags[i]);
      length.push_back(0);
    }
    ++length.back();
  }
  same("DeviceRunLengthEncode", n, count.host(), {int(value.size())});
  same("DeviceRunLengthEncode", n, out.host(value.size()), value);
  same("DeviceRunLengthEncode", n, more.host(value.size()), length);
}
