// The arena of mjData, from which MuJoCo takes contacts, constraints and stack of a step.
#pragma once
#include <mujoco/mujoco.h>

#include <cstddef>

namespace stickslip::mujoco {

class StepMemory {
 public:
  StepMemory() = default;
  /// Adds to the model's arena, which has no mjData yet, what the list of pairs of geoms may take
  /// before their contacts are found: MuJoCo 4.0 writes it without looking whether there is room.
  /// `fixed`: the model says how much memory a step may take.
  StepMemory(mjModel& m, bool fixed);

  /// Gives d as much memory as the others have by now; where it had less, `state`
  /// (mjSTATE_INTEGRATION) is all that is left of it.
  void begin(const mjModel* m, mjData* d, const mjtNum* state) const;

  /// Whether MuJoCo took more since `begin` than the model fixes.
  bool exceeded(const mjData* d) const;

  /// From now on, `begin` gives more. False: there is no more to be had.
  bool can_grow() const { return !fixed_ && bytes_ < most_; }
  void grow() { bytes_ = can_grow() ? 2 * bytes_ : bytes_; }

  /// Whether an error of MuJoCo tells that there was too little.
  static bool is_shortage(const char* error);

 private:
  bool fixed_ = false;
  std::size_t allowed_ = 0, bytes_ = 0, most_ = 0;
};

}  // namespace stickslip::mujoco
