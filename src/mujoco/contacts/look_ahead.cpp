#include "src/mujoco/contacts/look_ahead.hpp"

#include <algorithm>

#include "src/mujoco/contacts/boxes_apart.hpp"

namespace stickslip::mujoco {

LookAhead::LookAhead(const mjModel* m, double margin) : constant_(margin) {
  if (margin < 0) broadphase_ = Broadphase(m);
}

double LookAhead::flex_reach(const mjModel* m, const mjData* d, int flex) const {
  double most = 0;
  const int first = m->flex_vertadr[flex], end = first + m->flex_vertnum[flex];
  for (int v = first; v < end; ++v) {
    double velocity[3];
    point_velocity(m, d, m->flex_vertbodyid[v], d->flexvert_xpos + 3 * v, velocity);
    most = std::max(most, mju_norm3(velocity));
  }
  // Vertices of an interpolated flex move with its nodes.
  for (int n = m->flex_nodeadr[flex]; n < m->flex_nodeadr[flex] + m->flex_nodenum[flex]; ++n)
    most = std::max(most, mju_norm3(d->cvel + 6 * m->flex_nodebodyid[n] + 3));
  return m->opt.timestep * (most + kSpareSpeed);
}

// Widens each geom by the distance that it moves in the world.
void LookAhead::widen_by_speed(const mjModel* m, const mjData* d, Margins& margins) const {
  const std::vector<Part>& parts = broadphase_.parts();
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::fill_n(margins.ahead.begin() + parts[i].first_geom, parts[i].num_geoms,
                most_reach(m, margins.near.of_part[i]) + least_margin(m) / 2);
  for (int f = 0; f < m->nflex; ++f)
    margins.flex_ahead[f] = flex_reach(m, d, f) + least_margin(m) / 2;
}

// A copy of the model with its own margins.
const mjModel& LookAhead::widen_geoms(const mjModel* m, const mjData* d, Margins& margins) const {
  margins.ahead.assign(m->ngeom, constant_ / 2);
  margins.flex_ahead.assign(m->nflex, constant_ / 2);
  if (constant_ < 0) widen_by_speed(m, d, margins);
  margins.geom.resize(m->ngeom);
  margins.body.assign(m->nbody, 0.0);
  double most = 0;
  for (int g = 0; g < m->ngeom; ++g) {
    double& of_body = margins.body[m->geom_bodyid[g]];
    most = std::max(most, margins.ahead[g]);
    margins.geom[g] = m->geom_margin[g] + margins.ahead[g];
    of_body = std::max(of_body, margins.geom[g]);
  }
  margins.pair.resize(m->npair);
  for (int k = 0; k < m->npair; ++k)
    margins.pair[k] =
        m->pair_margin[k] + (margins.ahead[m->pair_geom1[k]] + margins.ahead[m->pair_geom2[k]]);
  margins.flex.resize(m->nflex);
  for (int f = 0; f < m->nflex; ++f) {
    margins.flex[f] = m->flex_margin[f] + margins.flex_ahead[f];
    most = std::max(most, margins.flex_ahead[f]);
  }
  margins.override_ahead = 2 * most;

  mjModel& wide = margins.wide.of(m);
  wide.geom_margin = margins.geom.data();
  wide.body_margin = margins.body.data();
  wide.pair_margin = margins.pair.data();
  wide.flex_margin = margins.flex.data();
  wide.opt.o_margin = m->opt.o_margin + margins.override_ahead;
  return wide;
}

void LookAhead::collide(const mjModel* m, mjData* d, Separations& separations,
                        Margins& margins) const {
  margins.by_pairs = constant_ < 0 && broadphase_.usable() && m->nflex == 0 &&
                     !mjcb_contactfilter && !(m->opt.enableflags & mjENBL_OVERRIDE);
  if (constant_ < 0) broadphase_.find_motions(m, d, margins.near);
  if (margins.by_pairs) {
    broadphase_.find_pairs(m, d, margins.near);
    separations.leave_out_distant(m, d, margins.near.pairs);
  }
  const mjModel& wide = margins.by_pairs
                            ? margins.list.only_these(m, margins.near.pairs, margins.only)
                            : widen_geoms(m, d, margins);
  margins.tilted.clear();
  for (const NearPair& pair : margins.near.pairs)
    if (Tilted tilted; margins.by_pairs && tilt_aligned(m, d, pair.geom[0], pair.geom[1], tilted))
      margins.tilted.push_back(tilted);
  mj_collision(&wide, d);
  for (std::size_t i = margins.tilted.size(); i-- > 0;) put_back(d, margins.tilted[i]);
  if (margins.by_pairs) find_boxes_apart(wide, d, margins.near.pairs, margins.contacts);
  complete_faces(m, d, margins.contacts);
}

}  // namespace stickslip::mujoco
