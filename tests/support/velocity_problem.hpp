// Random problems of the convex law on random trees, with the mechanism beside W.
#pragma once
#include <algorithm>
#include <vector>

#include "stickslip/host_batch.hpp"
#include "tests/support/tree.hpp"

namespace stickslip::support {

struct VelocitySetup {
  const char* name;
  int nv;
  RowCounts counts;
  std::vector<std::int32_t> dims;
  double compliance;  ///< R of a row over its W_ii
};

/// Robots and other trees of every kind of row; `least`: the compliance of the hardest one.
inline std::vector<VelocitySetup> velocity_setups(double least) {
  return {{"no_rows", 4, {}, {}, 1},
          {"one_contact", 6, {0, 0, 0, 1}, {3}, 0.1},
          {"ant", 14, {0, 9, 0, 0}, {}, 0.1},
          {"hand", 16, {0, 5, 16, 4}, {3, 4, 6, 3}, 0.05},
          {"humanoid", 35, {0, 4, 29, 4}, {3, 3, 3, 6}, 0.01},
          {"equalities", 20, {6, 3, 2, 2}, {6, 4}, 0.01},
          {"hard", 12, {0, 2, 2, 6}, {3, 3, 3, 3, 3, 3}, least}};
}

inline int rows_of(const VelocitySetup& setup) {
  int rows = setup.counts.n_free + setup.counts.n_nonneg + setup.counts.n_box;
  for (const int dim : setup.dims) rows += dim;
  return rows;
}

/// A random problem on a random tree, with its mechanism.
class VelocityProblem {
 public:
  VelocityProblem(const VelocitySetup& setup, std::uint64_t seed)
      : random_(seed),
        n(rows_of(setup)),
        mechanism(setup.nv, n, random_),
        problems_(1, std::max(n, 1), std::max(1, setup.counts.n_contacts)),
        start(std::size_t(setup.nv)) {
    const reference::Matrix W = reference::delassus(mechanism.M, mechanism.J);
    problems_.counts(0) = setup.counts;
    std::copy(setup.dims.begin(), setup.dims.end(), problems_.dims(0));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) problems_.W(0)[i * problems_.max_rows() + j] = W(i, j);
      problems_.b(0)[i] = random_.normal();
      problems_.R(0)[i] = setup.compliance * (0.1 + W(i, i)) * random_.uniform(0.5, 2);
    }
    for (int i = 0; i < setup.counts.n_box; ++i) {
      problems_.hi(0)[i] = random_.uniform(0.01, 1);
      problems_.lo(0)[i] = -random_.uniform(0.01, 1);
    }
    int row = n, mu = 0;
    for (const int dim : setup.dims) row -= dim;
    for (const int dim : setup.dims) {  // equally compliant tangents in circular coordinates
      for (int j = 1; j < dim; ++j) problems_.mu(0)[mu + j - 1] = random_.uniform(0.2, 1);
      const double* m = problems_.mu(0) + mu;
      for (int j = 2; j < dim; ++j)
        problems_.R(0)[row + j] = problems_.R(0)[row + 1] * m[0] * m[0] / (m[j - 1] * m[j - 1]);
      row += dim;
      mu += dim - 1;
    }
  }
  ProblemBatch<double> view() const { return problems_.view(); }
  ProblemBatch<double> without_W() const {
    auto problem = view();
    problem.W = {};
    return problem;
  }
  reference::Problem reference() const { return reference::from_batch(view(), 0); }
  void throw_start(double size) {
    for (double& x : start) x = size * random_.normal();
  }

 private:
  Random random_;

 public:
  int n;
  TreeMechanism mechanism;

 private:
  HostProblems<double> problems_;

 public:
  std::vector<double> start;  ///< at rest relative to the free motion, until perturbed
};

}  // namespace stickslip::support
