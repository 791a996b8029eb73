// MuJoCo's constraint rows ("efc") in this library's order.
//
//   efc row                                         ours
//   equality                                        free
//   limit, frictionless contact, pyramid edge       nonneg
//   friction loss of a dof or tendon                box
//   elliptic contact of dimension 3, 4, 6           contact block (n, t1, t2[, spin, roll1, roll2])
#pragma once
#include <mujoco/mujoco.h>

#include "src/mujoco/contacts/step_contacts.hpp"
#include "stickslip/types.hpp"

namespace stickslip::mujoco {

/// Number of rows of each kind; with `use`, only of contacts that are included.
RowCounts counts_of(const mjData* d, const Use* use = nullptr);

/// The contact whose normal is MuJoCo's row `i`; null if the row is something else.
const mjContact* contact_of_normal(const mjData* d, int i);

/// Whether MuJoCo's row `i` belongs to a contact.
bool is_contact_row(const mjData* d, int i);

/// efc_of[row] for every row of ours, `shape_of(d, use)`. Returns their number.
int map_rows(const mjData* d, const RowCounts& counts, const Use* use, int* efc_of);

}  // namespace stickslip::mujoco
