#include "src/mujoco/problem/impulse_room.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/mujoco/contacts/part.hpp"

namespace stickslip::mujoco {
namespace {

// In steps with more contacts, the others start cold. All are copied with the state.
constexpr int kContactsPerTree = 20;  // at least; twice as many of one tree
constexpr int kContactsPerBody = 4;   // of all bodies of a tree but one
constexpr int kContactsOfItself = 8;  // of a tree alone on a plane, besides all of its points
constexpr int kMostRows = 256;

// The points on which a geom can rest on another.
int most_points(const mjModel& m, int geom) {
  const int type = m.geom_type[geom];
  if (type == mjGEOM_SPHERE || type == mjGEOM_ELLIPSOID) return 1;
  return type == mjGEOM_CAPSULE ? 2 : 4;
}

// Whether all that a single tree may touch, besides itself, is a plane: it does so at its points.
// On tiles, one point may bear load on several.
bool is_alone_on_plane(const mjModel& m, const std::vector<bool>& meets) {
  for (int g = 0; g < m.ngeom; ++g)
    if (meets[g] && !can_move(&m, m.geom_bodyid[g]) && m.geom_type[g] != mjGEOM_PLANE) return false;
  return m.ntree == 1 && m.nflex == 0;
}

}  // namespace

int most_contacts(const mjModel& m) {
  const std::vector<bool> meets = meeting_geoms(&m);
  std::vector<int> of_body(std::size_t(m.nbody));
  for (int g = 0; g < m.ngeom; ++g)
    if (meets[g]) of_body[std::size_t(m.geom_bodyid[g])] += most_points(m, g);
  std::vector<int> several(std::size_t(m.ntree)), one(std::size_t(m.ntree));
  int all = 0;
  for (int body = 0; body < m.nbody; ++body) {
    const int tree = m.body_treeid[body], points = of_body[std::size_t(body)];
    if (tree < 0) continue;
    all += points;
    int& rest = several[std::size_t(tree)];
    int& largest = one[std::size_t(tree)];
    rest += std::min(std::min(points, largest), kContactsPerBody);
    largest = std::max(largest, points);
  }
  int count = kContactsPerTree;
  for (std::size_t t = 0; t < one.size(); ++t)
    count += std::max(several[t] + one[t], kContactsPerTree);
  if (is_alone_on_plane(m, meets)) count = std::min(count, all + kContactsOfItself);
  return std::min(count, kMostContacts);
}

int most_rows(const mjModel& m) {
  const auto positive = [](mjtNum value) { return value > 0; };
  const auto rows =
      6 * m.neq + std::count_if(m.dof_frictionloss, m.dof_frictionloss + m.nv, positive) +
      std::count_if(m.tendon_frictionloss, m.tendon_frictionloss + m.ntendon, positive) +
      std::count(m.jnt_limited, m.jnt_limited + m.njnt, true) +
      std::count(m.tendon_limited, m.tendon_limited + m.ntendon, true);
  return int(std::min<std::int64_t>(rows, kMostRows));
}

}  // namespace stickslip::mujoco
