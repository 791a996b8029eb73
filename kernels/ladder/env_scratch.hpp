// The scratch of one environment.
#pragma once
#include "kernels/delassus/delassus.hpp"
#include "kernels/delassus/matrix_source.hpp"
#include "kernels/delassus/widen.hpp"
#include "kernels/ladder/climb.hpp"
#include "kernels/ladder/interior_stage.hpp"
#include "kernels/ladder/kernel_variant.hpp"
#include "kernels/ladder/mechanism_scratch.hpp"
#include "kernels/solver/farkas/farkas.hpp"
#include "kernels/solver/lcp/pyramid.hpp"
#include "kernels/solver/lemke/lemke.hpp"
#include "kernels/solver/newton/newton.hpp"
#include "kernels/solver/newton/primal.hpp"
#include "kernels/solver/pgs/pgs.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Scratch of one environment. Stages run one after the other, so their scratch overlaps; the code
/// that forms W of a mechanism and applies its impulses runs before and after all of them.
template <class Real, class Factor, class Scalar, KernelVariant kVariant = KernelVariant::all>
struct EnvScratch {
  static constexpr Contents kHas = contents_of(kVariant);
  static constexpr bool kIterates = kHas.iterates();
  static constexpr Rungs kRungs = rungs_of(kVariant);
  Scalar* W;  ///< [max_rows][max_rows] of a mechanism or widened; null if the caller has formed it
  int ld_W;
  Scalar* vectors;  ///< [kVectors][max_rows] widened; null if they are given in double
  ViewScratch<Scalar> view;
  EnvProblem<Scalar>* problem;  ///< in memory: its pointers would use too many GPU registers
  Climb* climb;
  Judge<Scalar> judge;
  JudgeMemory<Scalar> judge_memory;  ///< values of `judge.at`
  DelassusScratch<Scalar> delassus;
  Islands<Scalar> islands;   ///< of environments that are divided
  unsigned char* mechanism;  ///< MechanismScratch of those whose mechanism is sparse
  Scaled<Real> scaled;       ///< of the iterative methods
  Scaled<Real>* kept;        ///< the same in memory, for the variant with the most stages
  int directions;            ///< of the law `pyramid` for which there is room as an LCP, here or in
                             ///< the variant that follows; 0: no room
  Arena stage;               ///< the remaining memory, for the current stage

  SS_HD EnvScratch(Arena arena, int max_rows, int max_contacts, int lcp_directions = 0,
                   MatrixKind kind = {})
      : W(!kind.has_matrix() ? nullptr : arena.take<Scalar>(std::size_t(max_rows) * max_rows)),
        ld_W(max_rows),
        vectors(!kind.in_float ? nullptr : arena.take<Scalar>(std::size_t(kVectors) * max_rows)),
        view(arena, max_rows, max_contacts),
        problem(arena.take<EnvProblem<Scalar>>(1)),
        climb(arena.take<Climb>(1)),
        judge(arena),
        judge_memory(arena, max_rows),
        delassus(arena, max(kind.nv, 0), kind.has_matrix() ? max_rows : 0),
        islands(arena, divides(max_rows, kind) ? max_rows : 0,
                divides(max_rows, kind) ? max_contacts : 0),
        mechanism(arena.take<unsigned char>(
            MechanismScratch::bytes(kind.sparse_nv, max_rows, max_contacts))),
        scaled(arena, kIterates ? max_rows : 0, kIterates ? max_contacts : 0),
        kept(arena.take<Scaled<Real>>(kVariant == KernelVariant::later ? 1 : 0)),
        directions(lcp_directions),
        stage(arena) {}

  /// Whether it solves environments island by island, where they consist of several.
  static constexpr bool kDivides = kHas.newton || kHas.altered;
  SS_HD static bool divides(int max_rows, const MatrixKind& kind) {
    return kDivides && (max_rows > kUndividedRows || kind.sparse_nv > 0);
  }

  /// The scaled problem that the stages use.
  SS_HD Scaled<Real>& as_scaled() {
    if constexpr (kVariant == KernelVariant::later) return *kept;
    return scaled;
  }
  /// Bytes for environments of that size.
  SS_HD static std::size_t bytes(int max_rows, int max_contacts, int lcp_directions,
                                 MatrixKind kind = {}) {
    const EnvScratch fixed(Arena(nullptr), max_rows, max_contacts, 0, kind);
    std::size_t most = fixed.delassus.end();
    if constexpr (kHas.proof) {
      Arena farkas = fixed.stage;
      farkas.take<EnvProblem<Scalar>>(1);  // of a proof for a problem without W
      Farkas(farkas, max_rows);
      most = max(most, farkas.used());
    }
    if constexpr (kHas.tableau) {
      Arena lemke = fixed.stage;
      Lemke<Real>(lemke, max_rows);
      most = max(most, lemke.used());
    }
    if constexpr (kIterates) {
      Arena pgs = fixed.stage, newton = fixed.stage, primal = fixed.stage, fallback = fixed.stage;
      Pgs<Real>(pgs, max_rows);
      if constexpr (kHas.newton) {
        Newton<Real, Factor>(newton, max_rows);
        Primal<Real>(primal, max_rows);
      }
      if constexpr (kHas.altered) {
        fallback.take<InteriorScratch<Real>>(1);
        InteriorScratch<Real>(fallback, max_rows, max_contacts);
      }
      most = max(max(most, fallback.used()), max(pgs.used(), max(newton.used(), primal.used())));
    }
    if constexpr (kHas.lcp) {
      if (lcp_directions > 0) {
        const std::size_t lcp =
            PyramidScratch<double>::bytes(max_rows, max_contacts, lcp_directions);
        most = max(most, fixed.stage.used() + lcp);
      }
    }
    return most;
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
