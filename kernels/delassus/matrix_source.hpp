// Where the matrix and the numbers of a problem come from, if not from its ProblemBatch. The same
// types for every instruction set.
#pragma once
#include "kernels/group/defs.hpp"
#include "stickslip/engine_mechanism.hpp"

namespace stickslip::kernels {

inline constexpr int kGivenMatrix = -1;  ///< degrees of freedom if the caller has formed W

/// A caller's arrays in float, for a solve in double.
struct FloatStorage {
  ProblemBatch<float> problem;  ///< num_envs 0: the problem is in double
  EnvArray<float> impulse;
  EnvArray<const float> v_free;
  EnvArray<float> v_next;
};

/// W of the ProblemBatch (nothing here), a mechanism, an engine's mechanism, or W in float. Engine
/// and float only for In = double.
template <class In>
struct MatrixSource {
  MechanismStep<In> step;
  EngineMechanism engine;
  FloatStorage floats;
};

template <class In>
SS_HD int dofs_of(const MatrixSource<In>& source) {
  if (source.step.mechanism.num_envs > 0) return source.step.mechanism.nv;
  if (source.engine.num_envs > 0) return source.engine.nv;
  return source.floats.problem.num_envs > 0 ? 0 : kGivenMatrix;
}

}  // namespace stickslip::kernels
