// Parts of the ladder that are compiled apart from each other.
#pragma once
#include "kernels/launch/ladder.hpp"
#include "kernels/launch/part.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Which stages a kernel has compiled in. On a GPU, none shall cost another registers or scratch:
/// pivoting and sweeps have kernels of their own, and Newton's method two, one for rung 0, which
/// all environments run, and one for the rungs that few of them need.
enum class Program : std::int32_t {
  all,
  sweeping,  ///< projected Gauss-Seidel alone
  first,     ///< rung 0 of the iterative methods
  later,     ///< their other rungs; goes on where `first` ended
  pivoting,  ///< Lemke's method, all rungs, on the half-size tableau
  general    ///< the same on the LCP of the law `pyramid`, for what does not fit that tableau
};
inline constexpr int kPrograms = 6;

SS_HD Part part_of(Program program) {
  if (program == Program::first) return Part::first;
  return program == Program::later ? Part::later : Part::whole;
}

/// Whether a program has what a stage needs: an altered problem, a test for jams, and, in `mixed`,
/// a factorisation in double belong to the later rungs alone.
SS_HD bool program_has(Program program, const Stage& stage) {
  const bool pivots = stage.method == Method::lemke;
  if (program == Program::pivoting || program == Program::general) return pivots;
  if (program == Program::sweeping) return stage.method == Method::pgs && stage.rung == 0;
  if (program == Program::first) {
    return !pivots && stage.rung == 0 && !stage.alters() && stage.check == Check::none;
  }
  if (program == Program::later) {
    return !pivots && stage.rung > 0 && stage.method != Method::primal;
  }
  return true;
}

/// The program that begins a solve.
SS_HD Program program_of(const SolveOptions& o) {
  if (o.law == Law::pyramid) return Program::pivoting;
  const bool sweeps = stage_of(o, 0).method == Method::pgs;
  return sweeps && stage_of(o, 1).method == Method::none ? Program::sweeping : Program::first;
}

}  // namespace stickslip::kernels::inline SS_ISA
