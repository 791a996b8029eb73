// The one residual (docs/mathematics.md §4): the natural map in circular coordinates, evaluated in
// double from (W, b, mu, R, r) as given. No solver measures itself by anything else.
#pragma once
#include "kernels/cone/polygon.hpp"
#include "kernels/cone/project.hpp"
#include "kernels/law/env_problem.hpp"
#include "kernels/linalg/matvec.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// What the residual of one block needs, in circular coordinates: r_hat_j = r_j mu_1 / mu_j,
/// u_hat_j = u_j mu_j / mu_1.
template <class In>
struct BlockView {
  const EnvProblem<In>& p;
  const In* r;
  const Wide<In>* u;  ///< u_R = (W + diag R) r + b, physical
  int k;              ///< block
  int dim;
  Wide<In> mu;  ///< slope mu_1

  SS_HD Wide<In> scale(int j) const { return p.circular[row() + j]; }
  SS_HD int row() const { return p.block[k]; }
  /// Impulse in circular coordinates. A row without friction keeps its raw value: it should be 0.
  SS_HD Wide<In> r_hat(int j) const {
    return Wide<In>(r[row() + j]) * p.circular_inverse[row() + j];
  }
  SS_HD Wide<In> u_hat(int j) const { return u[row() + j] * scale(j); }
  /// ||u_hat_t||
  SS_HD Wide<In> sliding_speed() const {
    Wide<In> s = 0.0;
    for (int j = 1; j < dim; ++j) s = fma(u_hat(j), u_hat(j), s);
    return sqrt(s);
  }
  SS_HD Wide<In> inverse_rho() const { return p.stiffness[p.first_contact_row() + k]; }
};

/// ||F_k||_inf / rho_k of a contact block under coulomb or convex.
/// Where the projection is the identity, F = rho (u + Gamma) is taken without the cancellation.
template <int dim, class In>
SS_HD Wide<In> cone_block_residual(const BlockView<In>& v, bool coulomb) {
  using Number = Wide<In>;
  // Gamma = mu ||u_t|| e_n
  const Number shift = coulomb ? Number(v.mu * v.sliding_speed()) : Number(0.0);
  const Number u_n = v.u[v.row()] + shift;
  const Number r_n = Number(v.r[v.row()]);
  const Number inverse_rho = v.inverse_rho(), rho = 1.0 / inverse_rho;
  const Number y_n = fma(-rho, u_n, r_n);
  Number length = 0.0;
  for (int j = 1; j < dim; ++j) {
    const Number y = select(v.scale(j) > 0.0, fma(-rho, v.u_hat(j), v.r_hat(j)), Number(0.0));
    length = fma(y, y, length);
  }
  const auto projected = project_cone(v.mu, y_n, sqrt(length));
  Number worst = select(projected.inside, abs(u_n), abs(r_n - projected.normal) * inverse_rho);
  for (int j = 1; j < dim; ++j) {
    const Number y = fma(-rho, v.u_hat(j), v.r_hat(j));
    const Number coupled = select(projected.inside, abs(v.u_hat(j)),
                                  abs(fma(-projected.factor, y, v.r_hat(j))) * inverse_rho);
    worst = max(worst, select(v.scale(j) > 0.0, coupled, abs(v.r_hat(j)) * inverse_rho));
  }
  return worst;
}

/// The same under pyramid (diamond or polygon) and box (square): the set scales with max(r_n, 0).
template <class In>
SS_HD Wide<In> faceted_block_residual(const BlockView<In>& v, bool diamond) {
  using Number = Wide<In>;
  const Number inverse_rho = v.inverse_rho(), rho = 1.0 / inverse_rho;
  const Number r_n = Number(v.r[v.row()]), u_n = v.u[v.row()];
  Number worst = min(r_n, rho * u_n);
  worst = abs(worst) * inverse_rho;
  const Number radius = v.mu * max(r_n, Number(0.0));
  const auto y = [&](int i) {
    return select(v.scale(i + 1) > 0.0, fma(-rho, v.u_hat(i + 1), v.r_hat(i + 1)), Number(0.0));
  };
  const auto take = [&](int j, Number x) {
    const auto interior = (x == y(j - 1)) & (v.scale(j) > 0.0);
    worst = max(worst, select(interior, abs(v.u_hat(j)), abs(v.r_hat(j) - x) * inverse_rho));
  };
  if constexpr (kIsPlain<In>) {
    if (diamond) {
      const bool polygon = v.p.has_polygon(v.k);
      double tau = 0.0;
      PlanePoint plane{y(0), y(1)};
      if (polygon) {
        const auto rest = [&](int i) { return y(i + 2); };
        tau = polygon_threshold(v.p.directions, radius, plane.x, plane.y, v.dim - 3, rest);
        if (tau > 0.0) plane = polygon_shrink(v.p.directions, tau, plane.x, plane.y);
      } else {
        tau = diamond_threshold(radius, v.dim - 1, y);
      }
      for (int j = 1; j < v.dim; ++j) {
        take(j, polygon && j < 3 ? (j == 1 ? plane.x : plane.y) : shrink(y(j - 1), tau));
      }
      return worst;
    }
  }
  for (int j = 1; j < v.dim; ++j) take(j, project_square(y(j - 1), radius));
  return worst;
}

template <class In>
SS_HD Wide<In> frictionless_block_residual(const BlockView<In>& v) {
  using Number = Wide<In>;
  const Number inverse_rho = v.inverse_rho();
  const Number r_n = Number(v.r[v.row()]), u_n = v.u[v.row()];
  Number worst = abs(min(r_n, u_n / inverse_rho)) * inverse_rho;
  for (int j = 1; j < v.dim; ++j) {
    worst = max(worst, abs(Number(v.r[v.row() + j])) * inverse_rho);
  }
  return worst;
}

/// |F_i| / rho_i of the scalar row i.
template <class In>
SS_HD Wide<In> scalar_residual(const EnvProblem<In>& p, const In* r, const Wide<In>* u, int i) {
  using Number = Wide<In>;
  if (i < p.n_free) return abs(u[i]);
  const Number inverse_rho = p.stiffness[i];
  const Number y = Number(r[i]) - u[i] / inverse_rho;
  const Number lo = p.lower(i), hi = p.upper(i);
  return select((y > lo) & (y < hi), abs(u[i]), abs(Number(r[i]) - clamp(y, lo, hi)) * inverse_rho);
}

template <class In>
SS_HD BlockView<In> block_view(const EnvProblem<In>& p, const In* r, const Wide<In>* u, int k) {
  return {p, r, u, k, p.block[k + 1] - p.block[k], p.slope[k]};
}

/// The residual of one scalar row or block, u being finite.
template <class In>
SS_HD Wide<In> item_residual(const EnvProblem<In>& p, Law law, const In* r, const Wide<In>* u,
                             int item) {
  const int scalars = p.first_contact_row();
  if (item < scalars) return scalar_residual(p, r, u, item);
  const auto v = block_view(p, r, u, item - scalars);
  if (law == Law::frictionless) return frictionless_block_residual(v);
  if (law == Law::pyramid || law == Law::box) {
    return faceted_block_residual(v, law == Law::pyramid);
  }
  Wide<In> worst = 0.0;
  with_dim(v.dim, [&](auto dim) { worst = cone_block_residual<dim()>(v, law == Law::coulomb); });
  return worst;
}

/// u_R = (W + diag R) r + b by the matrix W.
template <class In>
struct MatrixVelocity {
  const EnvProblem<In>& p;
  template <class G>
  SS_HD void operator()(const G& g, const In* r, Wide<In>* u) const {
    using Number = Wide<In>;
    const auto start = [&](int i) { return fma(p.compliance(i), Number(r[i]), Number(p.b[i])); };
    matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, r, start, u);
  }
};

/// Residual of impulses r (m/s) and their velocities u_R. Infinite for NaN.
template <class G, class In>
SS_HD Wide<In> natural_map(const G& g, const EnvProblem<In>& p, Law law, const In* r,
                           const Wide<In>* u) {
  using Number = Wide<In>;
  const int scalars = p.first_contact_row();
  return g.max(scalars + p.n_contacts, [&](int item) {
    const int begin = item < scalars ? item : p.block[item - scalars];
    const int end = item < scalars ? item + 1 : p.block[item - scalars + 1];
    Mask<Number> finite = true;
    for (int i = begin; i < end; ++i) finite = finite & is_finite(u[i]);
    if (!any(finite)) return Number(Limits<double>::infinity);
    return select(finite, item_residual(p, law, r, u, item), Number(Limits<double>::infinity));
  });
}

/// Residual of impulses r (m/s); u: scratch of n doubles, left holding u_R. Infinite for NaN.
template <class G, class In>
SS_HD Wide<In> residual(const G& g, const EnvProblem<In>& p, Law law, const In* r, Wide<In>* u) {
  MatrixVelocity<In>{p}(g, r, u);
  return natural_map(g, p, law, r, u);
}

}  // namespace stickslip::kernels::inline SS_ISA
