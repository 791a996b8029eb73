// Boxes that are apart. MuJoCo's collider of two boxes clips a face of one to a face of the other,
// along the axis that separates them most. Of a tenth of all pairs at random nothing is left: they
// are nearer than the margin and have no contact; of others what is left is farther than they are,
// by up to a third. Its search for convex shapes of any kind (GJK) takes boxes too, and is asked.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

#include "src/mujoco/contacts/broadphase.hpp"

namespace stickslip::mujoco {

/// The contacts of boxes a and b by that search, if it finds some that are nearer than `shown` (m),
/// the nearest of the collider, or infinity. `found`: room for mjMAXCONPAIR. Returns their number;
/// 0: none, or the boxes touch.
int search_apart(const mjModel* m, mjData* d, int a, int b, double margin, double shown,
                 mjPreContact* found);

/// Replaces the contacts of boxes that mj_collision has missed or found too far away. `pairs`:
/// those that it searched, in the order of its contacts; `searched`: the model with them as its
/// list. `contacts`: scratch.
void find_boxes_apart(const mjModel& searched, mjData* d, const std::vector<NearPair>& pairs,
                      std::vector<mjContact>& contacts);

}  // namespace stickslip::mujoco
