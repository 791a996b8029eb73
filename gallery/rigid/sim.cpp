#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "gallery/rigid/environment.hpp"

namespace stickslip::gallery::rigid {

struct Sim::Impl {
  SimOptions options;
  std::vector<Environment> envs;
  std::vector<Workspace> workspaces;  // one per thread
  double time = 0.;
};

Sim::Sim(std::vector<System> systems, const SimOptions& options) : impl_(std::make_unique<Impl>()) {
  check(systems, options);
  impl_->options = options;
  int rows = 1, contacts = 1;
  for (System& system : systems) {
    const Environment& env = impl_->envs.emplace_back(std::move(system));
    rows = std::max(rows, env.layout.rows);
    contacts = std::max(contacts, env.layout.counts.n_contacts);
  }
  // One thread per few environments: a step of fewer takes no longer than to start a thread.
  constexpr std::size_t kFew = 32;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t threads = std::min(cores, (systems.size() + kFew - 1) / kFew);
  for (std::size_t t = 0; t < threads; ++t) impl_->workspaces.emplace_back(rows, contacts, 1);
  for (Environment& env : impl_->envs) env.measure(0.);
}
Sim::~Sim() = default;
Sim::Sim(Sim&&) noexcept = default;
Sim& Sim::operator=(Sim&&) noexcept = default;

void Sim::step() {
  Impl& sim = *impl_;
  const auto step_env = sim.options.level == Level::velocity ? &step_velocity : &step_acceleration;
  std::vector<std::exception_ptr> thrown(sim.envs.size());  // by the caller's functions
  std::atomic<std::size_t> next{0};
  const auto step_some = [&](Workspace& workspace) {
    for (std::size_t e = next++; e < sim.envs.size(); e = next++) {
      try {
        step_env(sim.envs[e], sim.time, sim.options, workspace);
      } catch (...) {
        thrown[e] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < sim.workspaces.size(); ++t)
      others.emplace_back(step_some, std::ref(sim.workspaces[t]));
    step_some(sim.workspaces[0]);
  }
  sim.time += sim.options.time_step;
  for (const auto& exception : thrown)
    if (exception) std::rethrow_exception(exception);
}

int Sim::num_envs() const { return int(impl_->envs.size()); }
double Sim::time() const { return impl_->time; }
const std::vector<Body>& Sim::bodies(int env) const { return impl_->envs[env].system.bodies; }
std::vector<Body>& Sim::bodies(int env) { return impl_->envs[env].system.bodies; }
EnvStatus Sim::status(int env) const { return impl_->envs[env].status; }
double Sim::residual(int env) const { return impl_->envs[env].residual; }
int Sim::rounds(int env) const { return impl_->envs[env].rounds; }
double Sim::penetration(int env) const { return impl_->envs[env].penetration; }
double Sim::drift(int env) const { return impl_->envs[env].drift; }

Vec3 Sim::contact_impulse(int env, int contact) const {
  const Environment& e = impl_->envs[env];
  const double* r = e.impulse() + e.layout.contact[contact];
  return e.system.contacts[contact].mu > 0. ? Vec3{r[0], r[1], r[2]} : Vec3{r[0], 0., 0.};
}

std::array<Vec3, 3> Sim::contact_frame(int env, int contact) const {
  const Matrix3& frame = impl_->envs[env].start.frames[contact];
  return {array(frame.row(0)), array(frame.row(1)), array(frame.row(2))};
}

std::vector<double> Sim::joint_impulse(int env, int joint) const {
  const Environment& e = impl_->envs[env];
  const double* r = e.impulse() + e.layout.joint[joint];
  return {r, r + bilateral_rows(e.system.joints[joint])};
}

double Sim::coordinate(int env, int joint) const {
  const System& system = impl_->envs[env].system;
  return coordinate_row(system.joints[joint], system.bodies, impl_->time).C;
}

Energy Sim::energy(int env) const {
  const Environment& e = impl_->envs[env];
  Energy energy{.correction = e.correction};
  const auto& bodies = e.system.bodies;
  for (int i = 0; i < int(bodies.size()); ++i) {
    const Frame f = frame_of(bodies, i);
    energy.kinetic +=
        0.5 * bodies[i].mass * f.v.squaredNorm() + 0.5 * f.w.dot(inertia_of(bodies[i], f.R) * f.w);
    energy.potential -= bodies[i].mass * vec(e.system.gravity).dot(f.x);
  }
  return energy;
}

namespace {

// Distance of a point from the plane of body a, with the plane's normal in the world.
Gap above_plane(const Vector3& p, const Pose& a, const Vec3& origin, const Vec3& normal) {
  const Matrix3 R = quaternion(a.rotation).toRotationMatrix();
  const Vector3 n = R * vec(normal);
  return {n.dot(p - vec(a.position) - R * vec(origin)), array(p), array(n)};
}

}  // namespace

std::function<Gap(const Pose&, const Pose&)> point_on_plane(const Vec3& point, const Vec3& origin,
                                                            const Vec3& normal) {
  return [=](const Pose& a, const Pose& b) {
    return above_plane(vec(b.position) + quaternion(b.rotation) * vec(point), a, origin, normal);
  };
}

std::function<Gap(const Pose&, const Pose&)> ball_on_plane(double radius, const Vec3& origin,
                                                           const Vec3& normal) {
  return [=](const Pose& a, const Pose& b) {
    Gap gap = above_plane(vec(b.position), a, origin, normal);
    gap.distance -= radius;
    gap.point = array(vec(gap.point) - radius * vec(gap.normal));
    return gap;
  };
}

}  // namespace stickslip::gallery::rigid
