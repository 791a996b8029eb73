// What the laws with a circular cone share: ||r_t|| <= mu r_n in circular coordinates.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/law/block_rows.hpp"
#include "kernels/law/limits.hpp"
#include "kernels/law/rounding.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// ||F_k||_inf / rho_k of a contact block, and its rounding; with De Saxce's `shift` of the gap.
/// Where the projection is the identity, F = rho (u + Gamma) is computed without cancellation;
/// rounding of r does not count there, unless it could move y out of the cone.
template <int dim, class Scalar>
SS_HD Wide<Scalar> cone_block_residual(const BlockView<Scalar>& v, bool shifted) {
  using Number = Wide<Scalar>;
  const Rounding<Number> rounding = block_rounding(v.p, v.r, v.u, v.k);
  // Gamma = mu ||u_t|| e_n
  const Number shift = shifted ? Number(v.mu * v.sliding_speed()) : Number(0.0);
  const Number u_n = v.u[v.row()] + shift;
  const Number r_n = Number(v.r[v.row()]);
  const Number inverse_rho = v.inverse_rho(), rho = 1.0 / inverse_rho;
  const Number y_n = fma(-rho, u_n, r_n);
  Number length = 0.0;
  for (int j = 1; j < dim; ++j) {
    const Number y = select(v.scale(j) > 0.0, fma(-rho, v.u_hat(j), v.r_hat(j)), Number(0.0));
    length = fma(y, y, length);
  }
  length = sqrt(length);
  const auto projected = project_cone(v.mu, y_n, length);
  // Distance of y from the boundary of the cone, times 1 + mu; divisions are slow.
  const Number room = inverse_rho * select(v.mu > 0.0, fma(v.mu, y_n, -length), y_n);
  const auto deep = room > (1.0 + v.mu) * (rounding.velocity + rounding.impulse);
  Number worst = select(projected.inside, abs(u_n), abs(r_n - projected.normal) * inverse_rho);
  for (int j = 1; j < dim; ++j) {
    const Number y = fma(-rho, v.u_hat(j), v.r_hat(j));
    const Number coupled = select(projected.inside, abs(v.u_hat(j)),
                                  abs(fma(-projected.factor, y, v.r_hat(j))) * inverse_rho);
    worst = max(worst, select(v.scale(j) > 0.0, coupled, abs(v.r_hat(j)) * inverse_rho));
  }
  const Number value =
      widened(worst) + rounding.velocity + select(deep, Number(0.0), rounding.impulse);
  // Infinite shift or length: their squares overflow, and the projection means nothing.
  return select(is_finite(shift + length), value, Number(Limits<double>::infinity));
}

/// The same for every dimension of a block.
template <class Scalar>
SS_HD Wide<Scalar> cone_residual(const BlockView<Scalar>& v, bool shifted) {
  Wide<Scalar> worst = 0.0;
  with_dim(v.dim, [&](auto dim) { worst = cone_block_residual<dim()>(v, shifted); });
  return worst;
}

/// Moves r onto the cone: r_n >= 0, then friction shorter, with r_n as it is.
template <int dim, class Scalar>
SS_HD void make_circular(const EnvProblem<Scalar>& p, int k, Scalar* r) {
  using Number = Wide<Scalar>;
  Number square = 0.0;  // share of the allowed friction that is used, squared
  limit_friction<dim>(p, k, r, [&](int, Number r_j, Number, Number share) {
    square = fma(share, share, square);
    return r_j;
  });
  shorten_friction<dim>(p, k, r, square > 1.0, [&] { return Number(1.0 / sqrt(square)); });
}

/// How far the impulses of a block lie outside the cone, N s.
template <class Scalar>
SS_HD double circular_violation(const BlockView<Scalar>& v) {
  const double r_n = double(v.r[v.row()]);
  double square = 0.0, worst = max(0.0, -r_n);
  for (int j = 1; j < v.dim; ++j) {
    const double r_j = v.r_hat(j);
    if (v.scale(j) > 0.0) {
      square = fma(r_j, r_j, square);
    } else {
      worst = max(worst, abs(r_j));
    }
  }
  return max(worst, sqrt(square) - v.mu * max(r_n, 0.0));
}

/// The residual from which on y may lie on the other side of the cone, at the distance `gap` =
/// | ||y_t|| - mu y_n | (not that along the normal). With y_t moved by t_j = +-a_j F_j,
///   ||y_t + t|| - ||y_t|| = (2 y_t . t + ||t||^2) / (||y_t + t|| + ||y_t||),
/// where the last sum is about mu y_n + ||y_t||. So gap = F L + F^2 X / (mu y_n + ||y_t||), L^2
/// being 1 + mu^2 if every a_j is 1 and X what softer rows add across y_t.
template <int dim, class Soft>
SS_HD double firm_in_cone(const BlockRows<dim>& v, double gap, double y_n, double length,
                          double along_most, Soft&& across) {
  const double square = length * length, sum = length + max(v.mu * y_n, 0.0);
  double along = 1.0, beside = 0.0, most = 0.0;
  for (int j = 1; j < dim; ++j) {
    if (!v.is_free(j)) continue;
    const double share = length > 0.0 ? v.y(j) * v.y(j) / square : 0.0;
    const double soft = across(v.softness[j]);
    along = fma(share, min(soft, along_most) - 1.0, along);
    beside = max(beside, (1.0 - share) * fma(soft, soft, -1.0));
    most = max(most, soft);
  }
  const double normal = v.softness[0];
  const double linear = fma(v.mu * v.mu, normal, along) * max(max(most, normal), 1.0);
  const double curved = sum > 0.0 ? 4.0 * gap / sum * beside : 0.0;
  return 2.0 * gap / (sqrt(linear) + sqrt(linear + curved));
}

/// The rows of a contact near a solution. Sliding, with e = -y_t / |y_t|, P = I - e e^T and kappa =
/// mu z_n / |y_t|; this form does not divide by the sliding speed:
///   du_n - nu mu e . du_t = 0,   nu = 0 with De Saxce's `shift` of the gap, else 1
///   mu e dz_n + (e e^T + (1 - kappa) P) dz_t + kappa rho P du_t = 0
template <int dim>
SS_HD ContactState differentiate_cone(const BlockRows<dim>& v, bool shifted) {
  double length = 0.0, speed = 0.0;
  for (int j = 1; j < dim; ++j) {
    length = fma(v.y(j), v.y(j), length);
    speed = fma(v.u[j], v.u[j], speed);
  }
  length = sqrt(length);
  const double y_n = fma(-v.rho, fma(shifted ? v.mu : 0.0, sqrt(speed), v.u[0]), v.z[0]);
  if (!(v.mu > 0.0)) return {y_n > 0.0 ? Contact::stick : Contact::open, abs(y_n), abs(y_n)};
  // Signed distances to the cone and to its polar cone, where the projection changes.
  const double unit = 1.0 / sqrt(fma(v.mu, v.mu, 1.0));
  const double to_cone = fma(-v.mu, y_n, length) * unit, to_polar = fma(v.mu, length, y_n) * unit;
  const double gap = abs(fma(-v.mu, y_n, length)), infinity = Limits<double>::infinity;
  if (to_cone <= 0.0) {
    const auto own = [](double soft) { return soft; };
    return {Contact::stick, -to_cone, firm_in_cone(v, gap, y_n, length, infinity, own)};
  }
  if (to_polar <= 0.0) return {Contact::open, -to_polar, -to_polar};
  const double inverse = 1.0 / length;
  const double kappa = min(v.mu * max(v.z[0], 0.0) * inverse, 1.0);
  v.b(0, 0) = 1.0;
  for (int i = 1; i < dim; ++i) {
    const double e_i = -v.y(i) * inverse;
    v.a(i, 0) = v.mu * e_i;
    if (!shifted) v.b(0, i) = -v.mu * e_i;
    for (int j = 1; j < dim; ++j) {
      const double along = -e_i * v.y(j) * inverse, across = (i == j ? 1.0 : 0.0) - along;
      v.a(i, j) = fma(1.0 - kappa, across, along);
      v.b(i, j) = kappa * v.rho * across;
    }
  }
  // Across y_t, (1 - kappa) dz + kappa rho W_hat dz = F; along it, z is given.
  const auto sliding = [&](double soft) { return 1.0 / fma(kappa, 1.0 / soft - 1.0, 1.0); };
  Nearest nearest{to_cone, firm_in_cone(v, gap, y_n, length, 1.0, sliding)};
  nearest.see(to_polar, unit * sqrt(fma(v.mu, v.mu, v.softness[0] * v.softness[0])));
  return {Contact::slide, nearest.margin, nearest.firm};
}

/// The second derivative of the rows of a sliding contact along (z1, u1) and (z2, u2), which both
/// fulfil the rows; added to `bend`. With de = -P dy / |y_t|, the change of e:
///   -nu mu |u_t| de1 . de2                                                              normal
///   t1 de2 + t2 de1 - mu z_n (de1 . de2) e,   t = (1 - kappa) mu dz_n - kappa rho e . du_t
template <int dim>
SS_HD void bend_cone(const BlockRows<dim>& v, bool shifted, const BlockPath& one,
                     const BlockPath& two, double* bend) {
  double length = 0.0, speed = 0.0;
  for (int j = 1; j < dim; ++j) {
    length = fma(v.y(j), v.y(j), length);
    speed = fma(v.u[j], v.u[j], speed);
  }
  const double inverse = 1.0 / sqrt(length), normal = max(v.z[0], 0.0);
  const double kappa = min(v.mu * normal * inverse, 1.0);
  double e[dim], turn[2][dim], pull[2], both = 0.0;
  for (int j = 1; j < dim; ++j) e[j] = -v.y(j) * inverse;
  for (int side = 0; side < 2; ++side) {
    const BlockPath& path = side == 0 ? one : two;
    double slip = 0.0, along = 0.0;
    for (int j = 1; j < dim; ++j) {
      turn[side][j] = fma(-v.rho, path.u[j], path.z[j]);
      along = fma(e[j], turn[side][j], along);
      slip = fma(e[j], path.u[j], slip);
    }
    for (int j = 1; j < dim; ++j) turn[side][j] = inverse * fma(along, e[j], -turn[side][j]);
    pull[side] = fma((1.0 - kappa) * v.mu, path.z[0], -(kappa * v.rho * slip));
  }
  for (int j = 1; j < dim; ++j) both = fma(turn[0][j], turn[1][j], both);
  if (!shifted) bend[0] = fma(-v.mu * sqrt(speed), both, bend[0]);
  for (int j = 1; j < dim; ++j) {
    const double turned = fma(pull[0], turn[1][j], pull[1] * turn[0][j]);
    bend[j] += fma(-(v.mu * normal * both), e[j], turned);
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
