// Random problems with rows of every kind, for cases that scenes of boxes do not cover.
#pragma once
#include <vector>

#include "tests/support/scene.hpp"

namespace stickslip::support {

/// Free, nonneg and box rows; contacts of dimension 3, 4 and 6 with anisotropic, torsional and
/// rolling friction, some coefficients zero; compliance on some rows; often rank-deficient W.
/// b = J v_free and a gap where a row may open, so that every problem has a solution.
struct MixedOptions {
  int max_rows_per_kind = 2;  ///< of free, nonneg and box rows each
  int max_contacts = 3;
  double compliant = 0.3;       ///< probability that a row has compliance
  bool full_rank = false;       ///< more degrees of freedom than rows
  bool contacts_alone = false;  ///< of dimension 3, and no other rows
};
/// Rows that the solvers of a law accept: for `pyramid`, only contacts of dimension 3.
inline MixedOptions kinds_for(Law law) { return {.contacts_alone = law == Law::pyramid}; }

Scene make_mixed(int index, const MixedOptions& options = {});

std::vector<Problem> make_mixed_problems(int count, const MixedOptions& options = {});

}  // namespace stickslip::support
