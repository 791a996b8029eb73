// Groups of kinematic trees that the rows of a problem join: its islands.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

namespace stickslip::mujoco {

class TreeGroups {
 public:
  TreeGroups(const mjModel* m, int num_envs);

  /// Whether the rows of environment `env` are in more than one group. J in compressed rows
  /// (stickslip/sparse_mechanism.hpp); rows that no tree moves are in none.
  bool are_several(int env, int rows, const int* J_row, const int* J_col);

 private:
  std::vector<int> tree_of_;  ///< [nv]
  std::vector<int> joined_;   ///< [num_envs][trees] towards the root of each group; -1: no row
  int trees_;
};

}  // namespace stickslip::mujoco
