// Threads of a block with one another: barriers, shared memory, atomics.
#include <algorithm>

#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

void block_sum(const Setup& s) {
  std::vector<double> in(1000), out(512);
  double total = 0;
  for (int i = 0; i < 1000; ++i) total += in[i] = i * 0.25;
  const auto r = launch("block_sum", shaped(s, {2}, {256}), in.data(), out.data(), 1000);
  expect("block_sum", r, wrong(out, 0, 512, [&](int) { return total; }));
}

void block_votes(const Setup& s) {
  constexpr int n = 128;
  std::vector<i32> in(n), out(3 * n);
  for (const int odd_one : {7, -1}) {
    for (int i = 0; i < n; ++i) in[i] = i * 3;
    in[77] = odd_one;
    const auto r = launch("block_votes", shaped(s, {1}, {n}), in.data(), out.data());
    const auto odd = std::count_if(in.begin(), in.end(), [](int x) { return (x & 1) != 0; });
    int bad = wrong(out, 2 * n, n, [&](int) { return odd; });
    for (int i = 0; i < 2 * n; ++i) bad += (out[i] != 0) != (odd_one == 7);
    expect("block_votes", r, bad);
  }
}

void barriers(const Setup& s) {
  std::vector<i32> out(128);
  auto r = launch("early", shaped(s, {1}, {128}), out.data());
  expect("early", r, wrong(out, 0, 70, [](int i) { return 69 - i; }));
  r = launch("named", shaped(s, {1}, {128}), out.data());
  expect("named", r, wrong(out, 0, 128, [](int i) { return i / 64 * 64 + 63 - i % 64; }));
  r = launch("producer", shaped(s, {1}, {64}), out.data());
  expect("producer", r, wrong(out, 0, 32, [](int i) { return 5 * (31 - i); }));
}

void shared_memory(const Setup& s) {
  std::vector<i32> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 3;
  for (const int n : {4, 40}) {
    const auto r =
        launch("dynamic", shaped(s, {1}, {64}, 64 * sizeof(int)), in.data(), out.data(), n);
    expect("dynamic", r, wrong(out, 0, 64, [&](int i) {
             const int k = (i + 1) % n;
             return (n > 5 ? in[k] : 100 * k) + 100 * (i & 3);
           }));
  }
  alignas(16) int wide[128];
  for (int i = 0; i < 128; ++i) wide[i] = i;
  const auto r = launch("copy_async", shaped(s, {1}, {32}), wide, out.data());
  expect("copy_async", r, wrong(out, 0, 32, [](int i) { return 4 * (31 - i) + 2; }));
}

void all_atomics(const Setup& s) {
  constexpr int n = 192;
  u32 w[14] = {0, 0, ~0U, ~0U, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0};
  u64 l[2] = {0, 0};
  float f = 0;
  double d = 0;
  std::vector<i32> in(n);
  u32 x = 0, power = 1, inc = 0, dec = 5;
  u64 sum = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = i * 71 % 193 + 5;
    x ^= u32(in[i]);
    sum += u64(in[i]) << 20;
    power *= 3;
    inc = inc >= 9 ? 0 : inc + 1;
    dec = dec == 0 || dec > 9 ? 9 : dec - 1;
  }
  const u32 most = u32(*std::max_element(in.begin(), in.end()));
  const u32 least = u32(*std::min_element(in.begin(), in.end()));
  const auto r = launch("atomics", shaped(s, {2}, {96}), w, l, &f, &d, in.data());
  const u32 expected[14] = {n, most, least, 0, ~0U, x, inc, dec, power, 77, 96, 96, 96, 96};
  expect("atomics", r, wrong(w, 0, 14, [&](int i) { return expected[i]; }));
  check(l[0] == sum && l[1] == most && f == n * 0.5F && d == n * 0.25, "wide atomics");
}

void lock(Setup s) {
  s.checks.races = s.checks.global_races = false;
  int lock = 0, value = 0;
  std::vector<i32> out(64);
  const auto r = launch("spin", shaped(s, {2}, {64}), &lock, &value, out.data());
  expect("spin", r, value != 128);
}

}  // namespace

void blocks() {
  in_schedules([](const Setup& s) {
    block_sum(s);
    block_votes(s);
    barriers(s);
    shared_memory(s);
  });
}

void atomics() {
  in_schedules([](const Setup& s) {
    all_atomics(s);
    lock(s);
  });
}

}  // namespace gpu_emulator::tests
