#include "stickslip/host_lcp.hpp"

#include "src/api/check.hpp"

namespace stickslip {

namespace {

std::size_t slots(std::int32_t num_envs, std::int32_t max_rows) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require_memory(8.0 * num_envs * max_rows, "num_envs, max_rows");
  return std::size_t(num_envs) * std::size_t(max_rows);
}

}  // namespace

HostLcp::HostLcp(std::int32_t num_envs, std::int32_t max_rows) : max_rows_(max_rows) {
  require_memory(8.0 * num_envs * max_rows * max_rows, "num_envs, max_rows");
  q_.resize(slots(num_envs, max_rows));
  M_.resize(q_.size() * std::size_t(max_rows));
  rows_.assign(std::size_t(num_envs), max_rows);
  n_free_.resize(std::size_t(num_envs));
}

LcpBatch<double> HostLcp::view() const {
  LcpBatch<double> p;
  p.num_envs = num_envs();
  p.max_rows = max_rows_;
  p.rows = {rows_.data(), 1};
  p.n_free = {n_free_.data(), 1};
  p.M = {M_.data(), std::int64_t(max_rows_) * max_rows_};
  p.q = {q_.data(), max_rows_};
  return p;
}

HostLcpResults::HostLcpResults(std::int32_t num_envs, std::int32_t max_rows)
    : max_rows_(max_rows), z_(slots(num_envs, max_rows)), w_(z_.size()) {
  const auto envs = std::size_t(num_envs);
  residual_.resize(envs);
  status_.resize(envs);
  iterations_.resize(envs);
  method_.resize(envs);
}

LcpResult<double> HostLcpResults::view() {
  return {{z_.data(), max_rows_}, {w_.data(), max_rows_}, residual_.data(),
          status_.data(),         iterations_.data(),     method_.data()};
}

}  // namespace stickslip
