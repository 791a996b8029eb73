// Scenes of free bodies, and the block-sparse LU of a scene.
#pragma once
#include <array>

#include "kernels/linalg/block_mass.hpp"
#include "kernels/linalg/block_solve.hpp"
#include "tests/support/aligned.hpp"
#include "tests/support/item_scene.hpp"

namespace stickslip::support {

/// Bodies with the given contacts; -1 is the floor.
inline ItemScene bodies(std::uint64_t seed, int count,
                        const std::vector<std::array<int, 2>>& contacts, bool simple = false) {
  ItemScene scene(seed);
  std::vector<ItemScene::Dofs> all;
  for (int i = 0; i < count; ++i) all.push_back(scene.add_body(simple));
  for (const auto& [a, b] : contacts) {
    scene.add_item(3, all[std::size_t(a)], b < 0 ? ItemScene::Dofs{} : all[std::size_t(b)]);
  }
  return scene;
}

/// Contacts of bodies in a row that begins at the floor.
inline std::vector<std::array<int, 2>> row_of(int count) {
  std::vector<std::array<int, 2>> contacts{{0, -1}};
  for (int i = 1; i < count; ++i) contacts.push_back({i, i - 1});
  return contacts;
}

/// A base of 6 dofs with two legs, a waist of 3 and two arms: 30 dofs.
inline const ItemScene::Dofs kHumanoid{-1, 0, 1,  2,  3,  4,  5,  6,  7,  8,  9,  5,  11, 12, 13,
                                       14, 5, 16, 17, 18, 19, 20, 21, 22, 18, 24, 25, 26, 27, 28};

/// The factorisation of a scene in memory of its own, filled with NaN at first.
class BlockSolver {
 public:
  explicit BlockSolver(const ItemScene& scene, kernels::BlockCapacity capacity = {})
      : scene_(scene), capacity_(capacity.dofs > 0 ? capacity : roomy(scene)) {
    kernels::Arena size(nullptr);
    kernels::BlockLu(size, capacity_);
    bytes_ = support::AlignedBytes(size.used());
    bytes_.fill(0xff);
    kernels::Arena arena(bytes_.data());
    lu = kernels::BlockLu(arena, capacity_);
  }
  static kernels::BlockCapacity roomy(const ItemScene& scene) {
    const int n = scene.dofs();
    return {n, scene.items(), n, 12 * n, 80 * n, 40 * scene.items(), 400 * scene.items()};
  }
  template <class Group>
  bool find(const Group& g) const {
    return kernels::find_pattern(
        g, scene_.view(), scene_.items(), [&](int k) { return scene_.first_row(k); }, lu.pattern);
  }
  template <class Group>
  bool factor(const Group& g) const {
    const SparseMechanism m = scene_.view();
    if (!find(g)) return false;
    kernels::load_item_rows(
        g, m, [](int) { return 1.0; }, lu);
    kernels::load_mass(g, m, lu);
    kernels::invert_mass(g, m, lu);
    kernels::copy_mass(g, m, lu);
    std::vector<Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> B;
    for (int k = 0; k < scene_.items(); ++k) B.emplace_back(scene_.B(k));
    kernels::add_items(
        g, lu, [](int) { return true; }, [&](int k) { return B[std::size_t(k)].data(); });
    return kernels::factor_blocks(g, lu);
  }
  /// x = S^-1 b, S^-T b, J b, J^T J b, one after the other, then M^-1 b or, if M is not block
  /// diagonal, b.
  template <class Group>
  void answer(const Group& g, const reference::Vector& b, std::vector<double>& out) const {
    const auto n = std::size_t(b.size());
    double *x = out.data(), *y = x + n, *u = y + n, *z = u + scene_.view().rows, *v = z + n;
    kernels::load_nodes(g, lu, b.data());
    kernels::solve_blocks(g, lu);
    kernels::store_nodes(g, lu, x);
    kernels::load_nodes(g, lu, b.data());
    kernels::solve_transposed(g, lu);
    kernels::store_nodes(g, lu, y);
    kernels::load_nodes(g, lu, b.data());
    kernels::multiply_items(g, lu, [&](int i, double sum) { u[i] = sum; });
    kernels::multiply_items_transposed(g, lu, [&](int i) { return u[i]; });
    kernels::store_nodes(g, lu, z);
    kernels::load_nodes(g, lu, b.data());
    if (*lu.block_diagonal) kernels::divide_by_mass(g, lu);
    kernels::store_nodes(g, lu, v);
  }
  std::vector<double> room() const {
    return std::vector<double>(std::size_t(4 * scene_.dofs() + scene_.view().rows));
  }
  const kernels::BlockCounts& counts() const { return *lu.pattern.counts; }

 private:
  const ItemScene& scene_;
  kernels::BlockCapacity capacity_;
  support::AlignedBytes bytes_{0};

 public:
  kernels::BlockLu lu = [] {
    kernels::Arena none(nullptr);
    return kernels::BlockLu(none, {});
  }();
};

}  // namespace stickslip::support
