// The equations A dz + B du = C of a whole environment near its solution, one block per row or
// contact, in the scaled coordinates of kernels/scaling/scaled.hpp (docs/gradients.md).
#pragma once
#include "kernels/law/dispatch.hpp"
#include "kernels/residual/residual.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// State of a row. A row of a sliding contact has the number of the contact instead, >= 0.
inline constexpr int kFixed = -2;    ///< dz is given: 0, or that of a bound
inline constexpr int kResting = -1;  ///< du = 0

/// Least diagonal entry of W of a row that moves, relative to the largest of W_hat in its contact.
inline constexpr double kLeastShare = 1e-12;
inline constexpr double kSoftest = 1e30;  ///< softness that counts; its square is finite

struct SolutionRows {
  static constexpr int kStride = 6;  ///< most rows of a block

  int* state;        ///< [n]
  int* active;       ///< [n] rows that are not fixed, in order
  int* place;        ///< [n] place of each row in `active`
  double *A, *B;     ///< [n][kStride]: block [dim][dim] at its first row
  double *z, *u;     ///< [padded(n)] the solution
  double* margin;    ///< [items] m/s
  double* softness;  ///< [n] of rows of contacts: block_rows.hpp

  SS_HD SolutionRows(Arena& arena, int max_rows)
      : state(arena.take<int>(max_rows)),
        active(arena.take<int>(max_rows)),
        place(arena.take<int>(max_rows)),
        A(arena.take<double>(std::size_t(kStride) * max_rows)),
        B(arena.take<double>(std::size_t(kStride) * max_rows)),
        z(arena.take<double>(padded(max_rows))),
        u(arena.take<double>(padded(max_rows))),
        margin(arena.take<double>(max_rows)),
        softness(arena.take<double>(max_rows)) {}
};

/// Whether contact k slides: then its first row, which has no friction coefficient, says so.
SS_HD bool slides(const Scaled<double>& s, const SolutionRows& rows, int k) {
  return rows.state[s.block[k]] >= 0;
}

/// State of the scalar row i; returns its margin, m/s.
template <class Scalar>
SS_HD double differentiate_row(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                               const SolutionRows& rows, int i) {
  rows.state[i] = kResting;
  const double lo = s.lo[i], hi = s.hi[i], infinity = Limits<double>::infinity;
  if (lo == hi) rows.state[i] = kFixed;
  if (lo == hi || (lo == -infinity && hi == infinity)) return infinity;
  const double stiffness = p.inverse_rho[i], scaled = stiffness * s.d[i] * s.d[i];
  const double y = rows.z[i] - rows.u[i] / scaled;
  if (y <= lo || y >= hi) rows.state[i] = kFixed;
  return min(abs(y - lo), abs(y - hi)) * stiffness * (s.d[i] / s.q);
}

/// An error of the solution is taken as so many residuals: rows of W_hat are coupled.
inline constexpr double kErrors = 10.0;

/// What counts as 0 in a solution, m/s.
struct Doubt {
  double near;   ///< velocities, by the tolerance of the solve
  double error;  ///< residual of the solution, some times over
};

/// What a law is told of contact k, and the place of its rows.
template <int dim, class Scalar>
SS_HD BlockRows<dim> block_rows(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                                const SolutionRows& rows, int k) {
  const int a = s.block[k], at = a * SolutionRows::kStride;
  const double stiffness = p.inverse_rho[s.scalars + k], unit = s.d[a];
  return {rows.z + a,
          rows.u + a,
          s.d + a,
          rows.softness + a,
          s.mu[k],
          1.0 / (stiffness * unit * unit),
          p.has_polygon(k) ? p.directions : 4,
          rows.A + at,
          rows.B + at};
}

/// State and rows of contact k; returns its margin, m/s. That is 0 where the state is not known:
/// where the error of the solution may have moved it (block_rows.hpp), or where all the friction of
/// a row moves its velocity, weighted as in the residual, by less than `near`: with a tiny
/// coefficient, a solution within the tolerance may take sliding for sticking.
template <int dim, class Scalar>
SS_HD double differentiate_contact(const EnvProblem<Scalar>& p, const Scaled<double>& s,
                                   const Doubt& doubt, const SolutionRows& rows, int k) {
  const int a = s.block[k], at = a * SolutionRows::kStride;
  const double stiffness = p.inverse_rho[s.scalars + k], unit = s.d[a];
  for (int c = 0; c < dim * dim; ++c) rows.A[at + c] = rows.B[at + c] = 0.0;
  for (int j = 0; j < dim; ++j) {
    const double scale = p.circular[a + j], own = p.diagonal(a + j);
    const bool moves = own > kLeastShare * stiffness;  // else no impulse answers a residual there
    const double share = moves ? scale * scale * own / stiffness : 1.0;
    rows.softness[a + j] = scale > 0.0 ? 1.0 / max(share, 1.0 / kSoftest) : 0.0;
  }
  const BlockRows<dim> block = block_rows<dim>(p, s, rows, k);
  ContactState result{Contact::open, 0.0, 0.0};
  with_law(s.law, [&](auto its) {
    if constexpr (has_derivative<decltype(its)>) result = its.differentiate(block);
  });
  bool undecided = false;
  for (int j = 0; j < dim; ++j) {
    const double most = p.diagonal(a + j) * s.d[a + j] * s.d[a + j] * s.mu[k] * block.z[0];
    undecided = undecided || (j > 0 && block.is_free(j) && most < doubt.near * unit * s.q);
    const bool fixed = result.state == Contact::open || !block.is_free(j);
    rows.state[a + j] = fixed ? kFixed : result.state == Contact::slide ? k : kResting;
  }
  const double size = stiffness * (unit / s.q);
  if (result.state == Contact::stick && undecided) return 0.0;
  return result.firm * size <= doubt.error ? 0.0 : result.margin * size;
}

/// rows.z and rows.u of the impulse r.
template <class G, class Scalar, class S>
SS_HD void scale_solution(const G& g, const S& s, const Scalar* r, const SolutionRows& rows) {
  scale_impulse(g, s, r, rows.z);
  scaled_velocity(g, s, rows.z, rows.u);
}

/// Linearises every row at rows.z, rows.u, those of the impulse r. Returns the least margin, m/s;
/// infinite without inequalities. `near`: velocities below count as 0.
template <class G, class Scalar>
SS_HD double differentiate_rows(const G& g, const EnvProblem<Scalar>& p, const Scaled<double>& s,
                                const Scalar* r, double near, const SolutionRows& rows) {
  const int items = s.scalars + s.n_contacts;
  double* const velocity = rows.A;  // free until the rows are made
  g.for_each(s.n, [&](int i) { velocity[i] = s.d[i] > 0.0 ? rows.u[i] / (s.d[i] * s.q) : 0.0; });
  const Doubt doubt{near, kErrors * natural_map(g, p, s.law, r, velocity)};
  g.for_each(items, [&](int item) {
    if (item < s.scalars) {
      rows.margin[item] = differentiate_row(p, s, rows, item);
      return;
    }
    const int k = item - s.scalars;
    with_dim(s.dim(k), [&](auto dim) {
      rows.margin[item] = differentiate_contact<dim()>(p, s, doubt, rows, k);
    });
  });
  double least = Limits<double>::infinity;
  for (int item = 0; item < items; ++item) least = min(least, rows.margin[item]);
  return least;
}

/// y = A x or B x, or with the transposed blocks; 0 on fixed rows.
enum class BlockMatrix { A, B };
template <BlockMatrix kMatrix, bool kTransposed, class G>
SS_HD void multiply_blocks(const G& g, const Scaled<double>& s, const SolutionRows& rows,
                           const double* x, double* y) {
  g.for_each(s.n, [&](int i) {
    const int k = rows.state[i];
    double sum = k == kResting && kMatrix == BlockMatrix::B ? x[i] : 0.0;
    if (k >= 0) {
      const int a = s.block[k], dim = s.dim(k);
      const double* block =
          (kMatrix == BlockMatrix::A ? rows.A : rows.B) + a * SolutionRows::kStride;
      for (int j = 0; j < dim; ++j) {
        const int at = kTransposed ? j * dim + (i - a) : (i - a) * dim + j;
        sum = fma(block[at], x[a + j], sum);
      }
    }
    y[i] = sum;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
