// Arithmetic of floats.
#include "host_rounding.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }
float saturated(float x) { return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F; }

template <class T>
T least(T a, T b) {
  if (a != a) return canonical(b);
  if (b != b) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (a != a) return canonical(b);
  if (b != b) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
float nan_or(float a, float b, float x) {
  return a != a || b != b ? canonical(std::numeric_limits<float>::quiet_NaN()) : x;
}

template <class T>
void all_operations(const std::string& type, const Rounding& r) {
  const auto two = [&](const char* name, auto op) {
    elements<T, T, T>(type + name + r.name,
                      [&](T a, T b, int) { return rounded<T>(r.mode, op, a, b); });
  };
  two("_add", [](T x, T y, T) { return x + y; });
  two("_sub", [](T x, T y, T) { return x - y; });
  two("_mul", [](T x, T y, T) { return x * y; });
  two("_div", [](T x, T y, T) { return x / y; });
  two("_sqrt", [](T x, T, T) { return std::sqrt(x); });
  two("_rcp", [](T x, T, T) { return T(1) / x; });
  const auto fma = [](T x, T y, T z) { return std::fma(x, y, z); };
  elements<T, T, T, T>(type + "_fma" + r.name,
                       [&](T a, T b, T c) { return rounded<T>(r.mode, fma, a, b, c); });
}

void flags() {
  const auto f = flushed;
  E2(float, float, float, "f_add_ftz", canonical(f(f(a) + f(b))));
  E2(float, float, float, "f_mul_ftz", canonical(f(f(a) * f(b))));
  E2(float, float, float, "f_div_ftz", canonical(f(f(a) / f(b))));
  E3(float, float, float, float, "f_fma_ftz", canonical(f(std::fma(f(a), f(b), f(c)))));
  E2(float, float, float, "f_add_sat", saturated(a + b));
  E3(float, float, float, float, "f_fma_sat", saturated(std::fma(a, b, c)));
}

void extremes_and_signs() {
  E2(float, float, float, "f_min", least(a, b));
  E2(float, float, float, "f_max", greatest(a, b));
  E2(float, float, float, "f_min_nan", nan_or(a, b, least(a, b)));
  E2(float, float, float, "f_max_nan", nan_or(a, b, greatest(a, b)));
  E2(double, double, double, "d_min", least(a, b));
  E2(double, double, double, "d_max", greatest(a, b));
  constexpr u32 kSign = 0x80000000U;
  E1(float, float, "f_neg", std::bit_cast<float>(std::bit_cast<u32>(a) ^ kSign));
  E1(float, float, "f_abs", std::bit_cast<float>(std::bit_cast<u32>(a) & ~kSign));
  E1(double, double, "d_neg", -a);
  E1(double, double, "d_abs", std::fabs(a));
  E2(float, float, float, "f_copysign",
     std::bit_cast<float>((std::bit_cast<u32>(a) & kSign) | (std::bit_cast<u32>(b) & ~kSign)));
  E2(double, double, double, "d_copysign", std::copysign(b, a));
}

}  // namespace

void floats() {
  for (const Rounding& r : kRoundings) {
    all_operations<float>("f", r);
    all_operations<double>("d", r);
  }
  flags();
  extremes_and_signs();
}

}  // namespace gpu_emulator::tests
