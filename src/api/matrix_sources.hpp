// What the kernels are given: where the matrices of a call come from.
#pragma once
#include "kernels/delassus/matrix_source.hpp"

namespace stickslip {

/// A batch in double of the same shapes; its numbers come from a MatrixSource.
inline ProblemBatch<double> counts_of(const ProblemBatch<float>& p) {
  ProblemBatch<double> shapes;
  shapes.num_envs = p.num_envs;
  shapes.max_rows = p.max_rows;
  shapes.max_contacts = p.max_contacts;
  shapes.counts = p.counts;
  shapes.dims = p.dims;
  return shapes;
}

/// Results whose impulses are in double in `impulses`, [num_envs][max_rows]: the rungs of the
/// ladder that run later continue from them, so they are rounded to float only for the caller.
inline ResultBatch<double> widened(const ResultBatch<float>& r, const ProblemBatch<float>& p,
                                   double* impulses) {
  return {.impulse = {impulses, p.max_rows},
          .residual = r.residual,
          .status = r.status,
          .iterations = r.iterations,
          .solver = r.solver,
          .rows_needed = r.rows_needed,
          .rung = r.rung,
          .certificate = r.certificate,
          .selected = r.selected};
}

inline kernels::MatrixSource<double> source_of(const ProblemBatch<float>& p,
                                               const ResultBatch<float>& r,
                                               const MechanismStep<float>& step) {
  const MechanismBatch<float>& m = step.mechanism;
  kernels::MatrixSource<double> source;
  source.engine.num_envs = m.num_envs;
  source.engine.nv = m.nv;
  source.engine.M = m.M;
  source.engine.J = m.J;
  source.engine.J_rows = m.max_rows;
  source.floats = {p, r.impulse, step.v_free, step.v_next};
  return source;
}

template <class Scalar>
kernels::MatrixSource<Scalar> source_of(const MechanismStep<Scalar>& step) {
  kernels::MatrixSource<Scalar> source;
  source.step = step;
  return source;
}

inline kernels::MatrixSource<double> source_of(const EngineStep& step) {
  kernels::MatrixSource<double> source;
  source.step.v_free = step.v_free;
  source.step.v_next = step.v_next;
  source.engine = step.mechanism;
  return source;
}

/// `mechanism` must outlive the source.
inline kernels::MatrixSource<double> source_of(const SparseMechanism& mechanism) {
  kernels::MatrixSource<double> source;
  source.sparse = &mechanism;
  return source;
}

}  // namespace stickslip
