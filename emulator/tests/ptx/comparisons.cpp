// Comparisons of floats, and what kind of number they are.
#include "elements.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

template <class T>
void comparisons_of(const std::string& p) {
  const auto unordered = [](T a, T b) { return std::isunordered(a, b); };
  E2(i32, T, T, p + "_eq", a == b);
  E2(i32, T, T, p + "_lt", a < b);
  E2(i32, T, T, p + "_le", a <= b);
  E2(i32, T, T, p + "_gt", a > b);
  E2(i32, T, T, p + "_ge", a >= b);
  E2(i32, T, T, p + "_neu", a != b);
  E2(i32, T, T, p + "_ne", !unordered(a, b) && a != b);
  E2(i32, T, T, p + "_equ", a == b || unordered(a, b));
  E2(i32, T, T, p + "_ltu", a < b || unordered(a, b));
  E2(i32, T, T, p + "_leu", a <= b || unordered(a, b));
  E2(i32, T, T, p + "_gtu", a > b || unordered(a, b));
  E2(i32, T, T, p + "_geu", a >= b || unordered(a, b));
  E2(i32, T, T, p + "_num", !unordered(a, b));
  E2(i32, T, T, p + "_nan", unordered(a, b));
  E1(i32, T, "t" + p + "_finite", std::isfinite(a));
  E1(i32, T, "t" + p + "_infinite", std::isinf(a));
  E1(i32, T, "t" + p + "_number", !std::isnan(a));
  E1(i32, T, "t" + p + "_notanumber", std::isnan(a));
  E1(i32, T, "t" + p + "_normal", std::isnormal(a));
  E1(i32, T, "t" + p + "_subnormal", std::fpclassify(a) == FP_SUBNORMAL);
}

}  // namespace

void comparisons() {
  comparisons_of<double>("d");
  comparisons_of<float>("f");
}

}  // namespace gpu_emulator::tests
