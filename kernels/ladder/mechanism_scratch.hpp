// What a solve of a mechanism in sparse form needs besides: its islands, and the scaled problem
// without W.
#pragma once
#include "kernels/delassus/island_mechanism.hpp"
#include "kernels/delassus/matrix_source.hpp"
#include "kernels/ladder/climb.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/velocity/sparse_scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Environments of engines with more rows begin without W. Up to some 250 rows a group of a GPU has
/// fewer instructions with it (docs/performance.md), but the more steps a solve takes, the less.
inline constexpr int kEngineRows = 192;

/// Whether environments of n rows begin without W (env/sparse_env.hpp): those of engines whose M
/// follows a tree. What that leaves unsolved is left to the later rungs, with W.
template <class Scalar>
SS_HD bool begins_without_W(const MatrixSource<Scalar>& source, const Ladder& ladder, int n) {
  const EngineMechanism& m = source.engine;
  const bool has_tree = m.tree.n > 0 && m.M_size <= std::int64_t(m.nv) * (m.nv + 1) / 2;
  return n > kEngineRows && has_tree && ladder.has_later_rungs &&
         ladder.variant == KernelVariant::rung0 && ladder.options.precision == Precision::float64;
}

/// Of many pointers, which few environments use: made where it is needed, in bytes set aside.
struct MechanismScratch {
  IslandMechanism islands;
  SparseScaled scaled;

  SS_HD MechanismScratch(Arena& arena, int nv, int max_rows, int max_contacts)
      : islands(arena, nv, max_rows), scaled(arena, nv, max_rows, max_contacts) {}
  SS_HD static std::size_t bytes(int nv, int max_rows, int max_contacts) {
    if (nv == 0) return 0;
    Arena arena(nullptr);
    arena.take<MechanismScratch>(1);
    MechanismScratch(arena, nv, max_rows, max_contacts);
    return arena.used();
  }
  template <class G>
  SS_HD static MechanismScratch& make(const G& g, void* memory, int nv, int max_rows,
                                      int max_contacts) {
    Arena arena(memory);
    MechanismScratch& scratch = *arena.take<MechanismScratch>(1);
    g.once([&] { scratch = MechanismScratch(arena, nv, max_rows, max_contacts); });
    return scratch;
  }
};

/// As EnvScratch, of a solve without W.
struct VelocityScratch {
  static constexpr Rungs kRungs = Rungs::all;
  SparseScaled& scaled;
  Judge<double>& judge;
  Climb* climb;
  Arena stage;
  double* W;  ///< [rows][rows] for the proof that there is no solution
  const TreeScratch& tree;
};

/// A mechanism in sparse form, if `given`, and its scratch.
struct MechanismStage {
  const SparseMechanism* given = nullptr;
  MechanismScratch* scratch = nullptr;
};

}  // namespace stickslip::kernels::inline SS_ISA
