// Block projected Gauss-Seidel: rows and contact blocks are solved one after the other, exactly or
// nearly so, with the others fixed; the velocities are updated immediately. Linear convergence,
// cheap sweeps, always a feasible impulse. (Jourdan, Alart & Jean 1998;
// kernels/solver/pgs/README.md)
#pragma once
#include "kernels/group/stop.hpp"
#include "kernels/residual/judge.hpp"
#include "kernels/solver/pgs/local.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real>
struct Pgs {
  Real* z;  ///< [ld] scaled impulse
  Real* c;  ///< [ld] velocity without the impulse of the row or block, for its next visit
  /// [ld] the values of z already applied to the rows after it, and to those before it. Sweeps
  /// alternate in direction, so a row is visited again before the rows on its other side change:
  /// forward sweeps apply changes to later rows only, backward sweeps to earlier ones, and each
  /// sweep reads half of W (Niethammer 1964).
  Real *after, *before;
  Real* inverse;  ///< [6 n] inverse of each diagonal block, D x D at 6 * block row

  SS_INNER Pgs(Arena& arena, int max_rows)
      : z(arena.take<Real>(padded_rows<Real>(max_rows))),
        c(arena.take<Real>(padded_rows<Real>(max_rows))),
        after(arena.take<Real>(padded_rows<Real>(max_rows))),
        before(arena.take<Real>(padded_rows<Real>(max_rows))),
        inverse(arena.take<Real>(6 * std::size_t(max_rows))) {}

  template <class G>
  SS_INNER void prepare(const G& g, const Scaled<Real>& s) {
    prepare_blocks(g, s, inverse);
  }

  /// Computes c from z, without the rounding errors of earlier sweeps.
  template <class G>
  SS_INNER void refresh(const G& g, const Scaled<Real>& s) {
    scaled_velocity(g, s, z, c);
    g.for_each(s.scalars + s.n_contacts, [&](int item) {
      const int begin = first_row(s, item), end = end_row(s, item);
      for (int i = begin; i < end; ++i) {
        Real c_i = c[i];
        for (int j = begin; j < end; ++j) c_i = fma(-s.at(i, j), z[j], c_i);
        c[i] = c_i;
      }
    });
    g.for_each(s.n, [&](int i) { after[i] = before[i] = z[i]; });
  }

  /// Returns whether anything changed.
  template <class G>
  SS_INNER bool sweep(const G& g, const Scaled<Real>& s, bool backwards) {
    if constexpr (G::kChunk == 1) {
      if (s.n == 3 * s.n_contacts) return sweep_triples(g, s, backwards);
    }
    bool changed = false;
    const int items = s.scalars + s.n_contacts;
    for (int c = 0; c < items; ++c) {
      const int item = backwards ? items - 1 - c : c;
      if (item < s.scalars) {
        changed = update_row(g, s, item, backwards) || changed;
      } else {
        const int k = item - s.scalars;
        with_dim(s.dim(k), [&](auto dim) SS_INLINE {
          changed = update_block<dim()>(g, s, k, s.block[k], backwards) || changed;
        });
      }
    }
    return changed;
  }

 private:
  /// The same for contacts of dimension 3 alone: nothing to look up.
  template <class G>
  SS_INNER bool sweep_triples(const G& g, const Scaled<Real>& s, bool backwards) {
    int changed = 0;
    const int contacts = s.n_contacts, step = backwards ? -1 : 1;
    SS_ROLLED
    for (int k = backwards ? contacts - 1 : 0; unsigned(k) < unsigned(contacts); k += step) {
      changed |= update_block<3>(g, s, k, 3 * k, backwards) ? 1 : 0;
    }
    return changed != 0;
  }

  template <class G>
  SS_INNER bool update_row(const G& g, const Scaled<Real>& s, int i, bool backwards) {
    const auto now = g.compute([&]() SS_INLINE {
      const Real u = fma(s.at(i, i), z[i], c[i]);
      const Real x = clamp(fma(-s.rho[i], u, z[i]), s.lo[i], s.hi[i]);
      return change_to<1>(i, &x, backwards);
    });
    return pass_on(g, s, i, now, backwards);
  }

  template <int D, class G>
  SS_INNER bool update_block(const G& g, const Scaled<Real>& s, int k, int a, bool backwards) {
    const auto now = g.compute([&]() SS_INLINE {
      LocalBlock<Scaled<Real>, D> block(s, k, a, inverse, z, c);
      block.solve(s.law);
      return change_to<D>(a, block.x, backwards);
    });
    return pass_on(g, s, a, now, backwards);
  }

  /// New impulses x of D rows, and all their changes since the last update of the rows that follow
  /// in this sweep.
  template <int D>
  struct Change {
    Real x[D], delta[D];
    Mask<Real> changed;
  };

  template <int D>
  SS_INNER Change<D> change_to(int a, const Real* x, bool backwards) const {
    const Real* seen = backwards ? before : after;
    Change<D> now{};
    unroll<0, D>([&](auto j) SS_INLINE {
      now.x[j] = x[j];
      now.delta[j] = x[j] - seen[a + j];
      now.changed = now.changed | (now.delta[j] != Real(0)) | (x[j] != z[a + j]);
    });
    return now;
  }

  /// The rows a ... a + D - 1 take their new impulses, and the rows that follow their changes.
  template <int D, class G>
  SS_INNER bool pass_on(const G& g, const Scaled<Real>& s, int a, const Change<D>& now,
                        bool backwards) {
    if (!any(now.changed)) return false;
    Real* seen = backwards ? before : after;
    const auto keep = [&]() SS_INLINE {
      unroll<0, D>([&](auto i) SS_INLINE { z[a + i] = seen[a + i] = now.x[i]; });
    };
    const int begin = backwards ? 0 : a + D, end = backwards ? a : s.n;
    if constexpr (G::kChunk == 1) {  // one pass for both
      if (begin == end) {
        g.once(keep);
        return true;
      }
      Real* const to = c + begin;
      const Real* const columns = s.W + (a * s.ld + begin);
      const int ld = s.ld;
      g.for_each(end - begin, [&](int i) SS_INLINE {
        if (i == 0) keep();
        Real v = to[i];
        unroll<0, D>([&](auto j) SS_INLINE { v = fma(columns[i + j * ld], now.delta[j], v); });
        to[i] = v;
      });
    } else {
      const Real* columns = s.W + std::int64_t(a) * s.ld;
      for_range(g, begin, end, backwards, [&](int i, bool inside) SS_INLINE {
        Real v = c[i];
        unroll<0, D>([&](auto j) SS_INLINE {
          v = fma(columns[std::int64_t(j) * s.ld + i], now.delta[j], v);
        });
        c[i] = inside ? v : c[i];
      });
      g.once(keep);
    }
    return true;
  }
};

/// If sweep `sweep` changed nothing: the sweep until which nothing can change. c is recomputed
/// after every `period` sweeps, last after sweep `fresh`; if nothing changed since then, all sweeps
/// are skipped.
SS_INNER int skip_idle(int sweep, int sweeps, int period, int fresh) {
  return sweep == fresh + 1 ? sweeps : min((sweep + period - 1) / period * period, sweeps);
}

/// Runs `sweeps` sweeps of Pgs or SparsePgs from the end of the last stage. Not `exact`: judges
/// every 8th, from the 128th on every 16th, and the last sweep, and ends when an environment is
/// solved. `exact`: judges only the last. Not `judged`: the next stage judges. Only `running`
/// environments count. Returns the sweeps done.
template <class S, class Sweeps, class G, class Scalar>
SS_INNER Wide<Scalar> run_pgs(const G& g, const EnvProblem<Scalar>& p, const S& s, Sweeps& pgs,
                              int sweeps, bool exact, bool judged, Judge<Scalar>& judge,
                              Mask<Wide<Scalar>> running = true) {
  using Number = Wide<Scalar>;
  Number done = 0.0;
  if (sweeps <= 0) return done;
  scale_impulse(g, s, judge.at->start, pgs.z);
  pgs.refresh(g, s);
  pgs.prepare(g, s);
  for (int sweep = 1, fresh = 0;; ++sweep) {
    const int period = exact ? 32 : (sweep <= 128 ? 8 : 16);
    if (!pgs.sweep(g, s, (sweep & 1) == 0)) sweep = skip_idle(sweep, sweeps, period, fresh);
    if (sweep % period != 0 && sweep < sweeps) continue;
    if (!exact || sweep == sweeps) {
      take_candidate(g, p, s, pgs.z, judge);
      if (judged) judge_candidate(g, p, velocity_of(p, s), judge, Guess::unknown, running);
      done = select(running, Number(sweep), done);
      if (judged && !exact) running = running & !judge.solved();
      if (sweep == sweeps || !any(running)) break;
    }
    if (stopped(g)) break;
    pgs.refresh(g, s);
    fresh = sweep;
  }
  continue_from_candidate(g, p, judge);
  return done;
}

}  // namespace stickslip::kernels::inline SS_ISA
