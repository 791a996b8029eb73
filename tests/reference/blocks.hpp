// The rows of a problem, grouped into the blocks that share one condition.
#pragma once
#include <vector>

#include "tests/reference/reference.hpp"

namespace stickslip::reference {

enum class Kind { free, nonneg, box, contact };

struct Block {
  Kind kind;
  int row;        ///< its first row
  int size;       ///< 1, or the contact's dimension
  int parameter;  ///< box: index into lo, hi; contact: index of its first coefficient in mu
};

std::vector<Block> blocks(const Problem& problem);

/// Circular coordinates of a contact (§1): r = scale * r_hat, u_hat = scale * u, in which the
/// friction cone is |r_hat_t| <= mu1 r_hat_n. A row with mu_j = 0 has scale 0: it carries no
/// impulse. In the law `frictionless`, every mu_j = 0.
template <class Real>
struct Circular {
  Real mu1;                    ///< the first coefficient that is not zero; 0 if there is none
  Eigen::VectorX<Real> scale;  ///< [size], 1 for the normal, mu_j / mu1 for the others
};
template <class Real>
Circular<Real> circular(const Problem& problem, const Block& block, Law law);

}  // namespace stickslip::reference
