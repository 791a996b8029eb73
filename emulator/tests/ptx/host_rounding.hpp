// The host's arithmetic in another rounding.
#pragma once
#include <cfenv>

#include "elements.hpp"

namespace gpu_emulator::tests {

struct Rounding {
  const char* name;  // as in a kernel's name
  int mode;
};
constexpr Rounding kRoundings[] = {
    {"_rn", FE_TONEAREST}, {"_rz", FE_TOWARDZERO}, {"_rm", FE_DOWNWARD}, {"_rp", FE_UPWARD}};

/// Never folded at compile time.
template <class T, class F>
T rounded(int mode, F f, T a, T b = T(1), T c = T(1)) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T r = f(T(x), T(y), T(z));
  std::fesetround(FE_TONEAREST);
  return canonical(T(r));
}

template <class D, class S>
D rounded_cast(int mode, S s) {
  volatile S x = s;
  std::fesetround(mode);
  volatile D r = D(x);
  std::fesetround(FE_TONEAREST);
  return canonical(D(r));
}

}  // namespace gpu_emulator::tests
