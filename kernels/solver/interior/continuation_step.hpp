// A step of the continuation: tangent, direction, corrector, and the measures of their length.
#pragma once
#include "kernels/solver/interior/continuation_system.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Compliance of contacts at t = 1. In a pile between walls any prestress may be a solution: this
/// keeps impulses finite along the path.
template <class Real>
inline constexpr Real kEase = Real(1e-3);

/// Progress along the path: in memory, because a GPU has few registers.
template <class Real>
struct ContinuationProgress {
  Real t = Real(1), trial = Real(1);       ///< at the last point, at the point being corrected
  Real mean = Real(0);                     ///< mean product at t = 1
  Real reach = Real(0.5);                  ///< largest relative change in the next step
  Real direction = Real(-1);               ///< sign of dt along the path
  Real finished = Limits<Real>::infinity;  ///< t when Newton was last started
  int first_sign = 0;                      ///< of det(W + D) at t = 1
  bool corrected = false;                  ///< the last factorisation is that of a correction
  int done = 0;                            ///< factorisations
};

template <class Real>
struct Continuation {
  ContinuationProgress<Real>* progress;
  CentralPath<Real> path;
  PathValues<Real> start, now;           ///< at t = 1, at path.at
  PathValues<Real> slope;                ///< scratch
  PathPoint<Real> base, tangent, other;  ///< the last point, its tangent; tangent at path.at

  /// `shared`: a system that is not used between two steps.
  SS_HD Continuation(Arena& arena, int max_rows, int max_contacts, const LinearSystem<Real>& shared)
      : progress(arena.take<ContinuationProgress<Real>>(1)),
        path(arena, max_rows, max_contacts, shared),
        start(arena, max_rows),
        now(arena, max_rows),
        slope(arena, max_rows),
        base(arena, max_rows),
        tangent(arena, max_rows),
        other(arena, max_rows) {}
};

/// Calls f(1 / size, i, array) for the unknowns of an item: z, low, high of row i, or those of a
/// cone. Sizes are distances from the boundaries at w.base, so that relative changes have a
/// meaning.
template <class Real, class F>
SS_HD void for_unknowns(const Scaled<Real>& s, const Continuation<Real>& w, int item, F&& f) {
  const PathPoint<Real>& p = w.base;
  if (item < s.n) {
    const int i = item;
    const bool low = w.path.has_low(i), high = w.path.has_high(i);
    Real size = Limits<Real>::infinity;
    if (low) size = p.z[i] - w.path.lo[i];
    if (high) size = min(size, w.path.hi[i] - p.z[i]);
    if (!low && !high) size = Real(1) + abs(p.z[i]);
    if (low || high || i < s.scalars) f(Real(1) / size, i, &PathPoint<Real>::z);
    if (low) f(Real(1) / p.low[i], i, &PathPoint<Real>::low);
    if (high) f(Real(1) / p.high[i], i, &PathPoint<Real>::high);
  } else if (s.mu[item - s.n] > Real(0)) {
    const int k = item - s.n, a = s.block[k];
    const Real inverse = Real(1) / (s.mu[k] * p.z[a]);
    for (int i = a + 1; i < s.block[k + 1]; ++i) f(inverse, i, &PathPoint<Real>::z);
    f(Real(1) / p.high[a + 1], a + 1, &PathPoint<Real>::high);
  }
}

/// Largest relative change along the tangent; at least 1, that of t.
template <class Real, class G>
SS_HD Real largest_change(const G& g, const Scaled<Real>& s, const Continuation<Real>& w) {
  const Real largest = g.max(s.n + s.n_contacts, [&](int item) {
    Real most = Real(0);
    for_unknowns(s, w, item, [&](Real scale, int i, Real* PathPoint<Real>::*of) {
      most = max(most, abs((w.tangent.*of)[i]) * scale);
    });
    return most;
  });
  return max(largest, Real(1));
}

/// Inner product of a and b, both relative.
template <class Real, class G>
SS_PART Real dot_steps(const G& g, const Scaled<Real>& s, const Continuation<Real>& w,
                       const PathPoint<Real>& a, const PathPoint<Real>& b) {
  return g.sum(s.n + s.n_contacts, [&](int item) {
    Real sum = Real(0);
    for_unknowns(s, w, item, [&](Real scale, int i, Real* PathPoint<Real>::*of) {
      sum = fma((a.*of)[i] * scale, (b.*of)[i] * scale, sum);
    });
    return sum;
  });
}

/// Largest difference between the products w.now and those that belong to t, relative to them.
template <class Real, class G>
SS_HD Real path_error(const G& g, const Scaled<Real>& s, const Continuation<Real>& w, Real t) {
  const PathValues<Real>&now = w.now, &start = w.start;
  const auto off = [&](Real value, Real at_start) { return abs(fma(-t, at_start, value)); };
  return g.max(s.n + s.n_contacts, [&](int item) {
    Real largest = Real(0);
    if (item < s.n) {
      const int i = item;
      if (w.path.has_low(i)) largest = off(now.low[i], start.low[i]) / (t * start.low[i]);
      if (w.path.has_high(i)) {
        largest = max(largest, off(now.high[i], start.high[i]) / (t * start.high[i]));
      }
    } else if (s.mu[item - s.n] > Real(0)) {
      const int k = item - s.n, a = s.block[k] + 1;
      Real tail = Real(0), square = Real(0);
      for (int i = a; i < s.block[k + 1]; ++i) {
        const Real error = off(now.gap[i], start.gap[i]);
        tail = fma(error, error, tail);
        square = fma(start.gap[i], start.gap[i], square);
      }
      const Real room = t * (start.high[a] - sqrt(square));  // of the cone that x o y is in
      largest = max(sqrt(tail), off(now.high[a], start.high[a])) / room;
    }
    return largest;
  });
}

/// Gives contacts the compliance `kEase` t.
template <class S, class Real, class G>
SS_HD void ease_contacts(const G& g, S& s, Real t) {
  set_compliance(g, s, true);
  g.for_each(s.n, [&](int i) {
    if (i >= s.scalars) add_compliance(s, i, kEase<Real> * t);
  });
}

/// w.path.at = from + length d, with its velocities, and t after a change of log t by `change`, to
/// first order: `exp` has other bits on other machines.
template <class S, class Real, class G>
SS_HD void move_path(const G& g, S& s, const Continuation<Real>& w, const PathPoint<Real>& from,
                     const PathPoint<Real>& d, Real length, Real before, Real change) {
  const PathPoint<Real>& at = w.path.at;
  g.for_each(s.n, [&](int i) {
    at.z[i] = fma(length, d.z[i], from.z[i]);
    at.low[i] = fma(length, d.low[i], from.low[i]);
    at.high[i] = fma(length, d.high[i], from.high[i]);
  });
  const Real t = change < Real(0) ? before / (Real(1) - change) : before * (Real(1) + change);
  g.once([&] { w.progress->trial = t; });
  ease_contacts(g, s, t);
  scaled_velocity(g, s, at.z, at.u);
}

/// W + D at w.path.at, factorised.
template <class S, class Real, class G>
SS_HD bool factor_continuation(const G& g, const S& s, const Continuation<Real>& w) {
  g.once([&] { ++w.progress->done; });
  return factor_equations(g, s, w.path);
}

/// d/d(log t) of the path at w.path.at: J tangent = t start - dG/d(log t).
template <class S, class Real, class G>
SS_PART bool solve_tangent(const G& g, const S& s, const Continuation<Real>& w, Real t,
                           const PathPoint<Real>& tangent) {
  const PathPoint<Real>& p = w.path.at;
  const PathValues<Real>& v = w.slope;
  const Real ease = kEase<Real> * t;
  g.for_each(s.n, [&](int i) {
    v.low[i] = t * w.start.low[i];
    v.high[i] = t * w.start.high[i];
    v.gap[i] = t * w.start.gap[i];
    if (i >= s.scalars) v.gap[i] = fma(-ease, p.z[i], v.gap[i]);
  });
  for_cones(g, s, [&](int k) {
    const auto x = cone_impulse(s, k, p);
    const int a = s.block[k] + 1;
    for (int j = 0; j < x.size; ++j) {
      v.gap[a + j] = fma(-ease * x.head, x.tail[j], t * w.start.gap[a + j]);
    }
    v.high[a] = fma(-ease, dot_tails(x, x), v.high[a]);
  });
  return solve_equations(g, s, w.path, tangent,
                         [&](int i, Real* PathValues<Real>::*of) SS_INLINE { return (v.*of)[i]; });
}

/// w.tangent at w.path.at, unless the last step ended with a correction: the point that was
/// corrected is near, so its factorisation and its tangent w.other serve once more, which saves
/// half of all factorisations. False if there is none.
template <class S, class Real, class G>
SS_HD bool find_tangent(const G& g, const S& s, const Continuation<Real>& w) {
  if (!w.progress->corrected) {
    return factor_continuation(g, s, w) && solve_tangent(g, s, w, w.progress->t, w.tangent);
  }
  g.for_each(s.n, [&](int i) {
    w.tangent.z[i] = w.other.z[i];
    w.tangent.u[i] = w.other.u[i];
    w.tangent.low[i] = w.other.low[i];
    w.tangent.high[i] = w.other.high[i];
  });
  return true;
}

/// Turns the tangent at w.path.at, which becomes the base, forward. Along a path the signs of dt
/// and of det(W + D) change together, at turning points; so a step that lands on another part of
/// the path goes on in the right direction (Allgower & Georg 1990, §2.1).
template <class S, class Real, class G>
SS_HD void orient_tangent(const G& g, const S& s, const Continuation<Real>& w) {
  ContinuationProgress<Real>& at = *w.progress;
  const int sign = path_sign(g, s, w.path);
  g.once([&] {
    if (at.first_sign == 0) at.first_sign = sign;
    at.direction = sign == at.first_sign ? Real(-1) : Real(1);
  });
  g.for_each(s.n, [&](int i) {
    w.base.z[i] = w.path.at.z[i];
    w.base.low[i] = w.path.at.low[i];
    w.base.high[i] = w.path.at.high[i];
    w.tangent.z[i] *= at.direction;
    w.tangent.u[i] *= at.direction;
    w.tangent.low[i] *= at.direction;
    w.tangent.high[i] *= at.direction;
  });
}

/// The shortest Newton step towards the path, measured in relative changes: of all steps that solve
/// the linearised equations, the one orthogonal to the tangent at w.path.at (Allgower & Georg 1990,
/// §3.4). False if it is too short.
template <class S, class Real, class G>
SS_HD bool correct_point(const G& g, S& s, const Continuation<Real>& w) {
  const PathPoint<Real>&d = w.path.step, &other = w.other;
  ContinuationProgress<Real>& at = *w.progress;
  const Real t = at.trial;
  if (!factor_continuation(g, s, w) || !solve_tangent(g, s, w, t, other)) return false;
  if (!solve_equations(g, s, w.path, d, [&](int i, Real* PathValues<Real>::*of) SS_INLINE {
        return fma(t, (w.start.*of)[i], -(w.now.*of)[i]);
      })) {
    return false;
  }
  const Real along = dot_steps(g, s, w, other, d), square = dot_steps(g, s, w, other, other);
  const Real change = -along / (square + Real(1));
  if (!is_finite(change)) return false;
  g.for_each(s.n, [&](int i) {
    d.z[i] = fma(change, other.z[i], d.z[i]);
    d.u[i] = fma(change, other.u[i], d.u[i]);
    d.low[i] = fma(change, other.low[i], d.low[i]);
    d.high[i] = fma(change, other.high[i], d.high[i]);
  });
  const Real length = safe_length(g, s, w.path, d, Real(1));
  if (length < Real(0.3)) return false;
  move_path(g, s, w, w.path.at, d, length, t, length * change);
  return true;
}

}  // namespace stickslip::kernels::inline SS_ISA
