// Block projected Gauss-Seidel: rows and contact blocks one after the other, each solved exactly or
// nearly so with the others frozen, the velocities updated at once. Linear convergence, cheap
// sweeps, always a feasible impulse. (Jourdan, Alart & Jean 1998; kernels/solver/pgs/README.md)
#pragma once
#include "kernels/residual/judge.hpp"
#include "kernels/solver/pgs/local.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real>
struct Pgs {
  Real* z;              ///< [ld] scaled impulse
  Real* u;              ///< [ld] scaled velocity, kept up to date
  Real* inverse;        ///< [6 n] inverse of each diagonal block, D x D at 6 * block row
  int slide_steps = 3;  ///< fixed-point steps of a sliding direction per visit

  SS_HD Pgs(Arena& arena, int max_rows)
      : z(arena.take<Real>(padded(max_rows))),
        u(arena.take<Real>(padded(max_rows))),
        inverse(arena.take<Real>(6 * std::size_t(max_rows))) {}

  template <class G>
  SS_HD void prepare(const G& g, const Scaled<Real>& s) {
    g.for_each(s.n_contacts, [&](int k) {
      with_dim(s.dim(k), [&](auto dim) { invert_block<dim()>(s, k, inverse + 6 * s.block[k]); });
    });
  }

  template <class G>
  SS_HD void sweep(const G& g, const Scaled<Real>& s, bool backwards) {
    for (int i = 0; i < s.scalars; ++i) update_row(g, s, i);
    for (int c = 0; c < s.n_contacts; ++c) {
      const int k = backwards ? s.n_contacts - 1 - c : c;
      with_dim(s.dim(k), [&](auto dim) { update_block<dim()>(g, s, k); });
    }
  }

 private:
  template <class G>
  SS_HD void update_row(const G& g, const Scaled<Real>& s, int i) {
    const Real old = z[i];
    const Real now = clamp(fma(-s.rho[i], u[i], old), s.lo[i], s.hi[i]);
    const Real delta = now - old;
    if (delta == Real(0)) return;
    const Real* column = s.W + std::int64_t(i) * s.ld;
    for_chunks(g, s.n, [&](int j) { u[j] = fma(column[j], delta, u[j]); });
    g.once([&] { z[i] = now; });
  }

  template <int D, class G>
  SS_HD void update_block(const G& g, const Scaled<Real>& s, int k) {
    const int a = s.block[k];
    LocalBlock<Real, D> block{s, a, s.mu[k], {}, {}};
    for (int i = 0; i < D; ++i) {
      block.x[i] = z[a + i];
      block.c[i] = u[a + i];
      for (int j = 0; j < D; ++j) block.c[i] = fma(-s.at(a + i, a + j), z[a + j], block.c[i]);
    }
    solve_local(block, inverse + 6 * a, s.law, slide_steps);
    Real delta[D];
    bool moved = false;
    for (int i = 0; i < D; ++i) {
      delta[i] = block.x[i] - z[a + i];
      moved = moved || delta[i] != Real(0);
    }
    if (!moved) return;
    const Real* columns = s.W + std::int64_t(a) * s.ld;
    for_chunks(g, s.n, [&](int i) {
      Real v = u[i];
      for (int j = 0; j < D; ++j) v = fma(columns[std::int64_t(j) * s.ld + i], delta[j], v);
      u[i] = v;
    });
    g.once([&] {
      for (int i = 0; i < D; ++i) z[a + i] = block.x[i];
    });
  }
};

/// Runs up to `sweeps` sweeps from where the last stage ended, judging every 8th and the last, with
/// an early exit unless `exact`; not `judged`: the stage that follows will. Returns the sweeps
/// done.
template <class Real, class G, class In>
SS_HD int run_pgs(const G& g, const EnvProblem<In>& p, const Scaled<Real>& s, Pgs<Real>& pgs,
                  int sweeps, bool exact, bool judged, Judge<In>& judge) {
  scale_impulse(g, s, judge.at->start, pgs.z);
  scaled_velocity(g, s, pgs.z, pgs.u);
  pgs.prepare(g, s);
  for (int sweep = 1; sweep <= sweeps; ++sweep) {
    pgs.sweep(g, s, (sweep & 1) == 0);
    if (sweep % 8 != 0 && sweep < sweeps) continue;
    take_candidate(g, p, s, pgs.z, judge);
    const bool solved = judged && judge_candidate(g, p, judge);
    if (sweep == sweeps || (solved && !exact)) {
      continue_from_candidate(g, p, judge);
      return sweep;
    }
    scaled_velocity(g, s, pgs.z, pgs.u);  // forget the rounding of 8 sweeps of updates
  }
  return 0;
}

}  // namespace stickslip::kernels::inline SS_ISA
