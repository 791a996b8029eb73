// Parts of the ladder that are compiled separately.
#pragma once
#include "kernels/launch/ladder.hpp"
#include "kernels/launch/part.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The stages that a kernel has compiled in (the proof of `farkas` belongs to the later rungs). On
/// a GPU, no stage should need registers or scratch because of another one: pivoting and sweeps
/// have their own kernels, and Newton's method has two, one for rung 0, which all environments run,
/// and one for the rungs that few of them need.
enum class Program : std::int32_t {
  all,
  sweeping,  ///< projected Gauss-Seidel only, if rung 0 contains nothing else
  first,     ///< rung 0 of the iterative methods
  later,     ///< their other rungs; continues where `first` ended
  pivoting,  ///< Lemke's method, all rungs, on the half-size tableau
  general    ///< the same on the LCP of the law `pyramid`, if that tableau cannot hold it
};
inline constexpr int kPrograms = 6;

SS_HD Part part_of(Program program) {
  if (program == Program::first || program == Program::sweeping) return Part::first;
  return program == Program::later ? Part::later : Part::whole;
}

/// Whether a program has the code of a stage: an altered problem and, in `mixed`, a factorisation
/// in double belong only to the later rungs.
SS_HD bool program_has(Program program, const Stage& stage) {
  const bool pivots = stage.method == Method::lemke;
  if (program == Program::pivoting || program == Program::general) {
    return pivots || stage.method == Method::farkas;
  }
  if (program == Program::sweeping) return stage.method == Method::pgs && stage.rung == 0;
  if (program == Program::first) {
    return !pivots && stage.rung == 0 && !stage.alters();
  }
  if (program == Program::later) {
    return !pivots && stage.rung > 0 && stage.method != Method::primal;
  }
  return true;
}

/// The program with which a solve begins.
SS_HD Program program_of(const SolveOptions& o) {
  if (facts_of(o.law).ladder == LadderKind::pivots) return Program::pivoting;
  const Stage second = stage_of(o, 1);
  const bool alone = second.method == Method::none || second.rung > 0;
  return alone && stage_of(o, 0).method == Method::pgs ? Program::sweeping : Program::first;
}

}  // namespace stickslip::kernels::inline SS_ISA
