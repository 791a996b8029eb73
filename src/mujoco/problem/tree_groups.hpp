// Groups of kinematic trees that the rows of a problem join: its islands.
#pragma once
#include <mujoco/mujoco.h>

#include <cstdint>
#include <vector>

namespace stickslip::mujoco {

class TreeGroups {
 public:
  TreeGroups(const mjModel* m, int num_envs);

  enum class Kind : std::int8_t {
    unknown,
    one,
    several,
    several_with_tall  ///< one of them has so many rows that it is solved without W
  };

  /// Of the rows of environment `env`. J in compressed rows (stickslip/sparse_mechanism.hpp); rows
  /// that no tree moves are in no group.
  Kind kind_of(int env, int rows, const int* J_row, const int* J_col);

 private:
  std::vector<int> tree_of_;        ///< [nv]
  std::vector<int> dofs_;           ///< [trees]
  std::vector<int> joined_;         ///< [num_envs][trees] towards the root of a group; -1: no row
  std::vector<int> rows_of_tree_;   ///< [num_envs][trees] that touch it first; at last of its group
  std::vector<int> dofs_of_group_;  ///< [num_envs][trees] of roots
};

}  // namespace stickslip::mujoco
