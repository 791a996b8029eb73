// The iterate of semismooth Newton, its merit, and the non-monotone line search (Grippo,
// Lampariello & Lucidi 1986).
#pragma once
#include "kernels/linalg/merit_history.hpp"
#include "kernels/solver/newton/direction.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real, class Factor>
struct Newton {
  MeritHistory* history;
  Linearisation<Real> at;
  DirectionScratch<Factor> direction;
  Real *z, *u, *dz, *z0, *u1;  ///< [ld] iterate, velocity, step, start and full-step velocity
  Real* anchor;                ///< [ld] what compliance attracts to: zero, or a proximal point
  int seed = 0;                ///< of random states for the first step; 0: states of the start
  bool selects = false;        ///< one solution among many; else any
  bool from_solution = false;  ///< selects from a solution
  bool from_selected = false;  ///< from the selected solution of nearly the same problem
  bool impatient = false;      ///< gives up soon

  SS_HD Newton(Arena& arena, int max_rows)
      : history(arena.take<MeritHistory>(1)),
        at(arena, max_rows),
        direction(arena, max_rows),
        z(arena.take<Real>(padded(max_rows))),
        u(arena.take<Real>(padded(max_rows))),
        dz(arena.take<Real>(padded(max_rows))),
        z0(arena.take<Real>(padded(max_rows))),
        u1(arena.take<Real>(padded(max_rows))),
        anchor(arena.take<Real>(padded(max_rows))) {}
};

/// Progress of the steps: not in Newton, which the lanes of a group may share.
template <class Real, class Factor>
struct NewtonProgress {
  double merit = 0.0;
  double halved = 0.0;          ///< merit when it was halved last, or linearised anew
  int waited = 0;               ///< steps since then
  double worth = 0.0;           ///< merit of iterates that are worth judging
  double least_left = 0.0;      ///< merit; a step that leaves less behind leaves a candidate
  Real soft = Real(0);          ///< compliance of the equations, times D
  bool first = false;           ///< step of the path of a selection: attracted to zero
  bool leapt = false;           ///< a full step was taken whatever its merit, since its begin
  double natural = 0.0;         ///< merit of the anchor in the problem as given
  double contraction = 0.0;     ///< of the merit in the last step of the path
  double at_bounds = 0.0;       ///< rows_at_bounds at the end of the first step of the path
  Regularisation<Factor> more;  ///< of the next Jacobian
  double least_epsilon = 0.0;   ///< of `more`
  bool keeps = false;           ///< the next step may use the factors of the last one again
  bool anew = false;            ///< z or the equations have changed: to be linearised first
  int count = 0;                ///< rows of these factors
};

inline constexpr double kFloatEpsilon = 1e-6;   ///< least regularisation of a Jacobian in float
inline constexpr double kGivenUp = 10.0;        ///< regularisation that ends the steps
inline constexpr double kRoundedMerit = 1e-16;  ///< merit, relative, that may be all rounding
inline constexpr double kSlow = 0.01;  ///< merit: velocities contract by less than 10 in a step
inline constexpr int kHalvings = 6;    ///< of the line search
inline constexpr double kTinyMerit = 1e-28;  ///< always accepted: rounding noise

/// Whether the equations are those of a proximal point: of the anchor, a step of the path before.
template <class Real, class Factor>
SS_HD bool is_proximal(const NewtonProgress<Real, Factor>& path) {
  return path.soft > Real(0) && !path.first;
}

/// Whether the last step of the path hardly got nearer.
template <class Real, class Factor>
SS_HD bool has_stalled(const NewtonProgress<Real, Factor>& path) {
  constexpr double kStalled = 0.25;  // merit
  return path.contraction > kStalled;
}

/// The velocities of the equations.
template <class S, class Real, class Factor, class G>
SS_HD void newton_velocity(const G& g, const S& s, const Newton<Real, Factor>& w,
                           const NewtonProgress<Real, Factor>& path, const Real* z, Real* u) {
  scaled_velocity(g, s, z, u);
  if (!(path.soft > Real(0))) return;
  for_chunks(g, s.n,
             [&](int i) { u[i] = fma(path.soft * s.selecting[i], z[i] - w.anchor[i], u[i]); });
}

/// Line search from z0 = z along dz. Returns the number of halvings, or kHalvings + 1 on failure
/// (z, u, and the linearisation are then those of the start).
template <class S, class Real, class Factor, class G>
SS_HD int line_search(const G& g, const S& s, const Newton<Real, Factor>& w,
                      NewtonProgress<Real, Factor>& path) {
  const double reference = w.history->reference();
  for_chunks(g, s.n, [&](int i) { w.z0[i] = w.z[i]; });
  Real t = Real(1);
  for (int halving = 0;; ++halving) {
    const bool failed = halving > kHalvings;
    for_chunks(g, s.n, [&](int i) { w.z[i] = failed ? w.z0[i] : fma(t, w.dz[i], w.z0[i]); });
    if (!failed) newton_velocity(g, s, w, path, w.z, w.u1);
    path.merit = linearise(g, s, w.at, w.z, failed ? w.u : w.u1);
    if (failed) return halving;
    if (path.merit <= reference * (1.0 - 1e-4 * double(t)) || path.merit < kTinyMerit) {
      for_chunks(g, s.n, [&](int i) { w.u[i] = w.u1[i]; });
      return halving;
    }
    t *= Real(0.5);
  }
}

/// Begins the line search anew, linearised at z with velocities u.
template <class Real, class Factor, class G>
SS_HD void begin_search(const G& g, const Scaled<Real>& s, const Newton<Real, Factor>& w,
                        NewtonProgress<Real, Factor>& path) {
  g.once([&] { *w.history = MeritHistory{}; });
  path.halved = path.merit = linearise(g, s, w.at, w.z, w.u);
  path.waited = 0;
  path.anew = false;
}

}  // namespace stickslip::kernels::inline SS_ISA
