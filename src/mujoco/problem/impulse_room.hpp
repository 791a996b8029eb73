// How many impulses of a model the state has room for (warm_start.hpp).
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

inline constexpr int kMostContacts = 1024;

/// For how many contacts there is room: every point of one body of each tree may bear load, and
/// some of the others. The state of a small robot is copied three times in each step, and is most
/// of what a step moves.
int most_contacts(const mjModel& m);

/// The maximum number of rows that are not contacts (equalities of flexible bodies have more).
int most_rows(const mjModel& m);

}  // namespace stickslip::mujoco
