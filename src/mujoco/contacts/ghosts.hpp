// Ghost contacts: they act across a gap, although their geoms would not touch without them. MuJoCo
// reports the nearest points of two geoms at the beginning, and a rigid contact prevents them from
// closing along that normal: a ball that passes an edge, or a box that slides over two level tiles,
// would be stopped by a wall that does not exist. So the geoms are moved along the paths that they
// take without those contacts; if they never touch, the contacts were ghosts.
#pragma once
#include <mujoco/mujoco.h>

#include <algorithm>
#include <vector>

#include "src/mujoco/contacts/begin_poses.hpp"

namespace stickslip::mujoco {

/// Two geoms, and how deep they may overlap during the step, m (negative).
struct GeomPair {
  int geom[2];
  double lift[2][3];     ///< of each geom, m: the path is as far beside its own
  double margin;         ///< of the model: distance at which the gap is zero
  double least_gap;      ///< of the present contacts, or 0
  bool touches;          ///< during the step
  bool is_new;           ///< it does so since the last look
  double gap, approach;  ///< linear gap of the contact that ends deepest: first, and its change, m
  double deepest;   ///< least gap on the path on which it touches; -infinity: as the linear one, m
  int num_normals;  ///< of the contacts at the first touch
  double normals[4][3];
};

inline constexpr double kDeeper = 1e-5;   ///< m; less is rounding, or rest
inline constexpr double kShallow = 5e-5;  ///< m; an overlap that a step may leave to the next

/// By how much a linear gap that closes by `approach` may be deeper than the true one, m.
inline double most_excess(double approach) { return std::max(1e-4, -0.25 * approach); }

/// Whether a contact has a normal with which the pair touches: a box that slides and sinks touches
/// a level tile from above, not from the side.
bool agrees(const GeomPair& pair, const double* normal);

/// Removes those `contacts` (indices in d) that are certainly no ghosts, from their places after
/// the step from q, the state of d, to q ⊕ h v, v being velocities with their impulses: their geoms
/// are smooth (spheres, capsules, ellipsoids) and then within 50 µm, because rolling changes the
/// gap by as much; or one of them is, they are within 10 µm, and the other has the normal that it
/// had. `gap`: of each contact of d, m. `begin`: that of d, to which it returns.
void drop_closed_contacts(const mjModel* m, mjData* d, const double* v,
                          const std::vector<double>& gap, std::vector<int>& contacts,
                          const BeginPoses& begin);

/// Finds which pairs touch on the path from q, the state of d, to q ⊕ h v, among those that do not
/// yet have `touches`: their geoms get deeper than `least_gap` by more than 10 µm. How deep they
/// get is looked for until the linear gap is right. On the path, each geom's centre moves straight,
/// beside its own way by `lift`, and its frame turns about one axis. `begin`: that of d, to which
/// it returns.
void trace_pairs(const mjModel* m, mjData* d, const double* v, std::vector<GeomPair>& pairs,
                 const BeginPoses& begin);

}  // namespace stickslip::mujoco
