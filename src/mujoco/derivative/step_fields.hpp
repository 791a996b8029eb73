// Fields of mjModel by which steps have derivatives.
#pragma once
#include <mujoco/mujoco.h>

#include <string>
#include <type_traits>
#include <vector>

#include "src/mujoco/model/model.hpp"

namespace stickslip::mujoco {

struct ModelField {
  const char* name;
  mjtNum* mjModel::*member;
  std::remove_cvref_t<decltype(mjModel::nbody)> mjModel::*count;
  int columns;
  bool has_constants;  ///< MuJoCo derives constants from it (mj_setConst)

  int size(const mjModel* m) const { return int(m->*count) * columns; }
};

std::vector<std::string> field_names();

/// Throws std::invalid_argument for other names, with those it knows.
const ModelField& find_field(const std::string& name);

/// A copy of an environment's model in which one number is different.
class ChangedModel {
 public:
  /// Copies the model of an environment, with its own values; `common` is that of the batch.
  void copy(const mjModel* common, const mjModel* m);
  double value(const ModelField& field, int i) const { return (copy_.get()->*field.member)[i]; }

  /// Sets number i of a field, and the constants that MuJoCo derives, which changes d; null: these
  /// keep their values.
  void set(const ModelField& field, int i, double value, mjData* d);

  const mjModel* get() const { return copy_.get(); }

 private:
  ModelPtr copy_;
};

}  // namespace stickslip::mujoco
