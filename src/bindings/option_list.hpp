// The fields of SolveOptions by name: the only list of them in the bindings.
#pragma once
#include "stickslip/types.hpp"

namespace stickslip::bindings {

/// Calls f(name, pointer to the member) for each.
template <class F>
void for_options(F&& f) {
  f("law", &SolveOptions::law);
  f("solver", &SolveOptions::solver);
  f("precision", &SolveOptions::precision);
  f("atol", &SolveOptions::atol);
  f("rtol", &SolveOptions::rtol);
  f("max_sweeps", &SolveOptions::max_sweeps);
  f("max_newton", &SolveOptions::max_newton);
  f("max_rung", &SolveOptions::max_rung);
  f("max_work", &SolveOptions::max_work);
  f("thorough", &SolveOptions::thorough);
  f("fixed_sweeps", &SolveOptions::fixed_sweeps);
  f("max_pivots", &SolveOptions::max_pivots);
  f("fixed_pivots", &SolveOptions::fixed_pivots);
  f("directions", &SolveOptions::directions);
}

}  // namespace stickslip::bindings
