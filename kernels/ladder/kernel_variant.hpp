// Parts of the ladder that are compiled separately. The same types for every instruction set.
#pragma once
#include "kernels/ladder/stage.hpp"

namespace stickslip::kernels {

/// The rungs of the ladder that a call runs.
enum class Rungs : std::int32_t {
  all,
  opening,  ///< rung 0
  later     ///< the others; they start from the result of `opening`
};

/// The stages that a kernel has compiled in. On a GPU, no stage should need registers or scratch
/// because of another one: pivoting and sweeps have their own kernels, and Newton's method has two,
/// one for rung 0, which all environments run, and one for the rungs that few of them need.
enum class KernelVariant : std::int32_t {
  all,
  sweeping,  ///< projected Gauss-Seidel only, if rung 0 contains nothing else
  rung0,     ///< rung 0 of the iterative methods
  later,     ///< their other rungs; continues where `rung0` ended
  pivoting,  ///< Lemke's method, all rungs, on the half-size tableau
  general    ///< the same on the LCP of the law `pyramid`, if that tableau cannot hold it
};
inline constexpr int kKernelVariants = 6;

/// What a variant has compiled in: the only description of it.
struct Contents {
  bool sweeps = false;   ///< projected Gauss-Seidel
  bool newton = false;   ///< Newton on the problem as given, and on the convex dual
  bool altered = false;  ///< Newton on altered problems, in `mixed` with a factorisation in double;
                         ///< random starts, the interior point and the continuation
  bool tableau = false;  ///< Lemke on the half-size tableau
  bool lcp = false;      ///< Lemke on the LCP of the law `pyramid`
  bool proof = false;    ///< the proof that there is no solution

  SS_HD constexpr bool iterates() const { return sweeps || newton || altered; }
};

SS_HD constexpr Contents contents_of(KernelVariant variant) {
  switch (variant) {
    case KernelVariant::sweeping:
      return {.sweeps = true};
    case KernelVariant::rung0:
      return {.sweeps = true, .newton = true};
    case KernelVariant::later:
      return {.sweeps = true, .altered = true, .proof = true};
    case KernelVariant::pivoting:
      return {.tableau = true, .proof = true};
    case KernelVariant::general:
      return {.lcp = true, .proof = true};
    case KernelVariant::all:
      break;
  }
  return {true, true, true, true, true, true};
}

SS_HD constexpr Rungs rungs_of(KernelVariant variant) {
  if (variant == KernelVariant::rung0 || variant == KernelVariant::sweeping) return Rungs::opening;
  return variant == KernelVariant::later ? Rungs::later : Rungs::all;
}

/// Whether a variant can run a stage.
SS_HD constexpr bool variant_has(KernelVariant variant, const Stage& stage) {
  const Contents has = contents_of(variant);
  const Rungs rungs = rungs_of(variant);
  if (stage.rung > 0 ? rungs == Rungs::opening : rungs == Rungs::later) return false;
  switch (stage.method) {
    case Method::pgs:
      return has.sweeps;
    case Method::newton:
      return has.altered || (has.newton && !stage.alters());
    case Method::primal:
      return has.newton;
    case Method::interior:
    case Method::continuation:
      return has.altered;
    case Method::lemke:
      return has.tableau || has.lcp;
    case Method::farkas:
      return has.proof;
    case Method::none:
      break;
  }
  return false;
}

}  // namespace stickslip::kernels
