#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "src/mujoco/model/model.hpp"

namespace stickslip::mujoco {
namespace {

// In the order of mjtIntegrator.
constexpr std::array<std::string_view, 5> kIntegrators = {"euler", "rk4", "implicit",
                                                          "implicitfast", "discrete"};

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

// MuJoCo computes islands, and the products J M⁻¹ Jᵀ of its dual solvers, only for its own solver.
void skip_solver_preparations(mjModel& m) {
  m.opt.disableflags |= mjDSBL_ISLAND;
  m.opt.solver = mjSOL_NEWTON;
  m.opt.noslip_iterations = 0;
}

void prepare_velocity_level(mjModel& m, std::vector<std::string>& warnings) {
  if (m.opt.integrator == mjINT_IMPLICIT)
    refuse(
        "integrator 'implicit' has a nonsymmetric matrix, which the velocity-level laws cannot "
        "use: choose integrator='implicitfast'");
  if (m.opt.integrator == mjINT_RK4) {
    m.opt.integrator = mjINT_IMPLICITFAST;
    warnings.push_back(
        "integrator RK4 has stages in which impulses have no meaning: stepping with implicitfast "
        "(choose with integrator=)");
  }
  m.opt.cone = mjCONE_ELLIPTIC;
  m.opt.disableflags &= ~mjDSBL_MULTICCD;  // rigid bodies at rest need whole faces
}

}  // namespace

void override_options(mjModel& m, const std::string& integrator, double timestep) {
  if (timestep != 0) m.opt.timestep = timestep;
  if (!(m.opt.timestep > 0 && std::isfinite(m.opt.timestep)))
    refuse("timestep: expected a finite number > 0 in the model, got " +
           std::to_string(m.opt.timestep));
  if (integrator.empty() || integrator == "model") return;
  std::string lower = integrator;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  const auto found = std::find(kIntegrators.begin(), kIntegrators.end(), lower);
  if (found == kIntegrators.end())
    refuse("integrator: expected model, euler, rk4, implicit or implicitfast, got " + integrator);
  m.opt.integrator = int(found - kIntegrators.begin());
}

void prepare_model(mjModel& m, bool velocity_level, std::vector<std::string>& warnings) {
  if (m.opt.integrator == mjINT_DISCRETE)
    refuse(
        "integrator 'discrete' solves for contacts inside MuJoCo and cannot be recomposed: choose "
        "integrator='implicitfast', or law='mujoco'");
  if (m.opt.enableflags & mjENBL_SLEEP)
    refuse("the option flag 'sleep' is understood by law='mujoco' only: switch it off");
  m.opt.jacobian = mjJAC_SPARSE;  // as gather reads it; MuJoCo's own stages take the same time
  skip_solver_preparations(m);
  if (velocity_level) prepare_velocity_level(m, warnings);
}

}  // namespace stickslip::mujoco
