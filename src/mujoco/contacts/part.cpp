#include "src/mujoco/contacts/part.hpp"

namespace stickslip::mujoco {

double least_margin(const mjModel* m) {
  constexpr double kRounding = 1e-6;  // m
  const double h = m->opt.timestep;
  return 4 * h * h * mju_norm3(m->opt.gravity) + kRounding;
}

Part part_of_geom(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  return {m->geom_bodyid[geom], geom, 1, type == mjGEOM_PLANE, type == mjGEOM_SPHERE};
}

Part part_of_body(const mjModel* m, int body) {
  return {body, m->body_geomadr[body], m->body_geomnum[body], false, false};
}

std::vector<bool> meeting_geoms(const mjModel* m) {
  std::vector<bool> meets(m->ngeom);
  for (int g = 0; g < m->ngeom; ++g) meets[g] = m->geom_contype[g] || m->geom_conaffinity[g];
  for (int k = 0; k < m->npair; ++k) meets[m->pair_geom1[k]] = meets[m->pair_geom2[k]] = true;
  return meets;
}

bool can_move(const mjModel* m, int body) { return m->body_treeid[body] >= 0; }

bool is_carried(const mjModel* m, int body) { return m->body_mocapid[m->body_rootid[body]] >= 0; }

// cvel refers to the centre of mass of the body's tree.
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

void motion_of(const mjModel* m, const mjData* d, const Part& part, GeomMotion& motion) {
  const bool single = part.num_geoms == 1;
  const int g = part.first_geom;
  const double* box = single ? m->geom_aabb + 6 * g : m->bvh_aabb + 6 * m->body_bvhadr[part.body];
  const double* at = single ? d->geom_xpos + 3 * g : d->xipos + 3 * part.body;
  motion.axes = single ? d->geom_xmat + 9 * g : d->ximat + 9 * part.body;
  for (int i = 0; i < 3; ++i) {
    motion.half[i] = box[3 + i];  // a plane's box has no centre
    motion.centre[i] = at[i] + (part.plane ? 0.0 : dot(motion.axes + 3 * i, box));
  }
  motion.radius = part.sphere ? m->geom_rbound[g] : norm(motion.half);
  motion.reach = motion.margin = motion.gap = 0;
  for (int k = g; k < g + part.num_geoms; ++k) {
    motion.margin = std::max(motion.margin, m->geom_margin[k]);
    motion.gap = std::max(motion.gap, m->geom_gap[k]);
  }
  if (can_move(m, part.body) || is_carried(m, part.body)) {
    mju_copy3(motion.angular, d->cvel + 6 * part.body);
    point_velocity(m, d, part.body, motion.centre, motion.linear);
    const double turn = part.sphere || part.plane ? 0.0 : norm(motion.angular) * motion.radius;
    motion.reach = m->opt.timestep * (norm(motion.linear) + turn);
  } else {
    for (int i = 0; i < 3; ++i) motion.angular[i] = motion.linear[i] = 0;
  }
  const double around = most_reach(m, motion);
  for (int i = 0; i < 3; ++i) {
    const double* row = motion.axes + 3 * i;
    motion.bound[i] = part.plane
                          ? mjMAXVAL
                          : std::abs(row[0]) * motion.half[0] + std::abs(row[1]) * motion.half[1] +
                                std::abs(row[2]) * motion.half[2] + around;
  }
}

double approach(const Part& a, const GeomMotion& of_a, const Part& b, const GeomMotion& of_b,
                double h) {
  if (!a.sphere && (b.sphere || of_b.radius < of_a.radius)) return approach(b, of_b, a, of_a, h);
  double arm[3], carried[3], slip[3], spin[3];
  difference(arm, of_a.centre, of_b.centre);
  cross(carried, of_b.angular, arm);
  for (int i = 0; i < 3; ++i) slip[i] = of_a.linear[i] - of_b.linear[i] - carried[i];
  difference(spin, of_a.angular, of_b.angular);
  const double turn = a.sphere ? 0.0 : norm(spin) * of_a.radius;
  return h * (norm(slip) + turn + kSpareSpeed);
}

}  // namespace stickslip::mujoco
