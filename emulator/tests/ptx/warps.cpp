// Lanes of a warp with one another.
#include <algorithm>

#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

void shuffles(const Setup& s) {
  int in[32], out[288];
  for (int i = 0; i < 32; ++i) in[i] = i * 13 % 37 - 9;
  const auto r = launch("shuffles", shaped(s, {1}, {32}), in, out);
  expect("shuffles", r, wrong(out, 0, 32, [&](int i) { return in[(i * 7 + 3) % 32]; }));
  expect("up", r, wrong(out, 32, 32, [&](int i) { return in[i < 3 ? i : i - 3]; }));
  expect("down", r, wrong(out, 64, 32, [&](int i) { return in[i + 5 > 31 ? i : i + 5]; }));
  expect("xor", r, wrong(out, 96, 32, [&](int i) { return in[i ^ 9]; }));
  expect("of 8", r, wrong(out, 128, 32, [&](int i) { return in[i / 8 * 8 + (i + 2) % 8]; }));
  expect("up, of 8", r, wrong(out, 160, 32, [&](int i) { return in[i % 8 < 3 ? i : i - 3]; }));
  expect("down, of 16", r,
         wrong(out, 192, 32, [&](int i) { return in[i % 16 + 5 > 15 ? i : i + 5]; }));
  expect("xor, of 8", r, wrong(out, 224, 32, [&](int i) { return in[i ^ 5]; }));
  expect("inside", r, wrong(out, 256, 32, [&](int i) { return i + 4 <= 31; }));
}

void groups(const Setup& s) {
  double in[64], out[64];
  int length[8];
  for (int i = 0; i < 64; ++i) in[i] = i * 0.37;
  for (int g = 0; g < 8; ++g) length[g] = (g * 5 + 3) % 11;
  const auto r = launch("groups", shaped(s, {1}, {64}), in, out, length);
  expect("groups of 8", r, wrong(out, 0, 64, [&](int i) {
           double total = 0;
           for (int k = 0; k < length[i / 8]; ++k) {
             double v[8];
             for (int l = 0; l < 8; ++l) v[l] = in[(i / 8 * 8 + l + k) % 64];
             const double low = (v[0] + v[4]) + (v[2] + v[6]), high = (v[1] + v[5]) + (v[3] + v[7]);
             total += (low + high) * (k + 1);
           }
           return total;
         }));
}

void votes(const Setup& s) {
  int in[32];
  u32 v[320], ballot = 0, sum = 0;
  int least = INT32_MAX;
  for (int i = 0; i < 32; ++i) {
    in[i] = i * 13 % 37 - 9;
    ballot |= u32(in[i] > 0) << i;
    sum += u32(in[i]);
    least = std::min(least, in[i]);
  }
  const auto r = launch("votes", shaped(s, {1}, {32}), in, v);
  const auto all = [](u32 value) { return [value](int) { return value; }; };
  expect("ballot", r, wrong(v, 0, 32, all(ballot)));
  expect("any", r, wrong(v, 32, 32, all(0)));
  expect("all", r, wrong(v, 64, 32, all(1)));
  expect("uniform", r, wrong(v, 96, 32, all(ballot == 0 || ballot == ~0U)));
  expect("ballot of half", r, wrong(v, 128, 32, [&](int i) {
           return i % 2 ? ballot & 0xaaaaaaaaU : ~ballot & 0x55555555U;
         }));
  expect("match", r, wrong(v, 160, 32, [&](int i) {
           u32 match = 0;
           for (int k = 0; k < 32; ++k) match |= u32((in[k] & 3) == (in[i] & 3)) << k;
           return match;
         }));
  expect("match all", r, wrong(v, 192, 32, all(~0U)));
  expect("sum", r, wrong(v, 224, 32, all(sum)));
  expect("least", r, wrong(v, 256, 32, all(u32(least))));
  expect("active", r, wrong(v, 288, 32, all(1)));
}

void meetings(const Setup& s) {
  int out[32];
  auto r = launch("exited", shaped(s, {1}, {32}), out);
  expect("exited", r, wrong(out, 0, 32, [](int i) { return i < 16 ? 16 : -1; }));
  r = launch("two_places", shaped(s, {1}, {32}), out);
  expect("two_places", r, wrong(out, 0, 32, [](int i) { return i & 1 ? 200 : 205; }));
}

}  // namespace

void warps() {
  in_schedules([](const Setup& s) {
    shuffles(s);
    groups(s);
    votes(s);
    meetings(s);
  });
}

}  // namespace gpu_emulator::tests
