#include "src/mujoco/contacts/surface_velocity.hpp"

namespace stickslip::mujoco {
namespace {

// As MuJoCo computes it.
void compute(const mjModel* m, const mjData* d, const mjContact& c, double velocity[3]) {
  double linear[3] = {}, angular[3] = {};
  for (int side = 0; side < 2; ++side) {
    const int geom = c.geom[side], sign = side == 0 ? -1 : 1;
    const double *own = m->geom_surfacevel + 6 * geom, *frame = d->geom_xmat + 9 * geom;
    double arm[3], shift[3], turn[3], turned[3];
    mju_sub3(arm, c.pos, d->geom_xpos + 3 * geom);
    mju_mulMatVec3(shift, frame, own);
    mju_mulMatVec3(turn, frame, own + 3);
    mju_cross(turned, turn, arm);
    mju_addToScl3(linear, shift, sign);
    mju_addToScl3(linear, turned, sign);
    mju_addToScl3(angular, turn, sign);
  }
  velocity[0] = mju_dot3(c.frame + 3, linear);
  velocity[1] = mju_dot3(c.frame + 6, linear);
  velocity[2] = mju_dot3(c.frame, angular);
}

}  // namespace

#if mjVERSION_HEADER >= 4000000

void surface_velocity(const mjModel*, const mjData*, const mjContact& c, double velocity[3]) {
  mju_copy3(velocity, c.surfacevel);
}

void set_surface_velocity(const mjModel* m, const mjData* d, mjContact& c) {
  compute(m, d, c, c.surfacevel);
}

#else

void surface_velocity(const mjModel* m, const mjData* d, const mjContact& c, double velocity[3]) {
  compute(m, d, c, velocity);
}

void set_surface_velocity(const mjModel*, const mjData*, mjContact&) {}

#endif

}  // namespace stickslip::mujoco
