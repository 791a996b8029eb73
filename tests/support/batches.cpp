#include "tests/support/batches.hpp"

#include <algorithm>

#include "tests/support/random.hpp"

namespace stickslip::support {
namespace {

template <class Scalar>
void copy(const reference::Vector& from, Scalar* to) {
  for (Eigen::Index i = 0; i < from.size(); ++i) to[i] = Scalar(from[i]);
}

}  // namespace

template <class Scalar>
HostProblems<Scalar> to_batch(std::span<const reference::Problem> problems) {
  int max_rows = 1;
  int max_contacts = 1;
  for (const auto& p : problems) {
    max_rows = std::max(max_rows, reference::rows(p));
    max_contacts = std::max(max_contacts, p.counts.n_contacts);
  }
  HostProblems<Scalar> batch(int(problems.size()), max_rows, max_contacts);
  for (int env = 0; env < int(problems.size()); ++env) {
    const reference::Problem& p = problems[std::size_t(env)];
    batch.counts(env) = p.counts;
    std::copy(p.dims.begin(), p.dims.end(), batch.dims(env));
    for (Eigen::Index i = 0; i < p.W.rows(); ++i) {
      copy(p.W.row(i).transpose(), batch.W(env) + i * max_rows);
    }
    copy(p.b, batch.b(env));
    copy(p.mu, batch.mu(env));
    copy(p.R, batch.R(env));
    copy(p.lo, batch.lo(env));
    copy(p.hi, batch.hi(env));
  }
  return batch;
}
void start_as_after_a_jam(HostProblems<double>& batch,
                          std::span<const reference::Problem> problems) {
  Random random(13);
  for (int env = 0; env < batch.num_envs(); ++env) {
    const reference::Problem& p = problems[std::size_t(env)];
    for (Eigen::Index i = 0; i < p.b.size(); ++i) {
      batch.warm_start(env)[i] =
          1e3 * random.uniform(0.1, 1.0) * p.b.lpNorm<Eigen::Infinity>() / p.W(i, i);
    }
  }
}

template HostProblems<float> to_batch(std::span<const reference::Problem>);
template HostProblems<double> to_batch(std::span<const reference::Problem>);

template <class Scalar>
HostResults<Scalar> solve_batch(const HostProblems<Scalar>& problems, const SolveOptions& options,
                                int threads) {
  HostResults<Scalar> results(problems.num_envs(), problems.max_rows());
  Workspace workspace(problems.max_rows(), problems.max_contacts(), threads);
  solve(problems.view(), results.view(), options, workspace);
  return results;
}
template HostResults<float> solve_batch(const HostProblems<float>&, const SolveOptions&, int);
template HostResults<double> solve_batch(const HostProblems<double>&, const SolveOptions&, int);

}  // namespace stickslip::support
