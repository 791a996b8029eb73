// Kernels of one instruction, on random and on special numbers, against the host's own arithmetic.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "support.hpp"

namespace gpu_emulator::tests {

constexpr int kCount = 8192;
inline std::mt19937_64 engine(7);

template <class T>
T special_value(unsigned k) {
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    using B = std::conditional_t<sizeof(T) == 4, u32, u64>;
    const T list[] = {T(0),
                      -T(0),
                      T(1),
                      T(-1),
                      L::min(),
                      -L::min(),
                      L::denorm_min(),
                      -L::denorm_min(),
                      L::max(),
                      -L::max(),
                      L::infinity(),
                      -L::infinity(),
                      L::quiet_NaN(),
                      std::bit_cast<T>(B(~B(0))),
                      T(0.5),
                      T(-0.5),
                      T(1.5),
                      T(2.5),
                      T(-2.5),
                      T(2147483647.0),
                      T(2147483648.0),
                      T(-2147483648.0),
                      T(-2147483649.0),
                      T(4294967295.0),
                      T(4294967296.0),
                      T(9223372036854775808.0),
                      T(-9223372036854775808.0),
                      T(18446744073709551616.0),
                      T(3),
                      std::nextafter(T(1), T(2)),
                      L::min() * T(1.5),
                      T(255.5),
                      T(1e-30)};
    return list[k % std::size(list)];
  } else {
    using L = std::numeric_limits<T>;
    const T list[] = {T(0),    T(1),    T(-1), L::min(),      L::max(), T(2),
                      T(31),   T(32),   T(33), T(127),        T(128),   T(255),
                      T(-128), T(-129), T(64), T(0x12345678), T(32767), T(-32769)};
    return list[k % std::size(list)];
  }
}

template <class T>
T small_value(u64 r) {
  const u64 x = engine();
  if constexpr (std::is_floating_point_v<T>) {
    return T(double(i64(x) >> 20) * std::ldexp(1.0, int(r >> 10 & 63) - 40));
  } else {
    return T(i64(x) >> (r >> 10 & 63));
  }
}
/// Floats: subnormal and nearly so.
template <class T>
T tiny_value() {
  const u64 x = engine();
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(u32(x) & 0x80ffffffU);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(x & 0x801fffffffffffffULL);
  else
    return T(x & 63);
}
template <class T>
T random_value() {
  const u64 r = engine();
  if (r % 8 < 2) return special_value<T>(unsigned(r >> 8 & 0xffff));
  if (r % 8 < 4) return small_value<T>(r);
  if (r % 8 == 4) return tiny_value<T>();
  const u64 x = engine();
  T v;
  std::memcpy(&v, &x, sizeof v);
  return v;
}
template <class T>
std::vector<T> random_list() {
  std::vector<T> v(kCount);
  for (T& x : v) x = random_value<T>();
  return v;
}

/// NaN of double precision: any, the payload is nowhere defined.
template <class T>
bool same_bits(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    if (a != a && b != b) return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}
/// With a GPU's only NaN of single precision.
template <class T>
T canonical(T x) {
  if constexpr (std::is_same_v<T, float>) {
    if (x != x) return std::bit_cast<float>(0x7fffffffU);
  }
  return x;
}
template <class T>
std::string show(T x) {
  char text[80];
  u64 bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  std::snprintf(text, sizeof text, "%llx (%.17g)", static_cast<unsigned long long>(bits),
                double(x));
  return text;
}

template <class D, class A, class B = int, class C = int, class F>
void elements(const std::string& name, F f) {
  const auto a = random_list<A>();
  const auto b = random_list<B>();
  const auto c = random_list<C>();
  std::vector<D> out(kCount), other(kCount);
  const char* kernel = name.c_str();
  const ptx::Report r = launch(kernel, {{kCount / 256}, {256}, 0, {}, 0}, a.data(), b.data(),
                               c.data(), out.data(), kCount);
  int bad = 0;
  for (int i = 0; i < kCount; ++i) {
    const D want = f(a[i], b[i], c[i]);
    if (same_bits(out[i], want) || ++bad > 2) continue;
    std::printf("  %s(%s, %s, %s) = %s, expected %s\n", kernel, show(a[i]).c_str(),
                show(b[i]).c_str(), show(c[i]).c_str(), show(out[i]).c_str(), show(want).c_str());
  }
  expect(kernel, r, bad);
  // With fewer lanes, in a shuffled schedule.
  constexpr int kThreads = 91, kLess = kCount - 3;
  launch(kernel, {{(kCount + kThreads - 1) / kThreads}, {kThreads}, 0, all_checks(), 5}, a.data(),
         b.data(), c.data(), other.data(), kLess);
  bad = 0;
  for (int i = 0; i < kLess; ++i) bad += !same_bits(other[i], out[i]);
  check(bad == 0, name + ": other lanes give other bits");
}

}  // namespace gpu_emulator::tests

// expr uses a, b, c.
#define E1(D, A, name, expr) elements<D, A>(name, [&](A a, int, int) -> D { return expr; })
#define E2(D, A, B, name, expr) elements<D, A, B>(name, [&](A a, B b, int) -> D { return expr; })
#define E3(D, A, B, C, name, expr) \
  elements<D, A, B, C>(name, [&](A a, B b, C c) -> D { return expr; })
