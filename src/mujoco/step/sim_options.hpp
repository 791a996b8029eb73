// What a batch of simulations is created with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/mujoco/contacts/contact_sensors.hpp"
#include "stickslip/contact_model.hpp"
#include "stickslip/types.hpp"

namespace stickslip::mujoco {

enum class Backend { cpu, cuda };  ///< of the solve; MuJoCo runs on the CPU

/// Compliance of contacts along their normals, under the velocity-level laws: none, or as the model
/// specifies (solref, solimp). Friction is exact in both cases.
enum class Softness { rigid, model };

struct SimOptions {
  std::int32_t num_envs = 1;
  bool mujoco_law = false;  ///< step with mj_step, including its solver; `solve` is not used
  /// Law: convex (acceleration level), or a velocity-level law.
  SolveOptions solve;
  int threads = 0;  ///< 0: all cores this process may use
  Backend backend = Backend::cpu;
  std::string integrator;               ///< "": the model's
  double timestep = 0;                  ///< s; 0: the model's
  ContactModel contact;                 ///< velocity-level laws only
  Softness softness = Softness::rigid;  ///< velocity-level laws only
  double contact_margin = -1;           ///< m; negative: from the speeds (look_ahead.hpp)
  bool warm_start = true;       ///< velocity-level laws: solves start from the last step's impulses
  int position_iterations = 0;  ///< maximum rounds that keep end gaps (position.hpp)
  double position_tolerance = 1e-6;  ///< m; deeper penetration is recovered
  std::vector<std::string> fields;   ///< of mjData, kept for all environments: see `field`
  ContactSensors::Pairs contact_sensors;
};

}  // namespace stickslip::mujoco
