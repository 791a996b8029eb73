// Up to N environments of equal layout from their slots in the batch to their verdicts, together in
// the lanes of packs: the work of solve_env in rung 0, if that is sweeps only.
#pragma once
#include "kernels/env/solve_env.hpp"
#include "kernels/group/pack.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The environments in the lanes of a pack; lanes beyond `count` repeat the first.
template <int N>
struct PackedEnvs {
  int count = 0;
  std::int64_t env[N];

  SS_HD std::int64_t at(int lane) const { return env[lane < count ? lane : 0]; }
};

/// Scratch of one pack.
template <class Real, class Scalar, int N>
struct PackScratch {
  using Number = Pack<Scalar, N>;  ///< of the caller's data
  EnvProblem<Scalar> first;        ///< the layout: that of the first environment
  ViewScratch<Scalar> first_view;
  ViewScratch<Number> view;
  Number *W, *b, *mu, *R, *lo, *hi, *warm_start;
  Judge<Number> judge;
  JudgeMemory<Number> judge_memory;
  Number* best;
  Scaled<Pack<Real, N>> scaled;
  Pgs<Pack<Real, N>> pgs;
  std::size_t used;

  SS_HD PackScratch(Arena arena, int max_rows, int max_contacts)
      : first_view(arena, max_rows, max_contacts),
        view(arena, max_rows, max_contacts),
        W(arena.take<Number>(std::size_t(max_rows) * max_rows)),
        b(arena.take<Number>(max_rows)),
        mu(arena.take<Number>(max_rows)),
        R(arena.take<Number>(max_rows)),
        lo(arena.take<Number>(max_rows)),
        hi(arena.take<Number>(max_rows)),
        warm_start(arena.take<Number>(max_rows)),
        judge(arena),
        judge_memory(arena, max_rows),
        best(arena.take<Number>(max_rows)),
        scaled(arena, max_rows, max_contacts),
        pgs(arena, max_rows),
        used(arena.used()) {}

  SS_HD static std::size_t bytes(int max_rows, int max_contacts) {
    return PackScratch(Arena(nullptr), max_rows, max_contacts).used;
  }
};

/// Whether two environments have the same layout of rows and blocks.
template <class Scalar>
SS_HD bool same_layout(const ProblemBatch<Scalar>& batch, std::int64_t a, std::int64_t b) {
  const RowCounts &s = *slot(batch.counts, a), &t = *slot(batch.counts, b);
  if (s.n_free != t.n_free || s.n_nonneg != t.n_nonneg || s.n_box != t.n_box ||
      s.n_contacts != t.n_contacts) {
    return false;
  }
  const std::int32_t *dims = slot(batch.dims, a), *others = slot(batch.dims, b);
  for (int k = 0; dims != nullptr && k < min(s.n_contacts, batch.max_contacts); ++k) {
    if (dims[k] != others[k]) return false;
  }
  return true;
}

/// Writes `count` numbers of every environment into lanes; null if the batch has none.
template <class Scalar, int N>
const Pack<Scalar, N>* load_lanes(const EnvArray<const Scalar>& array, const PackedEnvs<N>& envs,
                                  int count, Pack<Scalar, N>* to) {
  if (array.data == nullptr) return nullptr;
  const Scalar* from[N];
  for (int l = 0; l < N; ++l) from[l] = slot(array, envs.at(l));
  gather_lanes<Scalar, N>(from, count, to);
  return to;
}

/// The problems of the lanes as one problem whose numbers are packs.
template <class Real, class Scalar, int N>
EnvProblem<Pack<Scalar, N>> load_problem(const ProblemBatch<Scalar>& batch,
                                         const PackedEnvs<N>& envs,
                                         const PackScratch<Real, Scalar, N>& scratch) {
  const EnvProblem<Scalar>& one = scratch.first;
  EnvProblem<Pack<Scalar, N>> p{};
  p.n = p.ld_W = one.n;
  p.n_free = one.n_free;
  p.n_nonneg = one.n_nonneg;
  p.n_box = one.n_box;
  p.n_contacts = one.n_contacts;
  p.directions = 4;
  p.dims = one.dims;
  scratch.view.place(p);
  for (int k = 0; k <= one.n_contacts; ++k) scratch.view.block[k] = one.block[k];
  if (one.ld_W == one.n) {
    load_lanes(batch.W, envs, one.n * one.n, scratch.W);
  } else {
    for (int i = 0; i < one.n; ++i) {
      const EnvArray<const Scalar> row{batch.W.data + std::int64_t(i) * one.ld_W, batch.W.stride};
      load_lanes(row, envs, one.n, scratch.W + std::int64_t(i) * one.n);
    }
  }
  p.W = scratch.W;
  const int scalars = one.first_contact_row();
  p.b = load_lanes(batch.b, envs, one.n, scratch.b);
  p.mu = load_lanes(batch.mu, envs, one.n - scalars - one.n_contacts, scratch.mu);
  p.R = load_lanes(batch.R, envs, one.n, scratch.R);
  p.lo = load_lanes(batch.lo, envs, one.n_box, scratch.lo);
  p.hi = load_lanes(batch.hi, envs, one.n_box, scratch.hi);
  p.warm_start = load_lanes(batch.warm_start, envs, one.n, scratch.warm_start);
  return p;
}

/// Lanes whose scaled problem exceeds the range of `Real`: here 0 times infinity gives NaN, while a
/// single environment skips the zeros.
template <class Real>
SS_HD Mask<Real> overflows(const Scaled<Real>& s) {
  Real zero[4] = {};
  for (int i = 0; i < s.n * s.ld; i += 4) {
    unroll<0, 4>([&](auto l) SS_INLINE { zero[l] = fma(s.W[i + l], Real(0), zero[l]); });
  }
  for (int i = 0; i < s.n; ++i) zero[0] = fma(s.b[i], Real(0), zero[0]);
  return (zero[0] + zero[1]) + (zero[2] + zero[3]) != Real(0);
}

/// Writes the verdicts of the lanes, except those in `alone`, which are solved separately.
template <class Number, class Scalar, int N>
void report_lanes(const ResultBatch<Scalar>& result, int max_rows, int n, const PackedEnvs<N>& envs,
                  unsigned usable, unsigned alone, const Judge<Number>& judge,
                  const Wide<Number>& sweeps) {
  const unsigned solved = judge.solved().bits();
  for (int l = 0; l < envs.count; ++l) {
    const std::int64_t env = envs.env[l];
    const bool good = ((usable >> l) & 1U) != 0U;
    if (((alone >> l) & 1U) != 0U) continue;
    Scalar* impulse = slot(result.impulse, env);
    double* certificate = slot(result.certificate, env);
    for (int i = 0; i < max_rows; ++i) {
      impulse[i] = good && i < n ? judge.at->best[i].lane(l) : Scalar(0);
      if (certificate != nullptr) certificate[i] = 0.0;
    }
    const EnvStatus verdict =
        ((solved >> l) & 1U) != 0U ? EnvStatus::solved : EnvStatus::not_converged;
    const double residual = good ? judge.best_residual.lane(l) : Limits<double>::infinity;
    report(HostGroup{}, result, env, good ? verdict : EnvStatus::bad_input, residual,
           good ? int(sweeps.lane(l)) : 0, good ? Solver::pgs : Solver::automatic, 0, n);
  }
}

/// Solves the environments of a pack, whose layout is `scratch.first`. Returns the lanes that must
/// be solved separately, one bit each.
template <class Real, class Scalar, int N>
unsigned solve_pack(const ProblemBatch<Scalar>& batch, const ResultBatch<Scalar>& result,
                    const Ladder& ladder, const PackedEnvs<N>& envs,
                    PackScratch<Real, Scalar, N>& scratch) {
  const SolveOptions& o = ladder.options;
  using Number = Pack<Scalar, N>;
  using Double = Pack<double, N>;
  const PackGroup g;
  EnvProblem<Number> p = load_problem<Real>(batch, envs, scratch);
  const LawFacts law = facts_of(o.law);
  const auto usable = check_values(g, p, law.needs_symmetric_W);
  enter_circular_coordinates(g, p, law.is_frictionless, scratch.view);
  Judge<Number> judge = scratch.judge;
  open_judge(g, p, o, scratch.judge_memory, scratch.best, nullptr, judge);
  judge_start(g, p, MatrixVelocity<Number>{p}, judge, false);
  Mask<Double> running(usable);
  if (!o.fixed_sweeps) running = running & !judge.solved();
  Double sweeps = 0.0;
  unsigned alone = 0;
  if (any(running)) {
    scale_problem(g, p, o.law, scratch.scaled);
    alone = Mask<Double>(overflows(scratch.scaled)).bits() & running.bits();
    Climb climb(envs.env[0], ladder, Work::of_dense(p.n), 0.0);
    climb.enter(ladder, p.n, p.n, Limits<double>::infinity, 0.0, false);
    sweeps = run_pgs(g, p, scratch.scaled, scratch.pgs, climb.stage.budget, climb.stage.fixed, true,
                     judge, running);
  }
  if (!ladder.has_later_rungs) close_judge(g, p, MatrixVelocity<Number>{p}, judge);
  report_lanes(result, batch.max_rows, p.n, envs, usable.bits(), alone, judge, sweeps);
  return alone;
}

}  // namespace stickslip::kernels::inline SS_ISA
