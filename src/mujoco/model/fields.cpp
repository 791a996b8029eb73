#include "src/mujoco/model/fields.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace stickslip::mujoco {
namespace {

using Size = std::remove_cvref_t<decltype(mjModel::nbody)>;

struct Known {
  const char* name;
  mjtNum* mjData::*member;
  Size mjModel::*rows;
  int columns;
};

constexpr Known kKnown[] = {
    {"xpos", &mjData::xpos, &mjModel::nbody, 3},
    {"xquat", &mjData::xquat, &mjModel::nbody, 4},
    {"xmat", &mjData::xmat, &mjModel::nbody, 9},
    {"xipos", &mjData::xipos, &mjModel::nbody, 3},
    {"ximat", &mjData::ximat, &mjModel::nbody, 9},
    {"geom_xpos", &mjData::geom_xpos, &mjModel::ngeom, 3},
    {"geom_xmat", &mjData::geom_xmat, &mjModel::ngeom, 9},
    {"site_xpos", &mjData::site_xpos, &mjModel::nsite, 3},
    {"site_xmat", &mjData::site_xmat, &mjModel::nsite, 9},
    {"subtree_com", &mjData::subtree_com, &mjModel::nbody, 3},
    {"cinert", &mjData::cinert, &mjModel::nbody, 10},
    {"cvel", &mjData::cvel, &mjModel::nbody, 6},
    {"cacc", &mjData::cacc, &mjModel::nbody, 6},
    {"cfrc_int", &mjData::cfrc_int, &mjModel::nbody, 6},
    {"cfrc_ext", &mjData::cfrc_ext, &mjModel::nbody, 6},
    {"ten_length", &mjData::ten_length, &mjModel::ntendon, 1},
    {"ten_velocity", &mjData::ten_velocity, &mjModel::ntendon, 1},
    {"actuator_force", &mjData::actuator_force, &mjModel::nout, 1},
    {"qfrc_bias", &mjData::qfrc_bias, &mjModel::nv, 1},
    {"qfrc_passive", &mjData::qfrc_passive, &mjModel::nv, 1},
    {"qfrc_actuator", &mjData::qfrc_actuator, &mjModel::nv, 1},
    {"qfrc_constraint", &mjData::qfrc_constraint, &mjModel::nv, 1},
};

// Arrays of mjData that BatchSim has in any case, under MuJoCo's names.
constexpr std::string_view kAlways[] = {"qpos",      "qvel",      "qacc",         "act",
                                        "ctrl",      "time",      "qfrc_applied", "xfrc_applied",
                                        "eq_active", "mocap_pos", "mocap_quat",   "sensordata"};

const Known& find_known(const std::string& name) {
  if (std::find(std::begin(kAlways), std::end(kAlways), name) != std::end(kAlways))
    throw std::invalid_argument("fields: expected arrays that BatchSim does not have anyway, got " +
                                name + ": use sim." + name);
  std::string names;
  for (const Known& known : kKnown) {
    if (name == known.name) return known;
    names += std::string(names.empty() ? "" : ", ") + known.name;
  }
  throw std::invalid_argument("fields: expected names among " + names + ", got " + name);
}

}  // namespace

Fields::Fields(const mjModel* m, int num_envs, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Known& known = find_known(name);
    const std::int64_t size = m->*known.rows * known.columns;
    fields_.push_back(
        {name, known.member, size, known.columns, std::vector<double>(size * num_envs)});
    body_forces_ = body_forces_ || name == "cacc" || name == "cfrc_int" || name == "cfrc_ext";
  }
}

void Fields::keep(const mjData* d, int env) {
  for (Field& f : fields_) mju_copy(f.values.data() + f.size * env, d->*f.member, int(f.size));
}

void Fields::keep_after_step(const mjModel* m, mjData* d, int env) {
  if (body_forces_) mj_rnePostConstraint(m, d);
  keep(d, env);
}

Fields::Field* Fields::find(const std::string& name) {
  for (Field& f : fields_)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace stickslip::mujoco
