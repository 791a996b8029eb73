// Friction with one coefficient per contact: that of each of its tangential rows.
#pragma once
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Calls f(k, i) for every tangential row i of every contact k of environment `env`, in order; for
/// none if the environment does not fit its slot.
template <class Scalar, class F>
SS_HD void for_tangential_rows(const ProblemBatch<Scalar>& p, std::int64_t env, F&& f) {
  const RowCounts s = *slot(p.counts, env);
  const std::int32_t* dims = slot(p.dims, env);
  if (usable_rows(p, env) == 0 || !counts_are_valid<Scalar>(s, dims)) return;
  int i = 0;
  SS_ROLLED
  for (int k = 0; k < s.n_contacts; ++k) {
    SS_ROLLED
    for (const int end = i + (dims == nullptr ? 3 : dims[k]) - 1; i < end; ++i) f(k, i);
  }
}

/// Writes the coefficients of the tangential rows of environment `env`.
template <class Scalar>
SS_HD void spread_friction(const ProblemBatch<Scalar>& p, const EnvArray<const Scalar>& contacts,
                           const EnvArray<Scalar>& rows, std::int64_t env) {
  const Scalar* from = slot(contacts, env);
  Scalar* to = slot(rows, env);
  for_tangential_rows(p, env, [&](int k, int i) { to[i] = from[k]; });
}

/// The transpose: each contact gets the sum over its rows, in their order, 0 without any.
template <class Scalar>
SS_HD void sum_friction(const ProblemBatch<Scalar>& p, const EnvArray<const Scalar>& rows,
                        const EnvArray<Scalar>& contacts, std::int64_t env) {
  const Scalar* from = slot(rows, env);
  Scalar* to = slot(contacts, env);
  SS_ROLLED
  for (int k = 0; k < p.max_contacts; ++k) to[k] = Scalar(0);
  for_tangential_rows(p, env, [&](int k, int i) { to[k] += from[i]; });
}

}  // namespace stickslip::kernels::inline SS_ISA
