// What one parametrised suite runs over: every combination the library says it supports. A new
// solver or law is tested as soon as `supports` knows it.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stickslip/stickslip.hpp"

namespace stickslip::support {

inline constexpr Law kLaws[] = {Law::coulomb, Law::convex, Law::pyramid, Law::box,
                                Law::frictionless};
inline constexpr Precision kPrecisions[] = {Precision::fp64, Precision::fp32, Precision::mixed};

struct Case {
  Law law;
  Solver solver;
  Precision precision;
  SolveOptions options() const {
    SolveOptions o;
    o.law = law;
    o.solver = solver;
    o.precision = precision;
    return o;
  }
};

inline std::vector<Case> supported_cases() {
  std::vector<Case> cases;
  for (Law law : kLaws) {
    for (Solver solver : {Solver::automatic, Solver::pgs, Solver::newton, Solver::lemke}) {
      if (!supports(solver, law)) continue;
      for (Precision precision : kPrecisions) cases.push_back({law, solver, precision});
    }
  }
  return cases;
}

inline std::string name(const Case& c) {
  return std::string(stickslip::name(c.law)) + "_" + stickslip::name(c.solver) + "_" +
         stickslip::name(c.precision);
}
inline std::string case_name(const testing::TestParamInfo<Case>& info) { return name(info.param); }
inline void PrintTo(const Case& c, std::ostream* out) { *out << name(c); }

}  // namespace stickslip::support
