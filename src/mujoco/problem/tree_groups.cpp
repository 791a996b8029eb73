#include "src/mujoco/problem/tree_groups.hpp"

#include <algorithm>

#include "kernels/delassus/island_mechanism.hpp"

namespace stickslip::mujoco {

TreeGroups::TreeGroups(const mjModel* m, int num_envs)
    : tree_of_(m->dof_treeid, m->dof_treeid + m->nv),
      dofs_(m->tree_dofnum, m->tree_dofnum + m->ntree),
      joined_(std::size_t(num_envs) * m->ntree),
      rows_of_tree_(joined_.size()),
      dofs_of_group_(joined_.size()) {}

TreeGroups::Kind TreeGroups::kind_of(int env, int rows, const int* J_row, const int* J_col) {
  const int trees = int(dofs_.size());
  int* const joined = joined_.data() + std::ptrdiff_t(env) * trees;
  int* const rows_of = rows_of_tree_.data() + std::ptrdiff_t(env) * trees;
  int* const dofs_of = dofs_of_group_.data() + std::ptrdiff_t(env) * trees;
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
  for (int tree = 0; tree < trees; ++tree) {
    if (joined[tree] < 0) continue;
    const int root = kernels::root_of(joined, tree);  // the first tree of its group
    if (root == tree) {
      ++groups;
      dofs_of[root] = 0;
    } else {
      rows_of[root] += rows_of[tree];
    }
    dofs_of[root] += dofs_[tree];
  }
  bool tall = false;
  for (int root = 0; root < trees && !tall; ++root)
    tall = joined[root] == root && kernels::leaves_W(rows_of[root], 1, dofs_of[root]);
  return groups <= 1 ? Kind::one : tall ? Kind::several_with_tall : Kind::several;
}

}  // namespace stickslip::mujoco
