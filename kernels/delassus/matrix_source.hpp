// Where the matrix and the numbers of a problem come from, if not from its ProblemBatch. The same
// types for every instruction set.
#pragma once
#include "kernels/group/defs.hpp"
#include "stickslip/engine_mechanism.hpp"

namespace stickslip::kernels {

/// Degrees of freedom, as scratch is sized by: kGivenMatrix if the caller has formed W, and
/// kWidened more if its vectors are widened too.
inline constexpr int kGivenMatrix = -1, kWidened = 1 << 24;

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

  /// Whether the numbers of the caller's W are rounded to float.
  SS_HD bool is_from_float() const { return sizeof(In) == 4 || floats.problem.num_envs > 0; }
};

/// The size of the scratch for this source.
template <class In>
SS_HD int dofs_of(const MatrixSource<In>& source) {
  if (source.step.mechanism.num_envs > 0) return source.step.mechanism.nv;
  const int nv = source.engine.num_envs > 0 ? source.engine.nv : 0;
  if (source.floats.problem.num_envs > 0) return nv + kWidened;
  return source.engine.num_envs > 0 ? nv : kGivenMatrix;
}

}  // namespace stickslip::kernels
