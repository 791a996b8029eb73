#include "gallery/rigid/environment.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/delassus.hpp"

namespace stickslip::gallery::rigid {
namespace {

MechanismBatch<double> mechanism_of(const Environment& env, const std::int32_t& rows) {
  return {.num_envs = 1,
          .nv = env.nv(),
          .max_rows = rows,
          .rows = {&rows, 1},
          .M = {env.M.data(), env.M.size()},
          .J = {env.J.data(), env.J.size()}};
}

}  // namespace

Environment::Environment(System given)
    : system(std::move(given)),
      layout(system),
      M(Matrix::Zero(nv(), nv())),
      J(Matrix::Zero(layout.rows, nv())),
      u(Vector::Zero(nv())),
      free(u),
      next(u),
      bias(Vector::Zero(layout.rows)),
      touching(layout.rows),
      rate(Vector::Zero(layout.rows)),
      problem(1, std::max(1, layout.rows), std::max(1, layout.counts.n_contacts)),
      result(1, std::max(1, layout.rows)) {
  problem.counts(0) = layout.counts;
  int block = 0;
  for (const Contact& c : system.contacts) {
    if (c.mu == 0.) continue;
    problem.mu(0)[block++] = c.mu;
    problem.mu(0)[block++] = c.mu;
  }
}

void Environment::assemble_mechanism() {
  const auto& bodies = system.bodies;
  for (int i = 0; i < int(bodies.size()); ++i) {
    const Body& b = bodies[i];
    M.block<3, 3>(6 * i, 6 * i) = b.mass * Matrix3::Identity();
    M.block<3, 3>(6 * i + 3, 6 * i + 3) = inertia_of(b, frame_of(bodies, i).R);
    u.segment<3>(6 * i) = vec(b.velocity);
    u.segment<3>(6 * i + 3) = vec(b.spin);
  }
  J.setZero();
  for (int i = 0; i < layout.rows; ++i) {
    const auto [a, b] = start.bodies[i];
    if (a != kWorld) J.row(i).segment<6>(6 * a) += start.rows[i].Ja.transpose();
    if (b != kWorld) J.row(i).segment<6>(6 * b) += start.rows[i].Jb.transpose();
  }
}

bool Environment::form_delassus(Workspace& workspace) {
  const std::int32_t rows = layout.rows;
  std::int32_t ok = 1;
  if (rows > 0)
    delassus(mechanism_of(*this, rows), EnvArray<double>{problem.W(0), std::int64_t(rows) * rows},
             rows, &ok, workspace);
  return ok == 1;
}

bool Environment::solve(const SolveOptions& options, Workspace& workspace) {
  const std::int32_t rows = layout.rows;
  status = EnvStatus::solved;
  next = free;
  if (rows == 0) return free.allFinite();
  Eigen::Map<Vector>(problem.b(0), rows) = J * free + bias;
  std::copy_n(impulse(), rows, problem.warm_start(0));
  stickslip::solve(problem.view(), result.view(), options, workspace);
  status = result.status(0);
  residual = result.residual(0);
  if (status == EnvStatus::bad_input) return false;
  std::int32_t ok = 1;
  apply_impulse(mechanism_of(*this, rows), EnvArray<const double>{impulse(), rows},
                EnvArray<const double>{free.data(), nv()}, EnvArray<double>{next.data(), nv()}, &ok,
                workspace);
  return ok == 1 && next.allFinite();
}

void Environment::measure(double time) {
  const Constraints now = constraints(system, layout, system.bodies, time);
  penetration = drift = 0.;
  for (int i = 0; i < layout.counts.n_free; ++i) drift = std::max(drift, std::abs(now.rows[i].C));
  for (int i = layout.counts.n_free; i < layout.rows; ++i)  // friction rows have C = 0
    penetration = std::max(penetration, -now.rows[i].C);
}

void Environment::fail() {
  status = EnvStatus::bad_input;
  residual = std::numeric_limits<double>::infinity();
}

Vector free_acceleration(const System& system, const std::vector<Body>& bodies) {
  Vector a(6 * bodies.size());
  for (int i = 0; i < int(bodies.size()); ++i) {
    const Body& b = bodies[i];
    const Matrix3 I = inertia_of(b, frame_of(bodies, i).R);
    const Vector3 w = vec(b.spin);
    a.segment<3>(6 * i) = vec(system.gravity) + vec(b.force) / b.mass;
    a.segment<3>(6 * i + 3) = I.ldlt().solve(vec(b.torque) - w.cross(I * w));
  }
  return a;
}

std::vector<Body> advanced(const std::vector<Body>& bodies, const Vector& velocity, double dt) {
  std::vector<Body> next = bodies;
  for (int i = 0; i < int(bodies.size()); ++i) {
    Pose& pose = next[i].pose;
    const Vector3 v = velocity.segment<3>(6 * i), w = velocity.segment<3>(6 * i + 3);
    pose.position = array(vec(pose.position) + dt * v);
    const auto G = quaternion_map(pose.rotation);
    Eigen::Vector4d Q(pose.rotation.data());
    Q += dt * Eigen::Map<const Eigen::Matrix<double, 4, 3, Eigen::RowMajor>>(G.data()) * w;
    Eigen::Map<Eigen::Vector4d>(pose.rotation.data()) = Q.normalized();
    next[i].velocity = array(v);
    next[i].spin = array(w);
  }
  return next;
}

bool is_finite(const std::vector<Body>& bodies) {
  return std::all_of(bodies.begin(), bodies.end(), [](const Body& b) {
    return vec(b.pose.position).allFinite() && vec(b.velocity).allFinite() &&
           vec(b.spin).allFinite() && quaternion(b.pose.rotation).coeffs().allFinite();
  });
}

std::array<double, 12> quaternion_map(const Quat& Q) {
  const auto [s, x, y, z] = Q;
  return {-0.5 * x, -0.5 * y, -0.5 * z, 0.5 * s, 0.5 * z,  -0.5 * y,
          -0.5 * z, 0.5 * s,  0.5 * x,  0.5 * y, -0.5 * x, 0.5 * s};
}

}  // namespace stickslip::gallery::rigid
