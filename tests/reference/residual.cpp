#include <cmath>
#include <limits>
#include <utility>

#include "tests/reference/blocks.hpp"
#include "tests/reference/projection.hpp"

namespace stickslip::reference {
namespace {

/// A contact block's impulse or velocity in circular coordinates; rows with mu_j = 0 are 0.
template <class Real>
struct CircularBlock {
  VectorOf<Real> r, u;
  VectorOf<Real> excluded;  ///< the impulses of the rows with mu_j = 0, which should be 0
};

template <class Real>
CircularBlock<Real> to_circular(const Block& block, const Circular<Real>& c,
                                const VectorOf<Real>& r, const VectorOf<Real>& u) {
  CircularBlock<Real> out{r.segment(block.row, block.size), u.segment(block.row, block.size),
                          VectorOf<Real>::Zero(block.size)};
  for (int i = 0; i < block.size; ++i) {
    out.u[i] *= c.scale[i];
    if (c.scale[i] != 0) {
      out.r[i] /= c.scale[i];
    } else {
      out.excluded[i] = std::exchange(out.r[i], Real(0));
    }
  }
  return out;
}

/// P_k of §4 for a contact: onto the circular cone, or normal and tangents separately, the latter
/// onto the section of the cone at the normal impulse r_n.
template <class Real>
VectorOf<Real> project_contact(const VectorOf<Real>& y, Real r_n, Real mu1, Law law,
                               int directions) {
  if (law == Law::coulomb || law == Law::convex) return project_circular(y, mu1);
  const Real radius = mu1 * std::max(r_n, Real(0));
  const VectorOf<Real> t = y.tail(y.size() - 1);
  VectorOf<Real> projected = VectorOf<Real>::Zero(y.size());
  projected[0] = std::max(y[0], Real(0));
  if (law == Law::pyramid) {
    projected.tail(t.size()) =
        directions > 4 ? project_polygon(t, radius, directions) : project_diamond(t, radius);
  }
  if (law == Law::box) projected.tail(t.size()) = project_square(t, radius);
  return projected;
}

template <class Real>
VectorOf<Real> contact_map(const CircularBlock<Real>& x, Real mu1, Real rho, Law law,
                           int directions) {
  VectorOf<Real> shifted = x.u;
  if (law == Law::coulomb) shifted[0] += mu1 * x.u.tail(x.u.size() - 1).norm();  // De Saxce
  const VectorOf<Real> y = x.r - rho * shifted;
  const VectorOf<Real> nearest = project_contact(y, Real(x.r[0]), mu1, law, directions);
  if (nearest == y) return rho * shifted + x.excluded;  // r - y would be the rounding of a large r
  return x.r - nearest + x.excluded;
}

/// Directions in a contact's sliding plane: a row without friction leaves only the axes.
template <class Real>
int plane_directions(const Problem& problem, const Circular<Real>& c) {
  return c.scale[1] > 0 && c.scale[2] > 0 ? problem.directions : 4;
}

/// Amount by which a contact's impulses exceed the limit from r_n, N s.
double excess(const CircularBlock<double>& x, double mu1, Law law, int directions) {
  const Vector t = x.r.tail(x.r.size() - 1);
  const double limit = mu1 * std::max(x.r[0], 0.0);
  const double used = law == Law::box ? t.lpNorm<Eigen::Infinity>()
                      : law == Law::pyramid
                          ? (directions > 4 ? polygon_gauge(t, directions) : t.lpNorm<1>())
                          : t.norm();
  return std::max({0.0, -x.r[0], used - limit, x.excluded.lpNorm<Eigen::Infinity>()});
}

template <class Real>
Real row_map(const Problem& problem, const Block& block, Real r, Real u, Real rho) {
  if (block.kind == Kind::free) return rho * u;
  if (block.kind == Kind::nonneg) return std::min(r, rho * u);
  const Real lo = problem.lo[block.parameter];
  const Real hi = problem.hi[block.parameter];
  return r - std::min(hi, std::max(lo, r - rho * u));
}

/// Largest diagonal entry of (W + R) in circular coordinates, block by block.
template <class Real>
VectorOf<Real> largest_diagonals(const Problem& problem, const std::vector<Block>& all, Law law) {
  const VectorOf<Real> diagonal =
      problem.W.diagonal().cast<Real>() + problem.R.template cast<Real>();
  VectorOf<Real> largest(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const VectorOf<Real> scale = circular<Real>(problem, all[k], law).scale;
    largest[k] =
        (scale.array().square() * diagonal.segment(all[k].row, all[k].size).array()).maxCoeff();
  }
  return largest;
}

template <class Real>
VectorOf<Real> velocity_in(const Problem& problem, const Vector& r) {
  const VectorOf<Real> given = r.template cast<Real>();
  return problem.W.template cast<Real>() * given +
         problem.R.template cast<Real>().cwiseProduct(given) + problem.b.template cast<Real>();
}

/// The natural map, row by row: `value` is F and `rho` the step of the row's block (§4).
template <class Real>
struct NaturalMapIn {
  VectorOf<Real> value, rho;
};

template <class Real>
NaturalMapIn<Real> natural_map_in(const Problem& problem, const Vector& given, Law law) {
  const std::vector<Block> all = blocks(problem);
  const VectorOf<Real> r = given.template cast<Real>(), u = velocity_in<Real>(problem, given);
  const VectorOf<Real> largest = largest_diagonals<Real>(problem, all, law);
  const Real whole = all.empty() || largest.maxCoeff() <= 0 ? Real(1) : largest.maxCoeff();
  NaturalMapIn<Real> map{VectorOf<Real>(u.size()), VectorOf<Real>(u.size())};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Block& block = all[k];
    const Real rho = 1 / (largest[k] > 0 ? largest[k] : whole);
    map.rho.segment(block.row, block.size).setConstant(rho);
    if (block.kind != Kind::contact) {
      map.value[block.row] = row_map(problem, block, Real(r[block.row]), Real(u[block.row]), rho);
      continue;
    }
    const Circular<Real> c = circular<Real>(problem, block, law);
    map.value.segment(block.row, block.size) =
        contact_map(to_circular(block, c, r, u), c.mu1, rho, law, plane_directions(problem, c));
  }
  return map;
}

}  // namespace

Vector velocity(const Problem& problem, const Vector& r) { return velocity_in<double>(problem, r); }

NaturalMap natural_map(const Problem& problem, const Vector& r, Law law) {
  auto map = natural_map_in<double>(problem, r, law);
  return {std::move(map.value), std::move(map.rho)};
}

double residual(const Problem& problem, const Vector& r, Law law) {
  // 0 * NaN and comparisons can hide NaN, so test for it explicitly.
  const bool all_numbers = problem.W.allFinite() && problem.b.allFinite() &&
                           problem.mu.allFinite() && problem.R.allFinite() && r.allFinite() &&
                           !problem.lo.hasNaN() && !problem.hi.hasNaN();
  if (!all_numbers) return std::numeric_limits<double>::infinity();
  if (r.size() == 0) return 0.0;
  const auto map = natural_map_in<long double>(problem, r, law);
  const auto value = double(map.value.cwiseQuotient(map.rho).lpNorm<Eigen::Infinity>());
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

Measures measures(const Problem& problem, const Vector& r, Law law) {
  Measures out;
  out.residual = residual(problem, r, law);
  const Vector u = velocity(problem, r);
  for (const Block& block : blocks(problem)) {
    const double r_0 = r[block.row];
    const double u_0 = u[block.row];
    double outside = 0.0;
    if (block.kind == Kind::nonneg) outside = std::max(0.0, -r_0);
    if (block.kind == Kind::box) {
      outside =
          std::max({0.0, problem.lo[block.parameter] - r_0, r_0 - problem.hi[block.parameter]});
    }
    if (block.kind == Kind::contact) {
      const Circular<double> c = circular<double>(problem, block, law);
      const CircularBlock<double> x = to_circular(block, c, r, u);
      const Vector r_t = x.r.tail(block.size - 1);
      const Vector u_t = x.u.tail(block.size - 1);
      outside = excess(x, c.mu1, law, plane_directions(problem, c));
      out.misalignment = std::max(out.misalignment, r_t.norm() * u_t.norm() + r_t.dot(u_t));
    }
    out.cone_violation = std::max(out.cone_violation, outside);
    if (block.kind == Kind::nonneg || block.kind == Kind::contact) {
      out.penetration = std::max(out.penetration, -u_0);
      out.complementarity = std::max(out.complementarity, std::abs(r_0 * u_0));
    }
  }
  return out;
}

}  // namespace stickslip::reference
