// The friction pyramid (Stewart & Trinkle 1996): Coulomb's disk as a polygon of `directions`
// corners in the sliding plane (4: the diamond sum |r_j| <= mu r_n), of maximal dissipation: a
// linear complementarity problem, for Lemke's method. Rows beyond the sliding plane join the
// diamond.
#pragma once
#include "kernels/law/block_rows.hpp"
#include "kernels/law/facets.hpp"
#include "kernels/law/facts.hpp"
#include "kernels/law/limits.hpp"

namespace stickslip::kernels::inline SS_ISA {

struct Pyramid {
  SS_HD static constexpr LawFacts facts() { return {.ladder = LadderKind::pivots}; }
  SS_HD static constexpr bool supports(Solver solver) {
    return solver == Solver::automatic || solver == Solver::lemke;
  }

  /// ||F||_inf / rho of a block and its rounding, m/s.
  template <class Scalar>
  SS_HD static Wide<Scalar> residual(const BlockView<Scalar>& v) {
    return faceted_block_residual(v, true);
  }

  /// Moves the impulse of block k onto the set.
  template <int dim, class Scalar>
  SS_HD static void make_feasible(const EnvProblem<Scalar>& p, int k, Scalar* r) {
    using Number = Wide<Scalar>;
    const bool polygon = kIsPlain<Scalar> && p.has_polygon(k);
    Number used = 0.0;  // the share of the allowed friction that is used: <= 1 inside the set
    [[maybe_unused]] PlanePoint plane{0.0, 0.0};
    limit_friction<dim>(p, k, r, [&](int j, Number r_j, Number, Number share) {
      if (polygon && j < 3) {
        if constexpr (kIsPlain<Scalar>) (j == 1 ? plane.x : plane.y) = share;
      } else {
        used = Number(used + abs(share));
      }
      return r_j;
    });
    if constexpr (kIsPlain<Scalar>) {
      if (polygon) used += polygon_gauge(p.directions, plane.x, plane.y);
    }
    shorten_friction<dim>(p, k, r, used > 1.0, [&] { return Number(1.0 / used); });
  }

  /// How far the impulse of a block lies outside the set, N s.
  template <class Scalar>
  SS_HD static double violation(const BlockView<Scalar>& v) {
    const double r_n = double(v.r[v.row()]);
    const bool polygon = v.p.has_polygon(v.k);
    double used = polygon ? polygon_gauge(v.p.directions, v.r_hat(1), v.r_hat(2)) : 0.0;
    double worst = max(0.0, -r_n);
    for (int j = polygon ? 3 : 1; j < v.dim; ++j) {
      if (v.scale(j) > 0.0) {
        used += abs(v.r_hat(j));
      } else {
        worst = max(worst, abs(v.r_hat(j)));
      }
    }
    return max(worst, used - v.mu * max(r_n, 0.0));
  }

  /// Rows of a contact near a solution. Sliding friction lies on a face of the polyhedron
  /// gauge(z_1, z_2) + |z_3| + ... = mu z_n, and the velocity is normal to it. The face has parts:
  /// the plane of a polygon, and every other coordinate z_j != 0. With the normal n of each:
  ///   sum n . dz = mu dz_n,   the same n . du / |n|^2 for all parts,   dz_j = 0 elsewhere.
  template <int dim>
  SS_HD static ContactState differentiate(const BlockRows<dim>& v) {
    const double y_n = v.y(0), radius = v.mu * y_n;
    if (y_n <= 0.0) return {Contact::open, -y_n, -y_n};
    if (!(v.mu > 0.0)) return {Contact::stick, y_n, y_n};
    const bool polygon = v.directions > 4;
    const int first = polygon ? 3 : 1;  // of the coordinates that are parts by themselves
    double used = polygon ? polygon_gauge(v.directions, v.y(1), v.y(2)) : 0.0;
    for (int j = first; j < dim; ++j) used += abs(v.y(j));
    if (used <= radius) return stick(v, y_n, radius - used);
    const double tau = polygon
                           ? polygon_threshold(v.directions, radius, v.y(1), v.y(2), dim - 3,
                                               [&](int i) { return v.y(i + 3); })
                           : diamond_threshold(radius, dim - 1, [&](int i) { return v.y(i + 1); });
    v.b(0, 0) = 1.0;
    PolygonFace plane{};
    if (polygon) {
      plane = polygon_face(v.directions, tau, v.y(1), v.y(2));
      plane_rows(v, plane);
    }
    const double softness = face_softness(v, plane, first, tau);
    const double softest = max(softness, v.softness[0]);
    Nearest nearest{y_n, y_n / sqrt(v.softness[0] * softest)};
    nearest.see(used - radius, sqrt(fma(v.mu * v.mu, v.softness[0], double(dim - 1)) * softest));
    if (polygon) nearest.see(plane.margin, sqrt(softness * softest));
    int leader = plane.state == PolygonFace::none ? 0 : 1;  // its row has the sum
    double lead = 1.0;                                      // sign of that row
    for (int j = first; j < dim; ++j) {
      const double own = abs(v.y(j)) > tau ? min(v.softness[j], softness) : 1.0;
      if (v.is_free(j)) nearest.see(abs(abs(v.y(j)) - tau), sqrt(own * softest));
      const double normal = v.y(j) > 0.0 ? 1.0 : -1.0;
      if (abs(v.y(j)) <= tau) {
        v.a(j, j) = 1.0;
      } else if (leader == 0) {
        leader = j;
        lead = normal;
        v.a(j, j) = 1.0;
        v.a(j, 0) = -v.mu * lead;
      } else {
        v.a(leader, j) = lead * normal;
        v.b(j, j) = 1.0;
        if (leader >= first) v.b(j, leader) = -normal * lead;
        for (int c = 0; c < 2 && leader < first; ++c) v.b(j, 1 + c) = -normal * plane.slip[c];
      }
    }
    return {Contact::slide, nearest.margin, nearest.firm};
  }

 private:
  /// The state of a contact that sticks, `room` below its limit.
  template <int dim>
  SS_HD static ContactState stick(const BlockRows<dim>& v, double y_n, double room) {
    double all = v.mu * v.mu * v.softness[0];
    for (int j = 1; j < dim; ++j) all += v.softness[j];
    const double softest = v.softest();
    Nearest nearest{y_n, y_n / sqrt(v.softness[0] * softest)};
    nearest.see(room, sqrt(all * softest));
    return {Contact::stick, nearest.margin, nearest.firm};
  }
  /// Softness of motions along the face of a sliding contact: a part of it moves against another,
  /// so the second softest of its parts decides; 1 if it has one part.
  template <int dim>
  SS_HD static double face_softness(const BlockRows<dim>& v, const PolygonFace& plane, int first,
                                    double tau) {
    double softest = 0.0, second = 1.0;
    const auto take = [&](double soft) {
      second = max(second, min(soft, softest));
      softest = max(softest, soft);
    };
    for (int j = first; j < dim; ++j) {
      if (abs(v.y(j)) > tau) take(v.softness[j]);
    }
    if (plane.state != PolygonFace::none) take(max(v.softness[1], v.softness[2]));
    if (plane.state == PolygonFace::side) take(max(v.softness[1], v.softness[2]));
    return second;
  }
  /// The rows of the plane of a polygon: its part of the sum in the first; in the second, dz keeps
  /// the direction of a corner, or du is normal to a side.
  template <int dim>
  SS_HD static void plane_rows(const BlockRows<dim>& v, const PolygonFace& face) {
    if (face.state == PolygonFace::none) {
      v.a(1, 1) = v.a(2, 2) = 1.0;
      return;
    }
    v.a(1, 0) = -v.mu;
    for (int c = 0; c < 2; ++c) v.a(1, 1 + c) = face.normal[c];
    double* second = (face.state == PolygonFace::corner ? v.A : v.B) + 2 * dim;
    second[1] = -face.normal[1];
    second[2] = face.normal[0];
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
