#include "src/mujoco/problem/tree_groups.hpp"

#include <algorithm>

#include "kernels/delassus/island_mechanism.hpp"

namespace stickslip::mujoco {

TreeGroups::TreeGroups(const mjModel* m, int num_envs)
    : tree_of_(m->dof_treeid, m->dof_treeid + m->nv),
      joined_(std::size_t(num_envs) * m->ntree),
      trees_(int(m->ntree)) {}

bool TreeGroups::are_several(int env, int rows, const int* J_row, const int* J_col) {
  int* joined = joined_.data() + std::ptrdiff_t(env) * trees_;
  std::fill_n(joined, trees_, -1);
  for (int row = 0; row < rows; ++row) {
    int first = -1;
    for (int c = J_row[row]; c < J_row[row + 1]; ++c) {
      const int tree = tree_of_[J_col[c]];
      if (joined[tree] < 0) joined[tree] = tree;
      if (first < 0) first = tree;
      kernels::join(joined, first, tree);
    }
  }
  int groups = 0;
  for (int tree = 0; tree < trees_; ++tree) groups += joined[tree] == tree ? 1 : 0;
  return groups > 1;
}

}  // namespace stickslip::mujoco
