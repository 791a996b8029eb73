#include "src/mujoco/contacts/touching.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/contacts/part.hpp"

namespace stickslip::mujoco {
namespace {

// m; a face with a larger gap is landing. At rest a corner may hang open by nanometres for ever.
constexpr double kLanding = 1e-7;

bool is_open(const StepContacts& contacts, int i) { return contacts.gap[i] > kTouching; }

bool is_ahead(const StepContacts& contacts, int i) {
  return contacts.gap[i] > contacts.band[i] + kTouching;
}

// The last of the degrees of freedom that move the body of a side; -1: none moves it alone.
int last_dof(const mjModel* m, const mjContact& c, int side) {
  if (c.geom[side] < 0 || !can_move(m, m->geom_bodyid[c.geom[side]])) return -1;
  const int body = m->body_weldid[m->geom_bodyid[c.geom[side]]];
  return m->body_dofadr[body] + m->body_dofnum[body] - 1;
}

// Moves the points whose velocity along an axis is in a row by shift[side] along the contact's
// normal, m. That adds on the second side
//     t · (w × shift n) = shift w · (n × t)
// and subtracts it on the first; `turned` is n × t. Degrees of freedom of both sides have no part
// in a row: they do not move one relative to the other when the gap is closed.
void move_row(const mjModel* m, mjData* d, const mjContact& c, int row, const double* turned,
              const double* shift) {
  double* J = d->efc_J + d->efc_J_rowadr[row];
  const int *col = d->efc_J_colind + d->efc_J_rowadr[row], count = d->efc_J_rownnz[row];
  int of_side[2] = {last_dof(m, c, 0), last_dof(m, c, 1)};
  mj_markStack(d);
  double* more = mj_stackAllocNum(d, count);
  for (int k = count - 1; k >= 0; --k) {  // both lists descend to the root
    for (int& dof : of_side)
      while (dof > col[k]) dof = m->dof_parentid[dof];
    const bool first = of_side[0] == col[k], second = of_side[1] == col[k];
    const double along = first == second ? 0.0 : dot(turned, d->cdof + 6 * col[k]);
    more[k] = second ? shift[1] * along : -shift[0] * along;
  }
  for (int k = 0; k < count; ++k) {
    J[k] += more[k];
    d->efc_vel[row] += more[k] * d->qvel[col[k]];
  }
  mj_freeStack(d);
}

void move_rows(const mjModel* m, mjData* d, const mjContact& c, const double* shift) {
  const double *t1 = c.frame + 3, *t2 = c.frame + 6, back[3] = {-t1[0], -t1[1], -t1[2]};
  move_row(m, d, c, c.efc_address + 1, t2, shift);  // n × t1 = t2
  move_row(m, d, c, c.efc_address + 2, back, shift);
}

// The gap across which contact i acts, m.
double acting_gap(const StepContacts& c, int i) { return is_open(c, i) ? c.gap[i] : 0.0; }

// Where the surface of a side of a contact is along a normal, m.
double level_of(const mjContact& c, double gap, const double* normal, int side) {
  return mju_dot3(normal, c.pos) + (side == 0 ? -0.5 : 0.5) * gap;
}

// The smaller radius of the two surfaces, m: of curvature, or of a box or mesh.
double smaller_radius(const mjModel* m, const mjContact& c) {
  double least = mjMAXVAL;
  for (const int geom : c.geom) {
    if (geom < 0 || m->geom_rbound[geom] == 0) continue;
    const double* size = m->geom_size + 3 * geom;
    const int type = m->geom_type[geom];
    const bool round = type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER;
    double radius = round ? size[0] : m->geom_rbound[geom];
    if (type == mjGEOM_ELLIPSOID) radius = *std::min_element(size, size + 3);
    least = std::min(least, radius);
  }
  return least;
}

// Whether contacts i and k have the same bodies and normal, and lie in a plane of one body.
bool in_one_face(const mjModel* m, const mjData* d, const StepContacts& contacts, int i, int k) {
  constexpr double kSameNormal = 1 - 1e-6, kSamePlane = 1e-5;  // cosine; of the size
  const mjContact &a = d->contact[i], &b = d->contact[k];
  for (int side = 0; side < 2; ++side) {
    const int first = a.geom[side], second = b.geom[side];
    if (first < 0 || second < 0 || m->geom_bodyid[first] != m->geom_bodyid[second]) return false;
  }
  if (mju_dot3(a.frame, b.frame) < kSameNormal) return false;
  const auto apart = [&](int side) {
    return std::abs(level_of(a, contacts.gap[i], a.frame, side) -
                    level_of(b, contacts.gap[k], a.frame, side));
  };
  return std::min(apart(0), apart(1)) <= kSamePlane * smaller_radius(m, a);
}

void find_face(const mjModel* m, const mjData* d, StepContacts& contacts, int i) {
  contacts.face.clear();
  for (int k = 0; k < d->ncon; ++k)
    if (k == i || (d->contact[k].efc_address >= 0 && in_one_face(m, d, contacts, i, k)))
      contacts.face.push_back(k);
}

// How much a contact whose gap is larger than the least of its face takes part in it: all, if by
// less than a hundredth of the radius. The arm of a round body's surface is its radius, so what
// closes later acts there.
double part_in_face(const mjModel* m, const mjContact& c, double later) {
  const double share = later / (1e-2 * smaller_radius(m, c)), square = share * share;
  return 1 / (1 + square * square * square * square);
}

// Where the surfaces of both sides are along the normal of contact i, in the mean of the contacts
// of its face that close first, so that it depends smoothly on the gaps. Returns the least gap.
double find_levels(const mjModel* m, const mjData* d, const StepContacts& contacts, int i,
                   double* level) {
  double least = contacts.gap[i], sum = 0;
  for (const int k : contacts.face) least = std::min(least, contacts.gap[k]);
  level[0] = level[1] = 0;
  for (const int k : contacts.face) {
    const double weight = part_in_face(m, d->contact[k], contacts.gap[k] - least);
    const double gap = acting_gap(contacts, k);
    for (int side = 0; side < 2; ++side)
      level[side] += weight * level_of(d->contact[k], gap, d->contact[i].frame, side);
    sum += weight;
  }
  for (int side = 0; side < 2; ++side) level[side] /= sum;
  return least;
}

// Where and when the contact closes. The point of each side moves with its body until then.
void find_place(const mjModel* m, const mjData* d, const mjContact& c, double gap, double* place) {
  mju_copy3(place, c.pos);
  if (c.efc_address < 0) return;
  const double h = m->opt.timestep, closing = -d->efc_vel[c.efc_address];
  const double time = closing * h > gap ? gap / closing : h;
  for (int side = 0; side < 2; ++side) {
    double point[3], velocity[3];
    if (c.geom[side] < 0) continue;  // of a flex, nothing is known
    surface_point(point, c.pos, c.frame, gap, side);
    point_velocity(m, d, m->geom_bodyid[c.geom[side]], point, velocity);
    mju_addScl3(point, point, velocity, time);
    mju_subFrom3(point, c.pos);
    mju_addToScl3(place, point, 0.5);
  }
}

bool has_touch_sensor(const mjModel* m, int geom) {
  if (m->opt.disableflags & mjDSBL_SENSOR) return false;
  for (int k = 0; geom >= 0 && k < m->nsensor; ++k)
    if (m->sensor_type[k] == mjSENS_TOUCH &&
        m->site_bodyid[m->sensor_objid[k]] == m->geom_bodyid[geom])
      return true;
  return false;
}

// Whether MuJoCo's touch sensor k sees a force in a direction at a point.
bool sees(const mjModel* m, const mjData* d, int k, const double* point, const double* direction) {
  const int site = m->sensor_objid[k];
  return mju_rayGeom(d->site_xpos + 3 * site, d->site_xmat + 9 * site, m->site_size + 3 * site,
                     point, direction, m->site_type[site], nullptr) >= 0;
}

// MuJoCo was shown an open contact on the surface of its first geom. Adds it to touch sensors of
// the other's body that see it on theirs, as mj_computeSensorAcc does. Sensors with a history
// have been written to it.
void touch_second(const mjModel* m, mjData* d, const mjContact& c, const double* surface) {
  const double normal[3] = {-c.frame[0], -c.frame[1], -c.frame[2]};
  for (int k = 0; k < m->nsensor; ++k) {
    if (m->sensor_type[k] != mjSENS_TOUCH || m->sensor_history[2 * k] != 0 ||
        m->site_bodyid[m->sensor_objid[k]] != m->geom_bodyid[c.geom[1]] ||
        sees(m, d, k, c.pos, normal) || !sees(m, d, k, surface, normal))
      continue;
    mjtNum& sum = d->sensordata[m->sensor_adr[k]];
    sum += d->efc_force[c.efc_address];
    if (m->sensor_cutoff[k] > 0) sum = std::min(sum, m->sensor_cutoff[k]);
  }
}

// Whether MuJoCo computes a sensor of contacts before the solver.
bool has_early_sensor(const mjModel* m) {
  for (int k = 0; k < m->nsensor; ++k)
    if (m->sensor_type[k] == mjSENS_CONTACT && m->sensor_needstage[k] == mjSTAGE_POS) return true;
  return false;
}

void set_ids(mjData* d, int i) {
  const mjContact& c = d->contact[i];
  for (int axis = 0; c.efc_address >= 0 && axis < c.dim; ++axis)
    d->efc_id[c.efc_address + axis] = i;
}

}  // namespace

void limit_adhesion(mjData* d, const StepContacts& contacts) {
  for (int i = 0; i < d->ncon; ++i) {
    mjContact& c = d->contact[i];
    if (c.adhesion == 0 || !is_open(contacts, i)) continue;
    if (is_ahead(contacts, i))
      c.adhesion = 0;
    else
      c.dim = 1;
  }
}

void hide_ahead(mjData* d, const StepContacts& contacts) {
  constexpr int kHidden = 2;  // a value of mjContact::exclude of contacts that are left out
  for (int i = 0; i < d->ncon; ++i)
    if (is_ahead(contacts, i)) d->contact[i].exclude = kHidden;
}

void act_on_surfaces(const mjModel* m, mjData* d, StepContacts& contacts) {
  const auto is_due = [&](int i) { return contacts.use[i] == Use::included && !contacts.moved[i]; };
  for (int i = 0; i < d->ncon; ++i) {
    if (!is_due(i)) continue;
    double level[2];
    find_face(m, d, contacts, i);
    const double least = find_levels(m, d, contacts, i, level);
    const bool lands = std::any_of(contacts.face.begin(), contacts.face.end(),
                                   [&](int k) { return contacts.gap[k] > kLanding; });
    for (const int k : contacts.face) {
      if (!is_due(k)) continue;
      contacts.moved[k] = true;
      contacts.lands[k] = lands;
      const mjContact& c = d->contact[k];
      const double part = part_in_face(m, c, contacts.gap[k] - least);
      const double middle = mju_dot3(d->contact[i].frame, c.pos), own = acting_gap(contacts, k) / 2;
      const double shift[2] = {part * (level[0] - middle) - (1 - part) * own,
                               part * (level[1] - middle) + (1 - part) * own};
      const bool moves = std::max(std::abs(shift[0]), std::abs(shift[1])) > kClosed;
      if (moves && c.efc_address >= 0 && c.dim > 1) move_rows(m, d, c, shift);
    }
  }
}

void surface_point(double* point, const double* middle, const double* normal, double gap,
                   int side) {
  mju_addScl3(point, middle, normal, (side == 0 ? -0.5 : 0.5) * gap);
}

void sort_touching(const mjModel* m, mjData* d, StepContacts& contacts) {
  const auto touches = [&](int i) {
    const int row = d->contact[i].efc_address;
    return contacts.use[i] == Use::included && (!is_open(contacts, i) || d->efc_force[row] > 0);
  };
  int touching = 0;
  for (int i = 0; i < d->ncon; ++i) {
    if (!touches(i)) continue;
    if (i > touching) {  // the order of those that touch remains
      std::rotate(d->contact + touching, d->contact + i, d->contact + i + 1);
      const auto rotate = [&](auto& values) {
        std::rotate(values.begin() + touching, values.begin() + i, values.begin() + i + 1);
      };
      rotate(contacts.gap);
      rotate(contacts.use);
      if (!contacts.own.empty()) rotate(contacts.own);
    }
    ++touching;
  }
  contacts.place.resize(3 * d->ncon);
  for (int i = 0; i < d->ncon; ++i) {
    if (touching < d->ncon) set_ids(d, i);
    double* place = contacts.place.data() + 3 * i;
    if (is_open(contacts, i))
      find_place(m, d, d->contact[i], contacts.gap[i], place);
    else
      mju_copy3(place, d->contact[i].pos);
  }
  d->ncon = touching;
}

void show_to_sensors(const mjModel* m, mjData* d, StepContacts& contacts) {
  contacts.middle.resize(3 * d->ncon);
  for (int i = 0; i < d->ncon; ++i) {
    mjContact& c = d->contact[i];
    mju_copy3(contacts.middle.data() + 3 * i, c.pos);
    if (!is_open(contacts, i)) continue;
    const bool on_first = has_touch_sensor(m, c.geom[0]);
    if (on_first || has_touch_sensor(m, c.geom[1]))
      surface_point(c.pos, c.pos, c.frame, contacts.gap[i], on_first ? 0 : 1);
    else
      mju_copy3(c.pos, contacts.place.data() + 3 * i);
  }
  if (has_early_sensor(m)) mj_sensorPos(m, d);
}

void hide_from_sensors(const mjModel* m, mjData* d, const StepContacts& contacts) {
  for (int i = 0; i < d->ncon; ++i) {
    mjContact& c = d->contact[i];
    const double* middle = contacts.middle.data() + 3 * i;
    if (is_open(contacts, i) && has_touch_sensor(m, c.geom[0]) && has_touch_sensor(m, c.geom[1])) {
      double surface[3];
      surface_point(surface, middle, c.frame, contacts.gap[i], 1);
      touch_second(m, d, c, surface);
    }
    mju_copy3(c.pos, middle);
  }
}

}  // namespace stickslip::mujoco
