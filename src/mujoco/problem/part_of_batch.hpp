// Views of some environments of a batch.
#pragma once
#include <cstdint>

#include "stickslip/batch.hpp"

namespace stickslip::mujoco {

/// Of the arrays of a batch, `count` environments from `env` on.
template <class T>
EnvArray<T> only(const EnvArray<T>& a, std::int64_t env) {
  return {a.data ? a.data + env * a.stride : nullptr, a.stride};
}

inline ProblemBatch<double> only(ProblemBatch<double> p, int env, int count = 1) {
  p.num_envs = count;
  p.counts = only(p.counts, env);
  p.dims = only(p.dims, env);
  p.W = only(p.W, env);
  p.b = only(p.b, env);
  p.mu = only(p.mu, env);
  p.R = only(p.R, env);
  p.lo = only(p.lo, env);
  p.hi = only(p.hi, env);
  p.warm_start = only(p.warm_start, env);
  p.start_selected = only(p.start_selected, env);
  return p;
}

inline ProblemBatch<double> without_W(ProblemBatch<double> p) {
  p.W = {};
  return p;
}

inline ResultBatch<double> only(const ResultBatch<double>& r, int env) {
  return {.impulse = only(r.impulse, env),
          .residual = r.residual + env,
          .status = r.status + env,
          .iterations = r.iterations + env,
          .solver = r.solver + env,
          .rows_needed = r.rows_needed ? r.rows_needed + env : nullptr,
          .rung = r.rung ? r.rung + env : nullptr,
          .certificate = only(r.certificate, env),
          .selected = r.selected ? r.selected + env : nullptr};
}

}  // namespace stickslip::mujoco
