// The problem of one contact block alone, u = W_kk x + c, solved in registers.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/law/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Inverse of the diagonal block k, regularised (rank-deficient blocks are normal), by Gauss-Jordan
/// elimination in `v` (D x D, row-major). The sums stay in memory: D is only known at run time
/// here.
template <int D, class Real>
SS_HD void invert_block(const Scaled<Real>& s, int k, Real* v) {
  const int a = s.block[k];
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j < D; ++j) v[i * D + j] = s.at(a + i, a + j);
    v[i * D + i] = fma(Real(1e-9), v[i * D + i], v[i * D + i]) + Real(1e-13) * s.rho_inv[a];
  }
  for (int p = 0; p < D; ++p) {  // in-place inversion; positive definite, so no pivoting
    const Real inverse = Real(1) / v[p * D + p];
    v[p * D + p] = Real(1);
    for (int j = 0; j < D; ++j) v[p * D + j] *= inverse;
    for (int i = 0; i < D; ++i) {
      if (i == p) continue;
      const Real f = v[i * D + p];
      v[i * D + p] = Real(0);
      for (int j = 0; j < D; ++j) v[i * D + j] = fma(-f, v[p * D + j], v[i * D + j]);
    }
  }
}

/// One contact block in registers: c = u - W_kk z is its velocity at zero impulse.
template <class Real, int D>
struct LocalBlock {
  const Scaled<Real>& s;
  int a;
  Real mu;
  Real c[D], x[D];

  SS_HD Real w(int i, int j) const { return s.at(a + i, a + j); }

  /// The impulse that stops the block entirely (exact stick), if the cone allows it.
  SS_HD bool stick(const Real* inverse) {
    Real y[D], length = Real(0);
    for (int i = 0; i < D; ++i) {
      y[i] = Real(0);
      for (int j = 0; j < D; ++j) y[i] = fma(-inverse[i * D + j], c[j], y[i]);
      if (i > 0) length = fma(y[i], y[i], length);
    }
    if (!(y[0] >= Real(0)) || length > mu * mu * y[0] * y[0]) return false;
    for (int i = 0; i < D; ++i) x[i] = y[i];
    return true;
  }

  /// Sliding: r_t = mu r_n e with u_n = 0, the direction e by fixed-point steps of
  /// e <- (r_t - rho_t u_t) / |r_t - rho_t u_t|.
  SS_HD void slide(int steps) {
    Real e[D];
    direction_of(x, e);
    const Real rho = s.rho[a + 1];
    for (int step = 0;; ++step) {
      Real along = w(0, 0);
      for (int j = 1; j < D; ++j) along = fma(mu * w(0, j), e[j], along);
      // Painlevé's side (along <= 0) has no sliding solution here: stay on the safe one.
      const Real normal = -c[0] / max(along, Real(0.05) * s.rho_inv[a]);
      x[0] = normal;
      for (int j = 1; j < D; ++j) x[j] = mu * normal * e[j];
      if (step == steps) return;
      Real y[D];
      y[0] = Real(0);
      for (int i = 1; i < D; ++i) {
        Real u = c[i];
        for (int j = 0; j < D; ++j) u = fma(w(i, j), x[j], u);
        y[i] = fma(-rho, u, x[i]);
      }
      if (!normalise(y, e)) return;
    }
  }

  /// Four projected-gradient steps on the convex cone.
  SS_HD void project_gradient() {
    const Real rho = s.rho[a];
    for (int step = 0; step < 4; ++step) {
      Real y[D], length = Real(0);
      for (int i = 0; i < D; ++i) {
        Real u = c[i];
        for (int j = 0; j < D; ++j) u = fma(w(i, j), x[j], u);
        y[i] = fma(-rho, u, x[i]);
        if (i > 0) length = fma(y[i], y[i], length);
      }
      const auto projected = project_cone(mu, y[0], sqrt(length));
      x[0] = projected.normal;
      for (int i = 1; i < D; ++i) x[i] = projected.factor * y[i];
    }
  }

  /// Axis by axis: the normal first, then each tangent within mu r_n.
  SS_HD void clamp_axes() {
    for (int i = 0; i < D; ++i) {
      Real u = c[i];
      for (int j = 0; j < D; ++j) u = fma(w(i, j), x[j], u);
      const Real y = x[i] - u / max(w(i, i), Real(1e-12));
      x[i] = i == 0 ? max(Real(0), y) : project_square(y, mu * x[0]);
    }
  }

 private:
  /// e = v_t / |v_t|; the free velocity's opposite, then the first tangent, where v_t vanishes.
  SS_HD void direction_of(const Real* v, Real* e) {
    if (normalise(v, e)) return;
    Real opposite[D];
    for (int j = 0; j < D; ++j) opposite[j] = -c[j];
    if (normalise(opposite, e)) return;
    for (int j = 1; j < D; ++j) e[j] = Real(j == 1 ? 1 : 0);
  }
  SS_HD static bool normalise(const Real* v, Real* e) {
    Real length = Real(0);
    for (int j = 1; j < D; ++j) length = fma(v[j], v[j], length);
    length = sqrt(length);
    if (!(length > Real(1e-15))) return false;
    const Real inverse = Real(1) / length;
    for (int j = 1; j < D; ++j) e[j] = v[j] * inverse;
    return true;
  }
};

/// Solves block k for x, given c and the old impulse in x.
template <class Real, int D>
SS_HD void solve_local(LocalBlock<Real, D>& block, const Real* inverse, Law law, int slide_steps) {
  const bool open = block.c[0] >= Real(0);
  if (open && (law == Law::coulomb || law == Law::frictionless)) {
    for (int i = 0; i < D; ++i) block.x[i] = Real(0);
  } else if (law == Law::frictionless) {
    block.x[0] = -block.c[0] / block.s.rho_inv[block.a];
    for (int i = 1; i < D; ++i) block.x[i] = Real(0);
  } else if (law == Law::box) {
    block.clamp_axes();
  } else if (!block.stick(inverse)) {
    if (law == Law::coulomb) {
      block.slide(slide_steps);
    } else {
      block.project_gradient();
    }
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
