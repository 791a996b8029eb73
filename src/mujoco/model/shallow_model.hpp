// A shallow copy of a model, in which a few fields are another's.
#pragma once
#include <mujoco/mujoco.h>

#include <memory>

namespace stickslip::mujoco {

/// The copy of one thread. An mjModel has the size of an environment's state, so it is copied only
/// where it may have changed.
class ShallowModel {
 public:
  /// `constant`: the model that never changes, the batch's. One with values of an environment
  /// (BatchSim::vary) is made for every step, in the same memory.
  explicit ShallowModel(const mjModel* constant = nullptr) : constant_(constant) {}

  /// The copy of m, whose arrays belong to m. What the caller has set in it remains while m is
  /// `constant`.
  mjModel& of(const mjModel* m) {
    if (!copy_) copy_ = std::make_unique<mjModel>();
    if (m != constant_ || of_ != m) *copy_ = *m;
    of_ = m;
    return *copy_;
  }

 private:
  const mjModel *constant_, *of_ = nullptr;
  std::unique_ptr<mjModel> copy_;
};

}  // namespace stickslip::mujoco
