// A problem in float becomes one in double, in the scratch of its environment.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

inline constexpr int kVectors = 6;  ///< of at most max_rows numbers: b, mu, R, lo, hi, warm_start

/// Copies the vectors of environment `env` in double to `memory`, kVectors * max_rows, and points
/// the problem to them.
template <class G, class Scalar>
SS_HD void widen_vectors(const G& g, const ProblemBatch<float>& floats, std::int64_t env,
                         Scalar* memory, EnvProblem<Scalar>& p) {
  int used = 0;
  const auto widen = [&](const EnvArray<const float>& array, int count) -> const Scalar* {
    const float* from = slot(array, env);
    if (from == nullptr) return nullptr;
    Scalar* to = memory + used;
    used += count;
    g.for_each(count, [&](int i) { to[i] = Scalar(from[i]); });
    return to;
  };
  p.b = widen(floats.b, p.n);
  p.mu = widen(floats.mu, p.n - p.first_contact_row() - p.n_contacts);
  p.R = widen(floats.R, p.n);
  p.lo = widen(floats.lo, p.n_box);
  p.hi = widen(floats.hi, p.n_box);
  p.warm_start = widen(floats.warm_start, p.n);
}

/// W[i][j] of the first n rows in double.
template <class G, class Scalar>
SS_HD void widen_matrix(const G& g, const ProblemBatch<float>& floats, std::int64_t env, int n,
                        Scalar* W, int ld_W) {
  const float* from = slot(floats.W, env);
  const int ld = floats.ld_W > 0 ? floats.ld_W : floats.max_rows;
  g.for_each_2d(n, n, [&](int i, int j) {
    W[std::int64_t(i) * ld_W + j] = Scalar(from[std::int64_t(i) * ld + j]);
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
