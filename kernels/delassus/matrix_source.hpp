// Where the matrix and the numbers of a problem come from, if not from its ProblemBatch. The same
// types for every instruction set.
#pragma once
#include "kernels/group/defs.hpp"
#include "stickslip/engine_mechanism.hpp"
#include "stickslip/sparse_mechanism.hpp"

namespace stickslip::kernels {

inline constexpr int kGivenMatrix = -1;  ///< in place of degrees of freedom: W is given

/// What the scratch of a problem has room for besides the solvers'.
struct MatrixKind {
  int nv = kGivenMatrix;  ///< degrees of freedom of its mechanism
  bool in_float = false;  ///< the numbers of the caller are in float, for a solve in double
  int sparse_nv = 0;      ///< of a mechanism in sparse form, whose W is formed by islands
  bool has_tree = false;  ///< large environments may begin without W
  /// Whether W is formed, or converted, in the scratch.
  SS_HD bool has_matrix() const { return nv >= 0 || in_float; }
};

/// A caller's arrays in float, for a solve in double.
struct FloatStorage {
  ProblemBatch<float> problem;  ///< num_envs 0: the problem is in double
  EnvArray<float> impulse;
  EnvArray<const float> v_free;
  EnvArray<float> v_next;
};

/// W of the ProblemBatch (nothing here), a mechanism, an engine's mechanism, W in float, or a
/// mechanism in sparse form. The last three only for Scalar = double.
template <class Scalar>
struct MatrixSource {
  MechanismStep<Scalar> step;
  EngineMechanism engine;
  FloatStorage floats;
  const SparseMechanism* sparse = nullptr;  ///< of the one environment; on the CPU

  /// Whether the numbers of the caller's W are rounded to float.
  SS_HD bool is_from_float() const { return sizeof(Scalar) == 4 || floats.problem.num_envs > 0; }
};

/// The scratch that this source needs.
template <class Scalar>
SS_HD MatrixKind kind_of(const MatrixSource<Scalar>& source) {
  if (source.step.mechanism.num_envs > 0) return {source.step.mechanism.nv};
  if (source.sparse != nullptr) return {.sparse_nv = source.sparse->tree.n};
  const int nv = source.engine.num_envs > 0 ? source.engine.nv : kGivenMatrix;
  return {nv, source.floats.problem.num_envs > 0, 0, source.engine.tree.n > 0};
}

}  // namespace stickslip::kernels
