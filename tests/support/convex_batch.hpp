// Problems of the law convex on one kinematic tree, with the mechanisms as an engine stores them:
// in float, rows of J in another order, columns from the leaves to the root.
#pragma once
#include <algorithm>
#include <vector>

#include "src/cpu/kernel_table.hpp"
#include "stickslip/host_batch.hpp"
#include "stickslip/sparse_mechanism.hpp"
#include "tests/support/results.hpp"
#include "tests/support/tree.hpp"

namespace stickslip::support {

/// One environment: its rows, and R of a row over its W_ii.
struct ConvexShape {
  RowCounts counts;
  std::vector<std::int32_t> dims;
  double compliance = 0.05;

  int rows() const {
    int rows = counts.n_free + counts.n_nonneg + counts.n_box;
    for (const int dim : dims) rows += dim;
    return rows;
  }
};

class ConvexBatch {
 public:
  ConvexBatch(int nv_, const std::vector<ConvexShape>& shapes, int spare_rows = 0)
      : envs(int(shapes.size())),
        nv(nv_),
        max_rows(largest(shapes, [](const ConvexShape& s) { return s.rows(); }) + spare_rows),
        max_contacts(largest(shapes, [](const ConvexShape& s) { return s.counts.n_contacts; })),
        problems(envs, max_rows, max_contacts),
        random_(std::uint64_t(nv)) {
    int total = 0;
    for (const ConvexShape& s : shapes) total += s.rows();
    tree = TreeMechanism(nv, total, random_);
    const auto e = std::size_t(envs), rows = std::size_t(max_rows);
    for (auto* each : {&nnz, &adr, &row_of}) each->assign(e * rows, -1);
    columns.assign(e * rows * std::size_t(nv), -1);
    values.assign(columns.size(), 99.0F);
    dense.assign(columns.size(), 0.0F);
    for (int env = 0, first = 0; env < envs; ++env) {
      fill_matrices(env, first, shapes[std::size_t(env)].rows());
      fill_problem(env, first, shapes[std::size_t(env)]);
      first += shapes[std::size_t(env)].rows();
    }
  }

  ProblemBatch<double> view() const {
    ProblemBatch<double> p = problems.view();
    p.W = {};
    return p;
  }
  EngineMechanism engine(bool compressed) const {
    EngineMechanism m;
    m.num_envs = envs;
    m.nv = nv;
    m.M_size = int(tree.col.size());
    m.M = {M.data(), m.M_size};
    m.tree = {nv, tree.row_nnz.data(), tree.row_adr.data(), tree.col.data()};
    m.J_rows = max_rows;
    m.row_of = {row_of.data(), max_rows};
    m.J = {compressed ? values.data() : dense.data(), max_rows * nv};
    if (!compressed) return m;
    m.J_size = max_rows * nv;
    m.J_nnz = {nnz.data(), max_rows};
    m.J_adr = {adr.data(), max_rows};
    m.J_col = {columns.data(), m.J_size};
    return m;
  }
  EnvArray<const double> starts() const { return {start.data(), nv}; }
  int rows(int env) const { return rows_[std::size_t(env)]; }

  /// Solves each environment alone, by the function for one SparseMechanism of the same numbers.
  PlainResults<double> one_by_one(const SolveOptions& options) const {
    PlainResults<double> all(envs, max_rows);
    Workspace workspace(max_rows, max_contacts, 1);
    for (int env = 0, first = 0; env < envs; first += rows(env++)) {
      const auto values_of_M = M.begin() + std::ptrdiff_t(env * tree.col.size());
      const std::vector<double> wide(values_of_M, values_of_M + std::ptrdiff_t(tree.col.size()));
      std::vector<double> L = wide, D_inv(start.size()), J = tree.J_values;
      SparseMechanism m = tree.view();
      kernels::kernel_table().factor_ltdl(m.tree, L.data(), D_inv.data());
      for (double& value : J) value = double(float(value));
      m.M = wide.data();
      m.L = L.data();
      m.D_inv = D_inv.data();
      m.J = J.data();
      m.rows = rows(env);
      m.J_row += first;
      ProblemBatch<double> p = view();
      p.num_envs = 1;
      p.counts.data += env;
      p.dims.data += env * p.dims.stride;
      for (auto* array : {&p.b, &p.mu, &p.R, &p.lo, &p.hi, &p.warm_start})
        array->data += env * array->stride;
      ResultBatch<double> r = all.view();
      r.impulse.data += env * max_rows;
      r.certificate.data += env * max_rows;
      r.residual += env, r.status += env, r.iterations += env, r.solver += env;
      r.rows_needed += env, r.rung += env;
      solve_convex(p, m, start.data() + env * nv, r, options, workspace);
    }
    return all;
  }

 private:
  template <class F>
  static int largest(const std::vector<ConvexShape>& shapes, F&& f) {
    int most = 0;
    for (const ConvexShape& s : shapes) most = std::max(most, f(s));
    return most;
  }

  /// Rows [first, first + n) of the tree's J; the masses differ from one environment to the next.
  void fill_matrices(int env, int first, int n) {
    rows_.push_back(n);
    for (const double value : tree.M_values) M.push_back(float(value * (1.0 + 0.125 * env)));
    for (int k = 0; k < nv; ++k) start.push_back(env % 2 == 0 ? random_.normal() : 0.0);
    const auto slot = std::size_t(env) * std::size_t(max_rows);
    int used = 0;
    for (int i = 0; i < n; ++i) {
      const int row = max_rows - 1 - i;
      row_of[slot + std::size_t(i)] = row;
      adr[slot + std::size_t(row)] = used;
      const std::int32_t* range = tree.J_row.data() + first + i;
      for (int c = range[1] - 1; c >= range[0]; --c, ++used) {
        const auto at = slot * std::size_t(nv) + std::size_t(used);
        const int column = tree.J_col[std::size_t(c)];
        columns[at] = column;
        values[at] = float(tree.J_values[std::size_t(c)]);
        dense[(slot + std::size_t(row)) * std::size_t(nv) + std::size_t(column)] = values[at];
      }
      nnz[slot + std::size_t(row)] = range[1] - range[0];
    }
  }

  void fill_problem(int env, int first, const ConvexShape& s) {
    const int n = s.rows();
    problems.counts(env) = s.counts;
    std::copy(s.dims.begin(), s.dims.end(), problems.dims(env));
    const reference::Matrix J = tree.J.middleRows(first, n);
    const reference::Vector W = reference::delassus(tree.M, J).diagonal();
    for (int i = 0; i < n; ++i) {
      problems.b(env)[i] = random_.normal();
      problems.R(env)[i] = s.compliance * (0.1 + W(i));
    }
    for (int i = 0; i < s.counts.n_box; ++i) {
      problems.hi(env)[i] = random_.uniform(0.01, 1);
      problems.lo(env)[i] = -random_.uniform(0.01, 1);
    }
    int row = n, mu = 0;
    for (const int dim : s.dims) row -= dim;
    for (const int dim : s.dims) {  // equally compliant tangents in circular coordinates
      double* m = problems.mu(env) + mu;
      for (int j = 1; j < dim; ++j) m[j - 1] = random_.uniform(0.2, 1);
      double* R = problems.R(env) + row;
      for (int j = 2; j < dim; ++j) R[j] = R[1] * m[0] * m[0] / (m[j - 1] * m[j - 1]);
      row += dim;
      mu += dim - 1;
    }
  }

 public:
  int envs, nv, max_rows, max_contacts;
  HostProblems<double> problems;
  std::vector<float> M, values, dense;
  std::vector<std::int32_t> nnz, adr, columns, row_of;
  std::vector<double> start;  ///< [nv] of each environment

 private:
  Random random_;
  std::vector<int> rows_;

 public:
  TreeMechanism tree{0, 0, random_};
};

}  // namespace stickslip::support
