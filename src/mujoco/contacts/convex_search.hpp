// MuJoCo's search for the contacts of convex geoms of any kind (GJK and EPA).
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

inline mjfCollision convex_search() { return mjCOLLISIONFUNC[mjGEOM_MESH][mjGEOM_MESH]; }

/// Whether MuJoCo collides these geoms by it.
inline bool uses_convex_search(const mjModel* m, int a, int b) {
  return a >= 0 && b >= 0 && mjCOLLISIONFUNC[m->geom_type[a]][m->geom_type[b]] == convex_search();
}

/// Whether both are boxes. Those that are apart may be searched by it too (boxes_apart.hpp).
inline bool are_boxes(const mjModel* m, int a, int b) {
  return a >= 0 && b >= 0 && m->geom_type[a] == mjGEOM_BOX && m->geom_type[b] == mjGEOM_BOX;
}

}  // namespace stickslip::mujoco
