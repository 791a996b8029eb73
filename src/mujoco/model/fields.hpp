// Arrays of MuJoCo's mjData, kept for all environments.
#pragma once
#include <mujoco/mujoco.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stickslip::mujoco {

class Fields {
 public:
  /// Throws std::invalid_argument for unknown names and lists the known ones.
  Fields(const mjModel* m, int num_envs, const std::vector<std::string>& names);

  /// Copies them from d.
  void keep(const mjData* d, int env);

  /// Copies them after a step; MuJoCo computes cacc, cfrc_int, cfrc_ext only on demand, by
  /// mj_rnePostConstraint.
  void keep_after_step(const mjModel* m, mjData* d, int env);

  struct Field {
    std::string name;
    mjtNum* mjData::*member;
    std::int64_t size;
    int columns;                 ///< numbers of a body, geom, ...
    std::vector<double> values;  ///< [num_envs][size]
  };
  /// nullptr for names that are not kept.
  Field* find(const std::string& name);

 private:
  std::vector<Field> fields_;
  bool body_forces_ = false;
};

}  // namespace stickslip::mujoco
