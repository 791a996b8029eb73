#include <algorithm>
#include <string>
#include <utility>

#include "src/api/check.hpp"
#include "src/cpu/workspace.hpp"
#include "stickslip/formulation.hpp"

namespace stickslip {

namespace {

void check_mixed(const LcpBatch<double>& p) {
  require(p.num_envs >= 0, "mixed.num_envs", "a number >= 0", p.num_envs);
  require(p.max_rows >= 0, "mixed.max_rows", "a number >= 0", p.max_rows);
  require(p.ld_M == 0 || p.ld_M >= p.max_rows, "mixed.ld_M", "0 or at least max_rows", p.ld_M);
  require(p.lo.data == nullptr && p.hi.data == nullptr, "mixed.lo, mixed.hi",
          "none, because a standard problem has no bounds", "arrays");
  if (p.num_envs == 0 || p.max_rows == 0) return;
  require_array(p.M, "mixed.M");
  require_array(p.q, "mixed.q");
}

/// A count of environment `env`, between 0 and `most`.
std::int32_t count(const EnvArray<const std::int32_t>& array, int env, std::int32_t absent,
                   std::int32_t most, const char* name) {
  const std::int32_t value = array.data == nullptr ? absent : array.data[env * array.stride];
  if (value < 0 || value > most) {
    throw std::invalid_argument(std::string(name) + ": expected 0 to " + std::to_string(most) +
                                ", got " + std::to_string(value) + " in environment " +
                                std::to_string(env));
  }
  return value;
}

/// Throws if environment `env` has no standard form.
void require_eliminated(EnvStatus status, int rank, int n_free, int env) {
  const std::string where = " in environment " + std::to_string(env);
  if (status == EnvStatus::bad_input) {
    throw std::invalid_argument("mixed.M, mixed.q: expected finite numbers, got others" + where);
  }
  if (status != EnvStatus::solved) {
    throw std::invalid_argument("mixed.M: expected an invertible block of free rows, got rank " +
                                std::to_string(rank) + " of " + std::to_string(n_free) + where);
  }
}

}  // namespace

StandardForm::StandardForm(const LcpBatch<double>& mixed, int threads, std::function<bool()> go_on)
    : max_free_(0), problem_(0, 0) {
  check_mixed(mixed);
  require(threads >= 0, "threads", "a number >= 0 (0: all cores)", threads);
  const auto envs = std::size_t(mixed.num_envs);
  std::vector<std::int32_t> left;
  for (int e = 0; e < mixed.num_envs; ++e) {
    const auto rows = count(mixed.rows, e, mixed.max_rows, mixed.max_rows, "mixed.rows");
    n_free_.push_back(count(mixed.n_free, e, 0, rows, "mixed.n_free"));
    left.push_back(rows - n_free_.back());
    max_free_ = std::max(max_free_, n_free_.back());
  }
  const std::int32_t max_left = left.empty() ? 0 : *std::max_element(left.begin(), left.end());
  problem_ = HostLcp(mixed.num_envs, max_left);
  T_.resize(envs * std::size_t(max_free_) * std::size_t(max_left));
  t_.resize(envs * std::size_t(max_free_));
  std::vector<EnvStatus> status(envs);
  std::vector<std::int32_t> rank(envs);
  const kernels::Elimination out{{problem_.M(0), std::int64_t(max_left) * max_left},
                                 {problem_.q(0), max_left},
                                 {T_.data(), std::int64_t(max_free_) * max_left},
                                 {t_.data(), max_free_},
                                 max_left,
                                 status.data(),
                                 rank.data()};
  const auto& table = kernels::kernel_table();
  Workspace workspace(0, 0, threads);
  workspace.watch(std::move(go_on));
  impl_of(workspace).reserve(table.f64.lcp_bytes(mixed.max_rows, false));
  const auto eliminate = [&](auto begin, auto end, void* scratch) {
    table.eliminate(mixed, out, begin, end, scratch);
  };
  impl_of(workspace).for_chunks(mixed.num_envs, Workspace::Impl::work_of(mixed.max_rows),
                                eliminate);
  for (int e = 0; e < mixed.num_envs; ++e) {
    const auto i = std::size_t(e);
    require_eliminated(status[i], rank[i], n_free_[i], e);
    problem_.rows(e) = left[i];
  }
}

void StandardForm::restore(EnvArray<const double> x, EnvArray<double> z) const {
  if (problem_.num_envs() > 0 && max_free_ + problem_.max_rows() > 0) {
    if (problem_.max_rows() > 0) require_array(x, "x");
    require_array(z, "z");
  }
  for (int e = 0; e < problem_.num_envs(); ++e) {
    const double* from = x.data + e * x.stride;
    double* to = z.data + e * z.stride;
    const int m = problem_.rows(e), f = n_free(e);
    for (int i = 0; i < f; ++i) {
      const double* row = T(e) + std::int64_t(i) * problem_.max_rows();
      double sum = t(e)[i];
      for (int j = 0; j < m; ++j) sum += row[j] * from[j];
      to[i] = sum;
    }
    std::copy(from, from + m, to + f);
  }
}

}  // namespace stickslip
