#include "src/mujoco/contacts/contact_sensors.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/contacts/surface_velocity.hpp"
#include "src/mujoco/contacts/touching.hpp"

namespace stickslip::mujoco {
namespace {

// Velocity of the second surface along the first, world frame. d has the positions in which the
// step began and the velocities with which it ended, as u = J v of the solver has.
void slip_of(const mjModel* m, mjData* d, const mjContact& c, double gap, mjtNum* velocity) {
  mjtNum carried[6], surface[3];
  carried_apart(m, d, c, carried);
  surface_velocity(m, d, c, surface);
  mju_zero3(velocity);
  for (int axis = 1; axis < 3; ++axis)
    mju_addToScl3(velocity, c.frame + 3 * axis, carried[axis] + surface[axis - 1]);
  mj_markStack(d);
  mjtNum* jacobian = mj_stackAllocNum(d, 3 * m->nv);
  for (const int side : {0, 1}) {
    mjtNum point[3], of_side[3];
    surface_point(point, c.pos, c.frame, gap, side);
    mj_jac(m, d, jacobian, nullptr, point, m->geom_bodyid[c.geom[side]]);
    mju_mulMatVec(of_side, jacobian, d->qvel, 3, m->nv);
    mju_addToScl3(of_side, c.frame, -mju_dot3(of_side, c.frame));
    mju_addToScl3(velocity, of_side, side == 1 ? 1 : -1);
  }
  mj_freeStack(d);
}

}  // namespace

ContactSensors::Geoms ContactSensors::geoms_of(const mjModel* m, const std::string& name) {
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument("contact_sensors: expected the name of a body or geom, got '" +
                                name + "', " + why);
  };
  const auto find = [&](const char* prefix, int type) {
    const std::string start = prefix;
    if (name.rfind(start, 0) == 0) return mj_name2id(m, type, name.c_str() + start.size());
    return name.find(':') == std::string::npos ? mj_name2id(m, type, name.c_str()) : -1;
  };
  const int body = find("body:", mjOBJ_BODY), geom = find("geom:", mjOBJ_GEOM);
  if (body < 0 && geom < 0) refuse("which the model does not have");
  Geoms geoms(std::size_t(m->ngeom));
  if (geom >= 0) geoms[std::size_t(geom)] = 1;
  for (int g = 0; body >= 0 && g < m->ngeom; ++g) {
    if (m->geom_bodyid[g] != body) continue;
    if (geom >= 0 && g != geom) refuse("which is both: write 'body:' or 'geom:' before it");
    geoms[std::size_t(g)] = 1;
  }
  if (geom >= 0 && body >= 0 && m->geom_bodyid[geom] != body)
    refuse("which is both: write 'body:' or 'geom:' before it");
  return geoms;
}

ContactSensors::ContactSensors(const mjModel* m, int num_envs, const Pairs& pairs) {
  for (const auto& [first, second] : pairs) {
    Sensor s{geoms_of(m, first), {}, second.empty()};
    if (!second.empty()) {
      s.second = geoms_of(m, second);
    } else {
      s.second.resize(s.first.size());
      std::transform(s.first.begin(), s.first.end(), s.second.begin(),
                     [](char of_first) { return char(!of_first); });
    }
    sensors_.push_back(std::move(s));
  }
  const std::size_t size = std::size_t(num_envs) * sensors_.size();
  for (auto* values : {&force, &friction, &mean_force, &mean_friction, &slip})
    values->resize(3 * size);
}

void ContactSensors::clear(int env) {
  for (auto* values : {&force, &friction, &slip}) mju_zero(values->data() + at(env), int(at(1)));
}

void ContactSensors::clear_means(int env) {
  for (auto* values : {&mean_force, &mean_friction}) mju_zero(values->data() + at(env), int(at(1)));
}

void ContactSensors::clear_means() {
  for (auto* values : {&mean_force, &mean_friction}) std::fill(values->begin(), values->end(), 0.0);
}

void ContactSensors::add_to_means(int env, int steps) {
  const auto add = [&](const std::vector<double>& of_step, std::vector<double>& mean) {
    mju_addToScl(mean.data() + at(env), of_step.data() + at(env), 1.0 / steps, int(at(1)));
  };
  add(force, mean_force);
  add(friction, mean_friction);
}

// Adds a contact; sign: -1 if the first geom of the contact is the sensor's first. MuJoCo's normal
// points from the contact's first geom to its second, on which the force acts.
double ContactSensors::add(const mjModel* m, mjData* d, int contact, double gap, double sign,
                           std::int64_t to) {
  const mjContact& c = d->contact[contact];
  mjtNum local[6], world[3];
  mj_contactForce(m, d, contact, local);
  const double pressure = local[0] + c.adhesion;
  if (!(pressure > 0)) return 0;
  mju_mulMatTVec(world, c.frame, local, 3, 3);
  mju_addToScl(force.data() + 3 * to, world, sign, 3);
  mju_addToScl(world, c.frame, -local[0], 3);
  mju_addToScl(friction.data() + 3 * to, world, sign, 3);

  if (c.geom[0] < 0 || c.geom[1] < 0) return 0;  // the velocity of a flex is not measured
  mjtNum velocity[3];
  slip_of(m, d, c, gap, velocity);
  mju_addToScl(slip.data() + 3 * to, velocity, sign * pressure, 3);
  return pressure;
}

void ContactSensors::keep(const mjModel* m, mjData* d, const double* gap, int env) {
  if (sensors_.empty()) return;
  clear(env);
  std::int64_t to = std::int64_t(sensors_.size()) * env;
  for (const Sensor& sensor : sensors_) {
    double pressure = 0;
    for (int i = 0; i < d->ncon; ++i) {
      const mjContact& c = d->contact[i];
      if (c.efc_address < 0) continue;  // no force
      const int a = c.geom[0], b = c.geom[1];
      const double open = gap ? std::max(gap[i], 0.0) : 0.0;
      if (sensor.is_first(a) && sensor.is_second(b)) pressure += add(m, d, i, open, -1.0, to);
      if (sensor.is_first(b) && sensor.is_second(a)) pressure += add(m, d, i, open, 1.0, to);
    }
    if (pressure > 0) mju_scl3(slip.data() + 3 * to, slip.data() + 3 * to, 1 / pressure);
    ++to;
  }
}

}  // namespace stickslip::mujoco
