// Loads models and prepares them for a law.
#pragma once
#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip::mujoco {

struct ModelDeleter {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
};
using ModelPtr = std::unique_ptr<mjModel, ModelDeleter>;

struct LoadedModel {
  ModelPtr model;
  bool fixes_memory = false;  ///< it contains <size memory=...>; else a step's memory may grow
};

/// Throws std::runtime_error if the loaded libmujoco is not of the series, as 4.0, whose headers
/// this library was built with: from one to the next MuJoCo's structs change.
void check_mujoco_version();

/// Compiles an MJCF or URDF file, or loads a compiled model (.mjb). Throws std::invalid_argument
/// with the path and MuJoCo's reason.
LoadedModel load_model_file(const std::string& path);

/// The same for MJCF or URDF text.
LoadedModel load_model_text(const std::string& xml);

/// The same for a model in the binary form of mj_saveModel.
LoadedModel load_model_bytes(std::string_view bytes);

/// The binary form of a model.
std::string bytes_of(const mjModel& m);

/// Applies `integrator` ("" or "model": the model's own; "euler", "rk4", "implicit",
/// "implicitfast") and `timestep` (s; 0: the model's own). Refuses others (std::invalid_argument).
void override_options(mjModel& m, const std::string& integrator, double timestep);

/// For laws that replace MuJoCo's solver: refuses by name the options that cannot be recomposed.
/// `velocity_level`: also sets elliptic cones, and implicitfast instead of RK4 (with a line in
/// `warnings`).
void prepare_model(mjModel& m, bool velocity_level, std::vector<std::string>& warnings);

}  // namespace stickslip::mujoco
