// Branches.
#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

int collatz(int n) {
  unsigned x = unsigned(n);
  int steps = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    if (++steps > 400) break;
  }
  return steps;
}

int nested(int n, int i) {
  int s = 0;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((a ^ b ^ i) & 1) continue;
      if (b > 7 + i % 5) break;
      s += a * b + i;
    }
    if (s > 100000) return -s;
  }
  return s;
}

int switched(int v) {
  const int of[] = {v * 3, v + 17, v / 7, -v, v ^ 0x55, 99, v << 3, v % 13, 8 - v};
  return (v & 15) < 9 ? of[v & 15] : 1;
}

int guarded(int x, int i) {
  int total = 0;
  for (int k = 0; k < 3; ++k) {
    const bool far = x > 40;
    const int t = far ? x * 7 : x + 5, u = far ? t + 1 : t * t, v = far ? t ^ 9 : u ^ t;
    total = total * 3 + (x > 10 * k ? u + v : 1000 + i + k);
  }
  return total;
}

}  // namespace

void control() {
  constexpr int n = 300;
  std::vector<i32> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i * 7 % 97 + 1;
  in_schedules([&](const Setup& s) {
    auto r = launch("collatz", shaped(s, {10}, {32}), in.data(), out.data(), n);
    expect("collatz", r, wrong(out, 0, n, [&](int i) { return collatz(in[i]); }));
    r = launch("nested", shaped(s, {1}, {128}), in.data(), out.data(), 128);
    expect("nested", r, wrong(out, 0, 128, [&](int i) { return nested(in[i], i); }));
    r = launch("switched", shaped(s, {2}, {128}), in.data(), out.data(), 256);
    expect("switched", r, wrong(out, 0, 256, [&](int i) { return switched(in[i]); }));
    r = launch("guarded", shaped(s, {1}, {96}), in.data(), out.data(), 96);
    expect("guarded", r, wrong(out, 0, 96, [&](int i) { return guarded(in[i], i); }));
  });
}

}  // namespace gpu_emulator::tests
