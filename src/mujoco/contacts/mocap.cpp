#include "src/mujoco/contacts/mocap.hpp"

#include <algorithm>

namespace stickslip::mujoco {
namespace {

constexpr int kPose = 7;  // position, quaternion
constexpr int kMemory = 2 * kTwist + 2 + 2 * kPose;

struct Memory {
  mjtNum* velocity;  // [nmocap][kTwist]
  mjtNum* found;     // [nmocap][kTwist] after the last step; another velocity was set by the caller
  mjtNum* is_set;    // [nmocap] by the caller, for the steps until the body is moved again
  mjtNum* to_come;   // [nmocap] steps of the call
  mjtNum* last;      // [nmocap][kPose] where it is; quaternion 0: there was no step
  mjtNum* target;    // [nmocap][kPose] at the end of the call

  Memory(const mjModel* m, mjtNum* userdata)
      : velocity(userdata + offset_of_mocap_velocity(m)),
        found(velocity + kTwist * m->nmocap),
        is_set(found + kTwist * m->nmocap),
        to_come(is_set + m->nmocap),
        last(to_come + m->nmocap),
        target(last + kPose * m->nmocap) {}
};

// The velocity that turns and shifts one pose into the other in a time.
void velocity_between(const mjtNum* from, const mjtNum* to, double time, mjtNum* velocity) {
  mjtNum turn[3];
  mju_sub3(velocity, to, from);
  mju_scl3(velocity, velocity, 1 / time);
  mju_subQuat(turn, to + 3, from + 3);
  mju_rotVecQuat(velocity + 3, turn, from + 3);
  mju_scl3(velocity + 3, velocity + 3, 1 / time);
}

// Moves a pose with a velocity. mju_quatIntegrate has it in the body's axes.
void move_pose(mjtNum* pos, mjtNum* quat, const mjtNum* velocity, double time) {
  mjtNum inverse[4], turn[3];
  mju_addToScl3(pos, velocity, time);
  mju_negQuat(inverse, quat);
  mju_rotVecQuat(turn, velocity + 3, inverse);
  mju_quatIntegrate(quat, turn, time);
}

bool is_jump(const mjtNum* velocity) {
  return !(mju_norm3(velocity) <= kFastestShift && mju_norm3(velocity + 3) <= kFastestTurn);
}

const mjtNum* velocity_of_mocap(const mjModel* m, const mjData* d) {
  return d->userdata + offset_of_mocap_velocity(m);
}

// The motion of the mocap body that carries a body; null: none does.
const mjtNum* carrier(const mjModel* m, const mjData* d, int body) {
  const int id = m->body_mocapid[m->body_rootid[body]];
  return id < 0 ? nullptr : velocity_of_mocap(m, d) + kTwist * id;
}

// Adds to v [3] the velocity of the point of a body that its carrier causes.
void add_carried(const mjModel* m, const mjData* d, int body, const mjtNum* twist,
                 const mjtNum* point, mjtNum scale, mjtNum* v) {
  mjtNum arm[3], turned[3];
  mju_sub3(arm, point, d->xpos + 3 * m->body_rootid[body]);
  mju_cross(turned, twist + 3, arm);
  mju_addToScl3(v, twist, scale);
  mju_addToScl3(v, turned, scale);
}

void add_velocity(mjData* d, int row, mjtNum velocity) {
  d->efc_vel[row] += velocity;
  d->efc_aref[row] -= d->efc_KBIP[4 * row + 1] * velocity;
}

void begin_one(const mjModel* m, const Memory& all, int k, int first_of, mjtNum* pos,
               mjtNum* quat) {
  mjtNum *velocity = all.velocity + kTwist * k, *found = all.found + kTwist * k;
  mjtNum *last = all.last + kPose * k, *target = all.target + kPose * k;
  const double h = m->opt.timestep;
  mjtNum& to_come = all.to_come[k];
  if (first_of > 0 || to_come == 0) {
    to_come = std::max(first_of, 1);
    mju_copy3(target, pos);
    mju_copy4(target + 3, quat);
    mju_normalize4(target + 3);
    const bool moved = !std::equal(target, target + kPose, last);
    const bool written = !std::equal(velocity, velocity + kTwist, found);
    all.is_set[k] = written || (all.is_set[k] && !moved);
  }
  mjtNum way[kTwist];
  const bool known = mju_norm(last + 3, 4) > 0;
  if (known) velocity_between(last, target, h * to_come, way);
  const bool jumps = !known || is_jump(way);
  if (jumps) mju_copy(last, target, kPose);
  mju_copy3(pos, last);
  mju_copy4(quat, last + 3);
  if (!all.is_set[k]) {
    mju_zero(velocity, kTwist);
    if (!jumps) mju_copy(velocity, way, kTwist);
  }
  mju_copy(found, velocity, kTwist);
}

void end_one(const mjModel* m, const Memory& all, int k) {
  mjtNum *last = all.last + kPose * k, *target = all.target + kPose * k;
  const double h = m->opt.timestep;
  mjtNum& to_come = all.to_come[k];
  if (to_come > 1) {
    mjtNum way[kTwist];
    velocity_between(last, target, h * to_come, way);
    move_pose(last, last + 3, way, h);
  } else {
    mju_copy(last, target, kPose);
  }
  --to_come;
}

}  // namespace

void remember_mocap(mjModel& m) { m.nuserdata += kMemory * int(m.nmocap); }

int offset_of_mocap_velocity(const mjModel* m) {
  return int(m->nuserdata) - kMemory * int(m->nmocap);
}

void begin_mocap(const mjModel* m, mjData* d, int first_of) {
  const Memory all(m, d->userdata);
  for (int k = 0; k < m->nmocap; ++k)
    begin_one(m, all, k, first_of, d->mocap_pos + 3 * k, d->mocap_quat + 4 * k);
}

bool carried_apart(const mjModel* m, const mjData* d, const mjContact& c, mjtNum* local) {
  mjtNum linear[3] = {0, 0, 0}, angular[3] = {0, 0, 0};
  bool any = false;
  for (int side = 0; m->nmocap > 0 && side < 2; ++side) {
    if (c.geom[side] < 0) continue;  // flexes are not carried
    const int body = m->geom_bodyid[c.geom[side]];
    const mjtNum* twist = carrier(m, d, body);
    if (!twist) continue;
    any = true;
    const mjtNum sign = side == 0 ? -1 : 1;
    add_carried(m, d, body, twist, c.pos, sign, linear);
    mju_addToScl3(angular, twist + 3, sign);
  }
  mju_mulMatVec3(local, c.frame, linear);
  mju_mulMatVec3(local + 3, c.frame, angular);
  return any;
}

void move_mocap_bodies(const mjModel* m, mjData* d) {
  for (int body = 1; m->nmocap > 0 && body < m->nbody; ++body) {
    const mjtNum* twist = carrier(m, d, body);
    if (!twist) continue;
    mjtNum* cvel = d->cvel + 6 * body;
    mju_addTo3(cvel, twist + 3);
    add_carried(m, d, body, twist, d->subtree_com + 3 * m->body_rootid[body], 1.0, cvel + 3);
  }
}

void move_mocap_contacts(const mjModel* m, mjData* d) {
  for (int i = 0; m->nmocap > 0 && i < d->ncon; ++i) {
    const mjContact& c = d->contact[i];
    const int row = c.efc_address;
    mjtNum apart[6];
    if (row < 0 || !carried_apart(m, d, c, apart)) continue;
    if (d->efc_type[row] != mjCNSTR_CONTACT_PYRAMIDAL) {
      for (int axis = 0; axis < c.dim; ++axis) add_velocity(d, row + axis, apart[axis]);
    } else {  // edges of the pyramid: normal ± friction × axis
      for (int edge = 0; edge < 2 * (c.dim - 1); ++edge) {
        const mjtNum along = c.friction[edge / 2] * apart[1 + edge / 2];
        add_velocity(d, row + edge, apart[0] + (edge % 2 == 0 ? along : -along));
      }
    }
  }
}

void end_mocap(const mjModel* m, mjData* d) {
  const Memory all(m, d->userdata);
  for (int k = 0; k < m->nmocap; ++k) end_one(m, all, k);
  return_mocap(m, d);
}

bool bad_mocap_velocity(const mjModel* m, const mjData* d) {
  const mjtNum* velocity = velocity_of_mocap(m, d);
  return std::any_of(velocity, velocity + kTwist * m->nmocap, mju_isBad);
}

void return_mocap(const mjModel* m, mjData* d) {
  for (int k = 0; k < m->nmocap; ++k) {
    const mjtNum* last = Memory(m, d->userdata).last + kPose * k;
    mju_copy3(d->mocap_pos + 3 * k, last);
    mju_copy4(d->mocap_quat + 4 * k, last + 3);
  }
}

void advance_mocap(const mjModel* m, mjData* d) {
  return_mocap(m, d);
  for (int k = 0; k < m->nmocap; ++k)
    move_pose(d->mocap_pos + 3 * k, d->mocap_quat + 4 * k, velocity_of_mocap(m, d) + kTwist * k,
              m->opt.timestep);
}

}  // namespace stickslip::mujoco
