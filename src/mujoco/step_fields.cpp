#include "src/mujoco/step_fields.hpp"

#include <stdexcept>

namespace stickslip::mujoco {
namespace {

constexpr ModelField kFields[] = {
    {"geom_friction", &mjModel::geom_friction, &mjModel::ngeom, 3, false},
    {"body_mass", &mjModel::body_mass, &mjModel::nbody, 1, true},
    {"body_inertia", &mjModel::body_inertia, &mjModel::nbody, 3, true},
};

}  // namespace

const ModelField& find_field(const std::string& name) {
  std::string names;
  for (const ModelField& field : kFields) {
    if (name == field.name) return field;
    names += std::string(", ") + field.name;
  }
  throw std::invalid_argument("wrt: expected names among ctrl, qvel, qpos" + names + ", got " +
                              name);
}

void ChangedModel::copy(const mjModel* common, const mjModel* m) {
  if (!copy_) copy_.reset(mj_copyModel(nullptr, common));
  // The arrays with an environment's own values lie outside the buffer, whose size is compared;
  // the arrays are copied one by one.
  mjModel own = *m;
  own.nbuffer = common->nbuffer;
  mj_copyModel(copy_.get(), &own);
}

void ChangedModel::set(const ModelField& field, int i, double value, mjData* d) {
  (copy_.get()->*field.member)[i] = value;
  if (field.has_constants && d) mj_setConst(copy_.get(), d);
}

}  // namespace stickslip::mujoco
