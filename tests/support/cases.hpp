// The cases of one parametrised suite: every combination that the library supports. A new solver or
// law is tested as soon as it has a name and `supports` includes it.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stickslip/stickslip.hpp"

namespace stickslip::support {

/// All values of an enum of the library: those with a name.
template <class Enum>
std::vector<Enum> all_named() {
  std::vector<Enum> all;
  for (int i = 0; std::string(stickslip::name(Enum(i))) != "unknown"; ++i) all.push_back(Enum(i));
  return all;
}

inline const std::vector<Law>& laws() {
  static const std::vector<Law> all = all_named<Law>();
  return all;
}
inline const std::vector<Precision>& precisions() {
  static const std::vector<Precision> all = all_named<Precision>();
  return all;
}

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
  for (Law law : laws()) {
    for (Solver solver : all_named<Solver>()) {
      if (!supports(solver, law)) continue;
      for (Precision precision : precisions()) cases.push_back({law, solver, precision});
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
