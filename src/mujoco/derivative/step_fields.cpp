#include "src/mujoco/derivative/step_fields.hpp"

#include <stdexcept>

namespace stickslip::mujoco {
namespace {

constexpr ModelField kFields[] = {
    {"geom_friction", &mjModel::geom_friction, &mjModel::ngeom, 3, false},
    {"body_mass", &mjModel::body_mass, &mjModel::nbody, 1, true},
    {"body_inertia", &mjModel::body_inertia, &mjModel::nbody, 3, true},
};

}  // namespace

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const ModelField& field : kFields) names.emplace_back(field.name);
  return names;
}

const ModelField& find_field(const std::string& name) {
  std::string names;
  for (const ModelField& field : kFields) {
    if (name == field.name) return field;
    names += std::string(names.empty() ? "" : ", ") + field.name;
  }
  throw std::invalid_argument("field: expected a name among " + names + ", got " + name);
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
