#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "support.cuh"
#include "tests.cuh"

namespace {

template <class Key>
void radix_sort(const char* name, int n, bool descending) {
  std::mt19937 random(unsigned(n) + 1);
  std::vector<Key> keys(n);
  std::vector<int> values(n), order(n);
  for (int i = 0; i < n; ++i) {
    keys[i] = sizeof(Key) == 8 ? Key((double(random()) - 2e9) * double(random()))
                               : Key(int(random() % 1000u) - 500);
    values[i] = order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return descending ? keys[a] > keys[b] : keys[a] < keys[b];
  });
  std::vector<Key> sorted(n);
  for (int i = 0; i < n; ++i) sorted[i] = keys[order[i]];
  Device<Key> in(keys), out(n);
  Device<int> v(values), w(n);
  with_storage(name, [&](void* t, size_t& b, cudaStream_t s) {
    return descending ? cub::DeviceRadixSort::SortPairsDescending(t, b, in.p, out.p, v.p, w.p, n, 0,
                                                                  int(8 * sizeof(Key)), s)
                      : cub::DeviceRadixSort::SortPairs(t, b, in.p, out.p, v.p, w.p, n, 0,
                                                        int(8 * sizeof(Key)), s);
  });
  same(name, n, out.host(), sorted);
  same(name, n, w.host(), order);
}

}  // namespace

void sorting(int n) {
  radix_sort<int>("DeviceRadixSort int", n, false);
  radix_sort<double>("DeviceRadixSort descending", n, true);
  radix_sort<std::uint64_t>("DeviceRadixSort uint64", std::min(n, 20000), false);
}
