// The central path of Coulomb's law (README.md): a point of it, its linearised equations, and the
// largest allowed step.
#pragma once
#include "kernels/linalg/lu.hpp"
#include "kernels/scaling/scaled.hpp"
#include "kernels/solver/interior/cone_algebra.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Mean product at the end of the path; far below it, LU has no correct digits left.
inline constexpr double kEndOfPath = 1e-14;

/// Impulses z, velocities u = W z + b, and multipliers: low >= 0 of z >= lo, high >= 0 of z <= hi.
/// In the first tangential row of a cone `high` is y_0.
template <class Real>
struct PathPoint {
  Real *z, *u, *low, *high;  ///< [ld]

  SS_HD PathPoint(Arena& arena, int max_rows)
      : z(arena.take<Real>(padded(max_rows))),
        u(arena.take<Real>(padded(max_rows))),
        low(arena.take<Real>(padded(max_rows))),
        high(arena.take<Real>(padded(max_rows))) {}
};

/// Progress along the path: in memory, because a GPU has few registers.
template <class Real>
struct PathProgress {
  int products = 1, restarts = 0, slow = 0;  ///< slow: short steps in a row
  Real mean = Real(0);                       ///< of the products
  Real finished = Limits<Real>::infinity;    ///< the mean when Newton was last started
};

template <class Real>
struct CentralPath {
  PathProgress<Real>* progress;
  PathPoint<Real> at, step;
  Real *lo, *hi;            ///< [n] bounds of all rows; infinite if there are none
  Real *c_low, *c_high;     ///< [n] second order of the products; for cones tail and head
  ConeScaling<Real>* cone;  ///< [n_contacts]
  Real* q;                  ///< [n] its tail, in tangential rows
  Real *right, *x;          ///< [ld]
  LinearSystem<Real> system;

  /// `shared`: a system that is not used between two steps.
  SS_HD CentralPath(Arena& arena, int max_rows, int max_contacts, const LinearSystem<Real>& shared)
      : progress(arena.take<PathProgress<Real>>(1)),
        at(arena, max_rows),
        step(arena, max_rows),
        lo(arena.take<Real>(max_rows)),
        hi(arena.take<Real>(max_rows)),
        c_low(arena.take<Real>(max_rows)),
        c_high(arena.take<Real>(max_rows)),
        cone(arena.take<ConeScaling<Real>>(max_contacts)),
        q(arena.take<Real>(max_rows)),
        right(arena.take<Real>(padded(max_rows))),
        x(arena.take<Real>(padded(max_rows))),
        system(shared) {
    system.keep_factors(arena, max_rows);
  }

  SS_HD bool has_low(int i) const { return lo[i] > -Limits<Real>::infinity; }
  SS_HD bool has_high(int i) const { return hi[i] < Limits<Real>::infinity; }
  SS_HD Real above_low(int i) const { return at.z[i] - lo[i]; }
  SS_HD Real below_high(int i) const { return hi[i] - at.z[i]; }
  SS_HD ConeVector<Real> scaling(const Scaled<Real>& s, int k) const {
    return {cone[k].head, q + s.block[k] + 1, s.dim(k) - 1};
  }
};

/// x = (mu z_n, z_t) and y = (y_0, u_t) of contact k, or their steps.
template <class Real>
SS_HD ConeVector<Real> cone_impulse(const Scaled<Real>& s, int k, const PathPoint<Real>& p) {
  return {s.mu[k] * p.z[s.block[k]], p.z + s.block[k] + 1, s.dim(k) - 1};
}
template <class Real>
SS_HD ConeVector<Real> cone_velocity(const Scaled<Real>& s, int k, const PathPoint<Real>& p) {
  return {p.high[s.block[k] + 1], p.u + s.block[k] + 1, s.dim(k) - 1};
}

/// Calls f(k) for the contacts with friction.
template <class Real, class G, class F>
SS_HD void for_cones(const G& g, const Scaled<Real>& s, F&& f) {
  g.for_each(s.n_contacts, [&](int k) {
    if (s.mu[k] > Real(0)) f(k);
  });
}

/// Bounds of all rows. Those of boxes are slightly widened: an empty interior would have no path.
template <class Real, class G>
SS_HD void set_bounds(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  constexpr Real infinity = Limits<Real>::infinity;
  g.for_each(s.scalars, [&](int i) {
    const bool box = s.lo[i] > -infinity && s.hi[i] < infinity;
    const Real more = box ? Real(1e-12) * (Real(1) + abs(s.lo[i]) + abs(s.hi[i])) : Real(0);
    w.lo[i] = s.lo[i] - more;
    w.hi[i] = s.hi[i] + more;
  });
  g.for_each(s.n_contacts, [&](int k) {
    for (int i = s.block[k]; i < s.block[k + 1]; ++i) {
      w.lo[i] = i == s.block[k] ? Real(0) : -infinity;
      w.hi[i] = infinity;
    }
  });
}

/// Moves w.at.z into the interior and chooses multipliers: `distance` from every boundary.
template <class S, class Real, class G>
SS_HD void enter_interior(const G& g, const S& s, const CentralPath<Real>& w, Real distance) {
  const PathPoint<Real>& at = w.at;
  g.for_each(s.scalars, [&](int i) {
    const Real room = min(distance, Real(0.5) * (w.hi[i] - w.lo[i]));
    at.z[i] = clamp(at.z[i], w.lo[i] + room, w.hi[i] - room);
  });
  g.for_each(s.n_contacts, [&](int k) {
    Real& normal = at.z[s.block[k]];
    normal = max(normal, Real(0));
    if (s.mu[k] > Real(0)) normal = max(normal, tail_length(cone_impulse(s, k, at)) / s.mu[k]);
    normal += distance;
  });
  scaled_velocity(g, s, at.z, at.u);
  g.for_each(s.n, [&](int i) {
    at.low[i] = w.has_low(i) ? max(at.u[i], distance) : Real(0);
    at.high[i] = w.has_high(i) ? max(-at.u[i], distance) : Real(0);
  });
  for_cones(g, s, [&](int k) {
    at.high[s.block[k] + 1] = tail_length(cone_velocity(s, k, at)) + distance;
  });
}

/// Number of products: one per bound, one per cone.
template <class Real, class G>
SS_HD int count_products(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  return g.sum(s.n + s.n_contacts, [&](int item) {
    if (item >= s.n) return s.mu[item - s.n] > Real(0) ? 1 : 0;
    return (w.has_low(item) ? 1 : 0) + (w.has_high(item) ? 1 : 0);
  });
}

/// Begins a path at the impulses r, moved `distance` inside.
template <class S, class Real, class G, class Scalar>
SS_PART void open_path(const G& g, const S& s, const CentralPath<Real>& w, const Scalar* r,
                       Real distance) {
  set_bounds(g, s, w);
  const int products = count_products(g, s, w);
  g.once([&] { *w.progress = PathProgress<Real>{.products = max(products, 1)}; });
  scale_impulse(g, s, r, w.at.z);
  enter_interior(g, s, w, distance);
}

/// Mean of all products at w.at + alpha w.step: 0 at solutions.
template <class Real, class G>
SS_HD Real mean_product(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w, Real alpha) {
  const PathPoint<Real>&p = w.at, &d = w.step;
  const auto moved = [&](Real x, Real dx) { return alpha > Real(0) ? fma(alpha, dx, x) : x; };
  const Real total = g.sum(s.n + s.n_contacts, [&](int item) {
    Real sum = Real(0);
    if (item < s.n) {
      const Real z = moved(p.z[item], d.z[item]);
      if (w.has_low(item)) sum = (z - w.lo[item]) * moved(p.low[item], d.low[item]);
      if (w.has_high(item)) sum += (w.hi[item] - z) * moved(p.high[item], d.high[item]);
    } else if (s.mu[item - s.n] > Real(0)) {
      const int k = item - s.n, a = s.block[k];
      sum = s.mu[k] * moved(p.z[a], d.z[a]) * moved(p.high[a + 1], d.high[a + 1]);
      for (int i = a + 1; i < s.block[k + 1]; ++i) {
        sum = fma(moved(p.z[i], d.z[i]), moved(p.u[i], d.u[i]), sum);
      }
    }
    return sum;
  });
  return total / Real(w.progress->products);
}

/// Largest |u - low + high|, 0 on the path.
template <class Real, class G>
SS_HD Real largest_gap(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w) {
  return g.max(s.n, [&](int i) {
    const bool tangential = i >= s.scalars && !w.has_low(i);
    return tangential ? Real(0) : abs(w.at.u[i] - w.at.low[i] + w.at.high[i]);
  });
}

/// The largest step along d, at most `most_length`, that keeps some distance from all boundaries.
template <class Real, class G>
SS_PART Real safe_length(const G& g, const Scaled<Real>& s, const CentralPath<Real>& w,
                         const PathPoint<Real>& d, Real most_length) {
  constexpr Real kShare = Real(0.9);  // of the way to the boundary
  const PathPoint<Real>& p = w.at;
  const Real inverse = g.max(s.n + s.n_contacts, [&](int item) {
    Real most = Real(1e6);
    const auto keep = [&](Real x, Real dx) {
      if (dx < Real(0)) most = min(most, -x / dx);
    };
    if (item < s.n) {
      if (w.has_low(item)) keep(w.above_low(item), d.z[item]), keep(p.low[item], d.low[item]);
      if (w.has_high(item)) keep(w.below_high(item), -d.z[item]), keep(p.high[item], d.high[item]);
    } else if (s.mu[item - s.n] > Real(0)) {
      const int k = item - s.n;
      most = step_to_boundary(cone_impulse(s, k, p), cone_impulse(s, k, d), most);
      most = step_to_boundary(cone_velocity(s, k, p), cone_velocity(s, k, d), most);
    }
    return Real(1) / most;
  });
  return min(most_length, kShare / inverse);
}

}  // namespace stickslip::kernels::inline SS_ISA
