#include "src/mujoco/part.hpp"

namespace stickslip::mujoco {

double least_margin(const mjModel* m) {
  constexpr double kRounding = 1e-6;  // m
  const double h = m->opt.timestep;
  return 4 * h * h * mju_norm3(m->opt.gravity) + kRounding;
}

Part part_of_geom(const mjModel* m, int geom) {
  Part part{};
  part.body = m->geom_bodyid[geom];
  part.first_geom = geom;
  part.num_geoms = 1;
  part.plane = m->geom_type[geom] == mjGEOM_PLANE;
  part.sphere = m->geom_type[geom] == mjGEOM_SPHERE;
  const mjtNum* box = m->geom_aabb + 6 * geom;
  if (!part.plane) mju_copy3(part.centre, box);  // a plane's box has no middle
  mju_copy3(part.half, box + 3);
  part.radius = part.sphere ? m->geom_rbound[geom] : mju_norm3(part.half);
  return part;
}

Part part_of_body(const mjModel* m, int body) {
  Part part{};
  part.body = body;
  part.first_geom = m->body_geomadr[body];
  part.num_geoms = m->body_geomnum[body];
  const mjtNum* box = m->bvh_aabb + 6 * m->body_bvhadr[body];
  mju_copy3(part.centre, box);
  mju_copy3(part.half, box + 3);
  part.radius = mju_norm3(part.half);
  return part;
}

bool can_move(const mjModel* m, int body) { return m->body_treeid[body] >= 0; }

// cvel belongs to the centre of mass of the body's tree.
void point_velocity(const mjModel* m, const mjData* d, int body, const double* point, double* v) {
  const double* twist = d->cvel + 6 * body;
  double arm[3], turned[3];
  difference(arm, point, d->subtree_com + 3 * m->body_rootid[body]);
  cross(turned, twist, arm);
  for (int i = 0; i < 3; ++i) v[i] = twist[3 + i] + turned[i];
}

bool may_be_stopped(const mjModel* m, int a, int b) {
  return can_move(m, a) && can_move(m, b) && m->body_rootid[a] != m->body_rootid[b];
}

void motion_of(const mjModel* m, const mjData* d, const Part& part, Motion& motion) {
  const bool single = part.num_geoms == 1;
  const double* at = single ? d->geom_xpos + 3 * part.first_geom : d->xipos + 3 * part.body;
  motion.axes = single ? d->geom_xmat + 9 * part.first_geom : d->ximat + 9 * part.body;
  for (int i = 0; i < 3; ++i) motion.centre[i] = at[i] + dot(motion.axes + 3 * i, part.centre);
  motion.reach = 0;
  if (can_move(m, part.body)) {
    mju_copy3(motion.angular, d->cvel + 6 * part.body);
    point_velocity(m, d, part.body, motion.centre, motion.linear);
    const double turn = part.sphere || part.plane ? 0.0 : norm(motion.angular) * part.radius;
    motion.reach = m->opt.timestep * (norm(motion.linear) + turn);
  } else {
    for (int i = 0; i < 3; ++i) motion.angular[i] = motion.linear[i] = 0;
  }
  const double around = motion.reach + m->opt.timestep * kSpareSpeed / 2;
  for (int i = 0; i < 3; ++i) {
    const double* row = motion.axes + 3 * i;
    motion.bound[i] = part.plane
                          ? mjMAXVAL
                          : std::abs(row[0]) * part.half[0] + std::abs(row[1]) * part.half[1] +
                                std::abs(row[2]) * part.half[2] + around;
  }
}

double approach(const Part& a, const Motion& of_a, const Part& b, const Motion& of_b, double h) {
  if (!a.sphere && (b.sphere || b.radius < a.radius)) return approach(b, of_b, a, of_a, h);
  double arm[3], carried[3], slip[3], spin[3];
  difference(arm, of_a.centre, of_b.centre);
  cross(carried, of_b.angular, arm);
  for (int i = 0; i < 3; ++i) slip[i] = of_a.linear[i] - of_b.linear[i] - carried[i];
  difference(spin, of_a.angular, of_b.angular);
  const double turn = a.sphere ? 0.0 : norm(spin) * a.radius;
  return h * (norm(slip) + turn + kSpareSpeed);
}

}  // namespace stickslip::mujoco
