// Owning host memory for a batch of linear complementarity problems, and for its results.
#pragma once
#include <cstdint>
#include <vector>

#include "stickslip/lcp.hpp"

namespace stickslip {

/// Problems of up to `max_rows` rows, zero-initialised, all rows in use and none free.
class HostLcp {
 public:
  HostLcp(std::int32_t num_envs, std::int32_t max_rows);

  double* M(int env) { return M_.data() + slot(env) * std::size_t(max_rows_); }  ///< ld = max_rows
  const double* M(int env) const { return M_.data() + slot(env) * std::size_t(max_rows_); }
  double* q(int env) { return q_.data() + slot(env); }
  const double* q(int env) const { return q_.data() + slot(env); }
  std::int32_t& rows(int env) { return rows_[std::size_t(env)]; }
  std::int32_t rows(int env) const { return rows_[std::size_t(env)]; }
  std::int32_t& n_free(int env) { return n_free_[std::size_t(env)]; }
  std::int32_t n_free(int env) const { return n_free_[std::size_t(env)]; }

  std::int32_t num_envs() const { return std::int32_t(rows_.size()); }
  std::int32_t max_rows() const { return max_rows_; }
  LcpBatch<double> view() const;

 private:
  std::size_t slot(int env) const { return std::size_t(env) * std::size_t(max_rows_); }
  std::int32_t max_rows_;
  std::vector<std::int32_t> rows_, n_free_;
  std::vector<double> M_, q_;
};

/// Results for such a batch.
class HostLcpResults {
 public:
  HostLcpResults(std::int32_t num_envs, std::int32_t max_rows);
  const double* z(int env) const { return z_.data() + std::size_t(env) * std::size_t(max_rows_); }
  const double* w(int env) const { return w_.data() + std::size_t(env) * std::size_t(max_rows_); }
  double residual(int env) const { return residual_[std::size_t(env)]; }
  EnvStatus status(int env) const { return status_[std::size_t(env)]; }
  int iterations(int env) const { return iterations_[std::size_t(env)]; }
  LcpMethod method(int env) const { return method_[std::size_t(env)]; }
  LcpResult<double> view();

 private:
  std::int32_t max_rows_;
  std::vector<double> z_, w_, residual_;
  std::vector<EnvStatus> status_;
  std::vector<std::int32_t> iterations_;
  std::vector<LcpMethod> method_;
};

}  // namespace stickslip
