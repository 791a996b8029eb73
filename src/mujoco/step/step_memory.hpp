// The arena of mjData, from which MuJoCo takes memory for contacts, constraints and stack.
#pragma once
#include <mujoco/mujoco.h>

#include <cstddef>

namespace stickslip::mujoco {

class StepMemory {
 public:
  StepMemory() = default;
  /// Adds memory to the model's arena, before it has any mjData, for the list of geom pairs that is
  /// written before their contacts are found: MuJoCo 4.0 does not check whether it fits. `fixed`:
  /// the model specifies how much memory a step may take.
  StepMemory(mjModel& m, bool fixed);

  /// Gives d as much memory as the others have now; if it had less, only `state`
  /// (mjSTATE_INTEGRATION) of it is kept.
  void begin(const mjModel* m, mjData* d, const mjtNum* state) const;

  /// Whether MuJoCo has taken more since `begin` than the model fixes.
  bool exceeded(const mjData* d) const;

  /// From now on, `begin` gives more. False: no more is available.
  bool can_grow() const { return !fixed_ && bytes_ < most_; }
  void grow() { bytes_ = can_grow() ? 2 * bytes_ : bytes_; }

  /// Whether an error message of MuJoCo means that memory was too small.
  static bool is_shortage(const char* error);

 private:
  bool fixed_ = false;
  std::size_t allowed_ = 0, bytes_ = 0, most_ = 0;
};

}  // namespace stickslip::mujoco
