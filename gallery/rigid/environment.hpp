// One environment: its system, the rows of its problem, and the problem's memory.
#pragma once
#include <limits>
#include <vector>

#include "gallery/rigid/joints.hpp"
#include "stickslip/host_batch.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::gallery::rigid {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The positions of the rows: joints and drives (free), limits and frictionless contacts (nonneg),
/// dry friction of joints (box), contacts with friction (blocks n, t1, t2). -1: there are none.
struct Layout {
  Layout(const System& system);
  RowCounts counts;
  int rows = 0;
  std::vector<int> joint, lower, upper, friction;  ///< first row, one per joint
  std::vector<int> contact;                        ///< first row, one per contact
};

/// All rows at an instant: C of a joint, or the gap of a limit or a contact; 0 for friction.
struct Constraints {
  std::vector<Row> rows;
  std::vector<std::array<int, 2>> bodies;  ///< a, b of each row
  std::vector<Matrix3> frames;             ///< of the contacts: rows n, t1, t2
};
Constraints constraints(const System& system, const Layout& layout, const std::vector<Body>& bodies,
                        double time);

struct Environment {
  Environment(System system);

  System system;
  Layout layout;

  // The problem of the latest step (or stage).
  Constraints start;                   ///< the rows from which it was made
  Matrix M, J;                         ///< [nv][nv], [rows][nv]
  Vector u, free, next;                ///< [nv] velocity; without and with impulses
  Vector bias;                         ///< [rows] what gaps, drift, impact add to J free
  std::vector<std::uint8_t> touching;  ///< [rows] for Method::release: held as bilateral
  Vector rate;                         ///< [rows] of C, before the step
  HostProblems<double> problem;
  HostResults<double> result;

  // Verdict.
  EnvStatus status = EnvStatus::solved;
  double residual = 0., penetration = 0., drift = 0., correction = 0.;
  int rounds = 0;

  int nv() const { return 6 * int(system.bodies.size()); }
  const double* impulse() const { return result.impulse(0); }
  /// W_ii, 1/kg.
  double diagonal(int row) { return problem.W(0)[std::ptrdiff_t(row) * (layout.rows + 1)]; }
  Eigen::Map<const Vector> impulses() const { return {impulse(), layout.rows}; }

  /// M, J and u of the bodies from `start`.
  void assemble_mechanism();
  /// W of M and J; false where M is not positive definite or something is not finite.
  bool form_delassus(Workspace& workspace);
  /// Solves b = J free + bias from the present impulses; sets `next`, status, residual. False: bad
  /// input.
  bool solve(const SolveOptions& options, Workspace& workspace);
  /// Measures the present violations of the bodies.
  void measure(double time);
  /// The verdict on a step that failed.
  void fail();
};

/// External forces and gyroscopic torque over mass and inertia: u' without constraints.
Vector free_acceleration(const System& system, const std::vector<Body>& bodies);
/// x + dt v,  Q + dt G(Q) omega (normalised), with these velocities.
std::vector<Body> advanced(const std::vector<Body>& bodies, const Vector& velocity, double dt);
bool is_finite(const std::vector<Body>& bodies);

/// One step of each scheme, from `time`; leaves verdicts in the environment.
void step_velocity(Environment& env, double time, const SimOptions& options, Workspace& workspace);
/// The end of such a step by Newton's method (Method::release, Method::fischer): impulses, `next`.
bool solve_by_newton(Environment& env, double time, const SimOptions& options);
void step_acceleration(Environment& env, double time, const SimOptions& options,
                       Workspace& workspace);

/// Throws std::invalid_argument for systems or options that cannot be simulated.
void check(const std::vector<System>& systems, const SimOptions& options);

}  // namespace stickslip::gallery::rigid
