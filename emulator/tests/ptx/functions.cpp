// Calls, variables, vectors, and what a thread knows of itself.
#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

void calls(const Setup& s) {
  std::vector<i32> in(64);
  std::vector<double> out(64);
  for (int i = 0; i < 64; ++i) in[i] = 1 + i % 6;
  const auto r = launch("calls", shaped(s, {1}, {64}), out.data(), in.data());
  expect("calls", r, wrong(out, 0, 64, [&](int i) {
           double depth = i;
           for (int k = 2; k <= in[i]; ++k) depth += k;
           return i + 1000.0 * int(depth + 0.25) + (in[i] & 1 ? i * i : 2 * i);
         }));
}

void local_array(const Setup& s) {
  std::vector<i32> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = 1 + i % 6;
  const auto r = launch("local_array", shaped(s, {1}, {64}), in.data(), out.data());
  expect("local_array", r, wrong(out, 0, 64, [&](int i) {
           int a[32];
           for (int k = 0; k < 32; ++k) a[k] = k * k + i;
           for (int k = 0; k < 10; ++k) a[in[k] & 31] += a[in[k + 1] & 31];
           return a[in[i] & 31];
         }));
  check(r.local_accesses > 0, "local accesses are counted");
}

void variables(const Setup& s) {
  const int weights[] = {3, 5, 7, 11};
  const double numbers[] = {1.5, 2.5, -3.5};
  std::vector<double> out(32);
  const auto r = launch("variables", shaped(s, {1}, {32}), out.data());
  expect("variables", r, wrong(out, 0, 32, [&](int i) {
           return weights[i & 3] + numbers[i % 3] + numbers[i & 1 ? 2 : 0];
         }));
}

void vectors(const Setup& s) {
  alignas(16) float a[128], b[128];
  u8 e[128];
  short pairs[64];
  std::vector<i32> out(32);
  for (int i = 0; i < 128; ++i) a[i] = float(i) * 0.5F, e[i] = u8(i * 37);
  for (int i = 0; i < 64; ++i) pairs[i] = short(i * 997 - 30000);
  const auto r = launch("vectors", shaped(s, {1}, {32}), a, b, e, out.data(), pairs);
  expect("vectors", r, wrong(b, 0, 128, [&](int i) { return a[i / 4 * 4 + 3 - i % 4]; }));
  expect("vectors", r, wrong(out, 0, 32, [&](int i) {
           const u8* y = e + 4 * i;
           return y[0] + 256 * y[1] + 65536 * y[2] + y[3] * (pairs[2 * i] - pairs[2 * i + 1]);
         }));
}

void indices(const Setup& s) {
  std::vector<i32> out(60 * 24);
  const auto r = launch("indices", shaped(s, {3, 2, 4}, {5, 4, 3}), out.data());
  expect("indices", r, wrong(out, 0, 60 * 24, [](int i) { return i % 60 + 1000 * (i / 60); }));
}

}  // namespace

void functions() {
  in_schedules([](const Setup& s) {
    calls(s);
    local_array(s);
    variables(s);
    vectors(s);
    indices(s);
  });
  std::printf("next line: 42 1.25 text 123456789abc%%\n");
  std::fflush(stdout);
  launch("printing", {{1}, {1}, 0, {}, 0}, 42);
}

}  // namespace gpu_emulator::tests
