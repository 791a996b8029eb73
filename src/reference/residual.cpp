#include <cmath>
#include <limits>
#include <utility>

#include "src/reference/blocks.hpp"
#include "src/reference/projection.hpp"

namespace stickslip::reference {
namespace {

/// A contact block's impulse or velocity in circular coordinates; rows with mu_j = 0 are 0.
struct CircularBlock {
  Vector r, u;
  Vector excluded;  ///< the impulses of the rows with mu_j = 0, which should be 0
};

CircularBlock to_circular(const Block& block, const Circular& c, const Vector& r, const Vector& u) {
  CircularBlock out{r.segment(block.row, block.size), u.segment(block.row, block.size),
                    Vector::Zero(block.size)};
  for (int i = 0; i < block.size; ++i) {
    out.u[i] *= c.scale[i];
    if (c.scale[i] != 0.0) {
      out.r[i] /= c.scale[i];
    } else {
      out.excluded[i] = std::exchange(out.r[i], 0.0);
    }
  }
  return out;
}

/// P_k of §4 for a contact: onto the circular cone, or normal and tangents each by itself, the
/// latter onto the section of the cone at the normal impulse r_n.
Vector project_contact(const Vector& y, double r_n, double mu1, Law law, int directions) {
  if (law == Law::coulomb || law == Law::convex) return project_circular(y, mu1);
  const double radius = mu1 * std::max(r_n, 0.0);
  const Vector t = y.tail(y.size() - 1);
  Vector projected = Vector::Zero(y.size());
  projected[0] = std::max(y[0], 0.0);
  if (law == Law::pyramid) {
    projected.tail(t.size()) =
        directions > 4 ? project_polygon(t, radius, directions) : project_diamond(t, radius);
  }
  if (law == Law::box) projected.tail(t.size()) = project_square(t, radius);
  return projected;
}

Vector contact_map(const CircularBlock& x, double mu1, double rho, Law law, int directions) {
  Vector shifted = x.u;
  if (law == Law::coulomb) shifted[0] += mu1 * x.u.tail(x.u.size() - 1).norm();  // De Saxce
  return x.r - project_contact(x.r - rho * shifted, x.r[0], mu1, law, directions) + x.excluded;
}

/// Directions in a contact's sliding plane: a row without friction leaves the axes only.
int plane_directions(const Problem& problem, const Circular& c) {
  return c.scale[1] > 0.0 && c.scale[2] > 0.0 ? problem.directions : 4;
}

/// By how much a contact's impulses exceed what r_n allows, N s.
double excess(const CircularBlock& x, double mu1, Law law, int directions) {
  const Vector t = x.r.tail(x.r.size() - 1);
  const double limit = mu1 * std::max(x.r[0], 0.0);
  const double used = law == Law::box ? t.lpNorm<Eigen::Infinity>()
                      : law == Law::pyramid
                          ? (directions > 4 ? polygon_gauge(t, directions) : t.lpNorm<1>())
                          : t.norm();
  return std::max({0.0, -x.r[0], used - limit, x.excluded.lpNorm<Eigen::Infinity>()});
}

double row_map(const Problem& problem, const Block& block, double r, double u, double rho) {
  if (block.kind == Kind::free) return rho * u;
  if (block.kind == Kind::nonneg) return std::min(r, rho * u);
  const double lo = problem.lo[block.parameter];
  const double hi = problem.hi[block.parameter];
  return r - std::min(hi, std::max(lo, r - rho * u));
}

/// Largest diagonal entry of (W + R) in circular coordinates, block by block.
Vector largest_diagonals(const Problem& problem, const std::vector<Block>& all, Law law) {
  const Vector diagonal = problem.W.diagonal() + problem.R;
  Vector largest(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Vector scale = circular(problem, all[k], law).scale;
    largest[k] =
        (scale.array().square() * diagonal.segment(all[k].row, all[k].size).array()).maxCoeff();
  }
  return largest;
}

}  // namespace

Vector velocity(const Problem& problem, const Vector& r) {
  return problem.W * r + problem.R.cwiseProduct(r) + problem.b;
}

NaturalMap natural_map(const Problem& problem, const Vector& r, Law law) {
  const std::vector<Block> all = blocks(problem);
  const Vector u = velocity(problem, r);
  const Vector largest = largest_diagonals(problem, all, law);
  const double whole = all.empty() || largest.maxCoeff() <= 0.0 ? 1.0 : largest.maxCoeff();
  NaturalMap map{Vector(u.size()), Vector(u.size())};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Block& block = all[k];
    const double rho = 1.0 / (largest[k] > 0.0 ? largest[k] : whole);
    map.rho.segment(block.row, block.size).setConstant(rho);
    if (block.kind != Kind::contact) {
      map.value[block.row] = row_map(problem, block, r[block.row], u[block.row], rho);
      continue;
    }
    const Circular c = circular(problem, block, law);
    map.value.segment(block.row, block.size) =
        contact_map(to_circular(block, c, r, u), c.mu1, rho, law, plane_directions(problem, c));
  }
  return map;
}

double residual(const Problem& problem, const Vector& r, Law law) {
  // 0 * NaN and comparisons swallow NaN in places, so ask for it instead of trusting the maximum.
  const bool all_numbers = problem.W.allFinite() && problem.b.allFinite() &&
                           problem.mu.allFinite() && problem.R.allFinite() && r.allFinite() &&
                           !problem.lo.hasNaN() && !problem.hi.hasNaN();
  if (!all_numbers) return std::numeric_limits<double>::infinity();
  if (r.size() == 0) return 0.0;
  const NaturalMap map = natural_map(problem, r, law);
  const double value = map.value.cwiseQuotient(map.rho).lpNorm<Eigen::Infinity>();
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
      const Circular c = circular(problem, block, law);
      const CircularBlock x = to_circular(block, c, r, u);
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
