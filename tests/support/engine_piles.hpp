// Piles of bodies and an arm, their mechanisms as an engine stores them: in float, rows of J in
// another order, columns from the last to the first.
#pragma once
#include <gtest/gtest.h>

#include "src/cpu/kernel_table.hpp"
#include "stickslip/engine_mechanism.hpp"
#include "stickslip/host_batch.hpp"
#include "tests/support/item_scene.hpp"

namespace stickslip::support {

class EnginePiles {
 public:
  /// One environment of so many contacts for each entry; the bodies are the same in all of them,
  /// in piles of so many.
  EnginePiles(const std::vector<int>& contacts, int bodies, std::uint64_t seed = 1,
              int bodies_per_pile = 1 << 20)
      : envs(int(contacts.size())), bodies_per_pile_(bodies_per_pile), random_(seed) {
    std::vector<ItemScene> scenes;
    for (const int count : contacts) {
      scenes.push_back(make_scene(count, bodies));
      nv = scenes.back().dofs();
      max_rows = std::max(max_rows, int(scenes.back().view().rows));
      max_contacts = std::max(max_contacts, count);
    }
    problems = HostProblems<double>(envs, max_rows, max_contacts);
    const TreeSparsity tree = scenes.front().view().tree;
    row_nnz_.assign(tree.row_nnz, tree.row_nnz + nv);
    row_adr_.assign(tree.row_adr, tree.row_adr + nv);
    M_size_ = row_adr_.back() + row_nnz_.back();
    col_.assign(tree.col, tree.col + M_size_);
    const auto rows = std::size_t(envs * max_rows);
    for (auto* each : {&nnz, &adr, &row_of}) each->assign(rows, -1);
    J.assign(rows * std::size_t(nv), 99.0F);
    J_col.assign(J.size(), -1);
    for (int env = 0; env < envs; ++env) {
      store(env, scenes[std::size_t(env)].view());
      fill(env, scenes[std::size_t(env)]);
    }
    v_next.assign(v_free.size(), 0.0);
  }

  int rows(int env) const { return kept_[std::size_t(env)].rows(); }
  ProblemBatch<double> view() const {
    ProblemBatch<double> p = problems.view();
    p.W = {};
    return p;
  }
  EngineStep step() {
    EngineMechanism m;
    m.num_envs = envs;
    m.nv = nv;
    m.M_size = M_size_;
    m.M = {M.data(), M_size_};
    m.tree = {nv, row_nnz_.data(), row_adr_.data(), col_.data()};
    m.J_rows = max_rows;
    m.row_of = {row_of.data(), max_rows};
    m.J_size = max_rows * nv;
    m.J = {J.data(), m.J_size};
    m.J_nnz = {nnz.data(), max_rows};
    m.J_adr = {adr.data(), max_rows};
    m.J_col = {J_col.data(), m.J_size};
    return {m, {v_free.data(), nv}, {v_next.data(), nv}};
  }
  /// M and J of an environment, as they are in float.
  reference::Matrix mass(int env) const {
    reference::Matrix full = reference::Matrix::Zero(nv, nv);
    for (int i = 0; i < nv; ++i) {
      for (int c = row_adr_[std::size_t(i)];
           c < row_adr_[std::size_t(i)] + row_nnz_[std::size_t(i)]; ++c) {
        full(i, col_[std::size_t(c)]) = full(col_[std::size_t(c)], i) =
            double(M[std::size_t(env * M_size_ + c)]);
      }
    }
    return full;
  }
  const reference::Matrix& jacobian(int env) const { return kept_[std::size_t(env)]; }
  /// M^-1 J^T
  reference::Matrix lift(int env) const {
    return mass(env).ldlt().solve(jacobian(env).transpose());
  }
  /// Fills W of the environment's problem.
  void form_matrix(int env) {
    const reference::Matrix W = jacobian(env) * lift(env);
    double* to = problems.W(env);
    for (int i = 0; i < W.rows(); ++i, to += max_rows)
      for (int j = 0; j < W.cols(); ++j) to[j] = 0.5 * (W(i, j) + W(j, i));
  }

  int envs, nv = 0, max_rows = 0, max_contacts = 0;
  HostProblems<double> problems{0, 0, 0};
  std::vector<float> M, J;
  std::vector<std::int32_t> row_of, nnz, adr, J_col;
  std::vector<double> v_free, v_next;

 private:
  ItemScene make_scene(int contacts, int bodies) {
    ItemScene scene(random_.next());
    std::vector<ItemScene::Dofs> body;
    for (int i = 0; i < bodies; ++i) body.push_back(scene.add_body(i % 2 == 0));
    const int arm = scene.add_tree({-1, 0, 1, 2, 1, 4});
    for (int i = 0; i < kScalars; ++i) scene.add_item(1, {arm + random_.integer(6)});
    for (int k = 0; k < contacts; ++k) {
      constexpr int kNext[] = {1, 3, 9};  // as in layers of nine
      const int a = random_.integer(bodies), other = a + kNext[random_.integer(3)];
      const int dim = dim_of(k);
      const bool apart = other < bodies && a / bodies_per_pile_ != other / bodies_per_pile_;
      if (apart)
        scene.add_item(dim, body[std::size_t(a)]);
      else if (other < bodies)
        scene.add_item(dim, body[std::size_t(a)], body[std::size_t(other)]);
      else if (other == bodies)
        scene.add_item(dim, body[std::size_t(a)], {arm + 3});
      else
        scene.add_item(dim, body[std::size_t(a)]);
    }
    scene.finish();
    return scene;
  }

  void store(int env, const SparseMechanism& m) {
    for (int c = 0; c < M_size_; ++c) M.push_back(float(m.M[c]));
    const auto first = std::size_t(env * max_rows);
    reference::Matrix full = reference::Matrix::Zero(m.rows, nv);
    int used = 0;
    for (int i = 0; i < m.rows; ++i) {
      const int row = m.rows - 1 - i;
      const auto place = first + std::size_t(row);
      row_of[first + std::size_t(i)] = row;
      adr[place] = used;
      nnz[place] = m.J_row[i + 1] - m.J_row[i];
      for (int c = m.J_row[i + 1] - 1; c >= m.J_row[i]; --c, ++used) {
        const auto at = first * std::size_t(nv) + std::size_t(used);
        J[at] = float(m.J[c]);
        J_col[at] = m.J_col[c];
        full(i, m.J_col[c]) = double(J[at]);
      }
    }
    kept_.push_back(full);
  }

  /// A motion that contacts stop, some of which are open.
  void fill(int env, ItemScene& scene) {
    const reference::Vector v = scene.random_vector();
    v_free.insert(v_free.end(), v.begin(), v.end());
    const reference::Vector u = jacobian(env) * v;
    RowCounts& counts = problems.counts(env);
    counts = {.n_nonneg = 2, .n_box = 2, .n_contacts = scene.items() - kScalars};
    for (int i = 0; i < u.size(); ++i) problems.b(env)[i] = u[i];
    for (int i = 0; i < counts.n_box; ++i) {
      problems.hi(env)[i] = random_.uniform(0.1, 1.0);
      problems.lo(env)[i] = -problems.hi(env)[i];
    }
    double* mu = problems.mu(env);
    for (int k = 0, row = kScalars; k < counts.n_contacts; row += dim_of(k++)) {
      problems.dims(env)[k] = dim_of(k);
      problems.b(env)[row] += 0.1 * std::abs(random_.normal());  // a gap
      const double slide = random_.uniform(0.1, 0.9);
      for (int j = 1; j < dim_of(k); ++j) *mu++ = j < 3 ? slide : 0.1 * slide;
    }
  }

  static constexpr int kScalars = 4;
  static int dim_of(int contact) { return contact % 5 == 3 ? 4 : contact % 7 == 5 ? 6 : 3; }

  int bodies_per_pile_;
  Random random_;
  int M_size_ = 0;
  std::vector<std::int32_t> row_nnz_, row_adr_, col_;
  std::vector<reference::Matrix> kept_;
};

}  // namespace stickslip::support
