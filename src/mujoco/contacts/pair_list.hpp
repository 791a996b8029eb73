// A list of pairs of geoms as MuJoCo reads it from a model (<pair>).
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

#include "src/mujoco/contacts/broadphase.hpp"
#include "src/mujoco/model/shallow_model.hpp"

namespace stickslip::mujoco {

class PairList {
 public:
  /// A copy of the model, `model`, in which only these pairs are searched for contacts, with their
  /// margins, and with the dimension, friction and adhesion that MuJoCo would give them. Their
  /// softness is not set, because rigid contacts do not need it. For mj_collision only; valid until
  /// the list changes.
  const mjModel& only_these(const mjModel* m, const std::vector<NearPair>& pairs,
                            ShallowModel& model);

 private:
  void resize(std::size_t count);
  void copy_listed(const mjModel* m, int k, int listed);
  void combine(const mjModel* m, int k, int a, int b);

  std::vector<int> dim_, geom1_, geom2_, no_bits_;
  std::vector<mjtNum> margin_, gap_, adhesion_, friction_, solref_, solimp_, zero_;
};

}  // namespace stickslip::mujoco
