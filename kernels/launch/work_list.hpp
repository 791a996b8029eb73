// The work list to which an environment belongs.
#pragma once
#include "kernels/launch/gpu_kernels.hpp"
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether rung 0 has left an environment to the later rungs.
SS_HD bool wants_later_rungs(EnvStatus status) { return status == EnvStatus::not_converged; }

/// The smallest class that can hold environment `env`. Environments without a valid shape belong to
/// the first: they need no scratch.
SS_HD int size_class(const SizeClasses& classes, const EnvArray<const EnvShape>& shape,
                     const EnvArray<const std::int32_t>& dims, std::int64_t env, int max_rows,
                     int max_contacts) {
  const EnvShape s = *slot(shape, env);
  if (min(min(s.n_free, s.n_nonneg), min(s.n_box, s.n_contacts)) < 0) return 0;
  if (s.n_contacts > max_contacts) return 0;
  const int rows = rows_of(s, slot(dims, env), max_contacts);
  if (rows > max_rows) return 0;
  int place = 0;
  while (place + 1 < classes.count && rows > classes.rows[place]) ++place;
  return place;
}

}  // namespace stickslip::kernels::inline SS_ISA
