// The Delassus matrix of a problem, scaled and in the arithmetic of a solver.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// M_ij = scale(i) W_ij scale(j), without the compliance, in the arithmetic of W; column j at
/// M + j ld. Lanes that have single entries read the scale of their column once.
template <class G, class Scalar, class Real, class Scale>
SS_HD void copy_scaled_delassus(const G& g, const EnvProblem<Scalar>& p, Real* M, int ld,
                                const Scale& scale) {
  if (p.symmetric) {  // column j is row j: contiguous reads
    if constexpr (G::kChunk == 1) {
      g.for_rows(p.n, p.n, [&](int j, auto&& columns) {
        const Scalar* const from = p.W + std::int64_t(j) * p.ld_W;
        Real* const to = M + std::int64_t(j) * ld;
        const Scalar own = Scalar(scale(j));
        columns([&](int i) { to[i] = Real(from[i] * (Scalar(scale(i)) * own)); });
      });
    } else {
      g.for_each_2d(p.n, p.n, [&](int j, int i) {
        M[std::int64_t(j) * ld + i] =
            Real(p.W[std::int64_t(j) * p.ld_W + i] * (Scalar(scale(i)) * Scalar(scale(j))));
      });
    }
  } else {
    g.for_each_2d(p.n, p.n, [&](int j, int i) {
      M[std::int64_t(j) * ld + i] =
          Real(p.W[std::int64_t(i) * p.ld_W + j] * (Scalar(scale(i)) * Scalar(scale(j))));
    });
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
