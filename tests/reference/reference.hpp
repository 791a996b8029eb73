// The oracle: docs/mathematics.md implemented again, in double with Eigen, for clarity and not for
// speed. It shares no code with kernels/, so that the agreement of the two is evidence.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "stickslip/batch.hpp"

namespace stickslip::reference {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// One environment's problem u_R = (W + diag R) r + b. Rows stand in the order free, nonneg, box,
/// contact blocks (n, t1, t2[, torsion, roll1, roll2]).
struct Problem {
  RowCounts counts;
  std::vector<int> dims;  ///< [n_contacts] of 3, 4, 6
  Matrix W;               ///< [rows][rows], 1/kg
  Vector b;               ///< [rows], m/s
  Vector mu;              ///< [sum(dims - 1)]
  Vector R;               ///< [rows], 1/kg
  Vector lo, hi;          ///< [n_box], N s
  int directions = 4;     ///< of law `pyramid` in the sliding plane
};

/// Number of rows that the shape and the dims of a problem require (not the size of its W).
int rows(const Problem& problem);

/// The problem in slot `env` of a batch; absent arrays get their documented defaults.
template <class Scalar>
Problem from_batch(const ProblemBatch<Scalar>& batch, int env);

/// Whether the numbers are valid for the law: finite, mu >= 0, R >= 0, lo <= hi, no negative
/// diagonal; for `convex` also W symmetric to `asymmetry` * max|W|.
bool is_valid(const Problem& problem, Law law, double asymmetry = 1e-6);

/// u_R = (W + diag R) r + b, m/s.
Vector velocity(const Problem& problem, const Vector& r);

/// The natural map, row by row: `value` is F and `rho` the step of the row's block (§4).
struct NaturalMap {
  Vector value;  ///< N s, in circular coordinates
  Vector rho;    ///< kg
};
NaturalMap natural_map(const Problem& problem, const Vector& r, Law law);

/// max |F| / rho, m/s; infinite where anything is NaN.
double residual(const Problem& problem, const Vector& r, Law law);

/// The residual and the violation of each condition separately.
Measures measures(const Problem& problem, const Vector& r, Law law);

struct Solution {
  Vector impulse;
  double residual;  ///< by `residual`, so an unsolved problem cannot look solved
};
/// Slow but reliable for problems of a few contacts: relaxation, Newton on the natural map, a
/// homotopy in the compliance, many starts; returns the best impulse of all.
Solution solve(const Problem& problem, Law law);

/// W = J M^-1 J^T.
Matrix delassus(const Matrix& M, const Matrix& J);
/// v_free + M^-1 J^T r.
Vector apply_impulse(const Matrix& M, const Matrix& J, const Vector& r, const Vector& v_free);

}  // namespace stickslip::reference
