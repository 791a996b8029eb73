#include "src/mujoco/problem/tree_groups.hpp"

#include <algorithm>

#include "kernels/delassus/island_mechanism.hpp"

namespace stickslip::mujoco {

TreeGroups::TreeGroups(const mjModel* m, int num_envs)
    : tree_of_(m->dof_treeid, m->dof_treeid + m->nv),
      dofs_(m->tree_dofnum, m->tree_dofnum + m->ntree),
      joined_(std::size_t(num_envs) * m->ntree),
      rows_of_tree_(joined_.size()) {}

TreeGroups::Kind TreeGroups::kind_of(int env, int rows, const int* J_row, const int* J_col) {
  const int trees = int(dofs_.size());
  int* const joined = joined_.data() + std::ptrdiff_t(env) * trees;
  int* const rows_of = rows_of_tree_.data() + std::ptrdiff_t(env) * trees;
  std::fill_n(joined, trees, -1);
  std::fill_n(rows_of, trees, 0);
  for (int row = 0; row < rows; ++row) {
    int first = -1;
    for (int c = J_row[row]; c < J_row[row + 1]; ++c) {
      const int tree = tree_of_[J_col[c]];
      if (joined[tree] < 0) joined[tree] = tree;
      if (first < 0) ++rows_of[first = tree];
      kernels::join(joined, first, tree);
    }
  }
  int groups = 0;
  bool tall = false;
  for (int root = 0; root < trees; ++root) {
    if (joined[root] != root) continue;
    ++groups;
    int of_group = rows_of[root], dofs = dofs_[root];
    for (int tree = root + 1; tree < trees; ++tree) {  // a root is the first of its group
      if (joined[tree] < 0 || kernels::root_of(joined, tree) != root) continue;
      of_group += rows_of[tree];
      dofs += dofs_[tree];
    }
    tall = tall || kernels::leaves_W(of_group, 1, dofs);
  }
  return groups <= 1 ? Kind::one : tall ? Kind::several_with_tall : Kind::several;
}

}  // namespace stickslip::mujoco
