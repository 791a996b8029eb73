// Owning host memory for a batch: the easy way to build problems in C++.
#pragma once
#include <cstdint>
#include <vector>

#include "stickslip/batch.hpp"

namespace stickslip {

/// Problems of up to `max_rows` rows and `max_contacts` contacts, zero-initialised.
/// Fill the slots (see the accessors), then pass `view()` to `solve`.
template <class Scalar>
class HostProblems {
 public:
  HostProblems(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts);

  RowCounts& counts(int env) { return counts_[env]; }
  std::int32_t* dims(int env) { return &dims_[slot(env, max_contacts_)]; }  ///< preset to 3
  Scalar* W(int env) { return &W_[slot(env, max_rows_) * max_rows_]; }      ///< ld = max_rows
  Scalar* b(int env) { return &b_[slot(env, max_rows_)]; }
  Scalar* mu(int env) { return &mu_[slot(env, max_rows_)]; }
  Scalar* R(int env) { return &R_[slot(env, max_rows_)]; }
  Scalar* lo(int env) { return &lo_[slot(env, max_rows_)]; }
  Scalar* hi(int env) { return &hi_[slot(env, max_rows_)]; }
  Scalar* warm_start(int env) { return &warm_start_[slot(env, max_rows_)]; }

  std::int32_t num_envs() const { return num_envs_; }
  std::int32_t max_rows() const { return max_rows_; }
  std::int32_t max_contacts() const { return max_contacts_; }
  ProblemBatch<Scalar> view() const;

 private:
  static std::size_t slot(int env, std::int32_t size) { return std::size_t(env) * size; }
  std::int32_t num_envs_, max_rows_, max_contacts_;
  std::vector<RowCounts> counts_;
  std::vector<std::int32_t> dims_;
  std::vector<Scalar> W_, b_, mu_, R_, lo_, hi_, warm_start_;
};

/// Results for such a batch.
template <class Scalar>
class HostResults {
 public:
  HostResults(std::int32_t num_envs, std::int32_t max_rows);
  const Scalar* impulse(int env) const { return &impulse_[std::size_t(env) * max_rows_]; }
  double residual(int env) const { return residual_[env]; }
  EnvStatus status(int env) const { return status_[env]; }
  int iterations(int env) const { return iterations_[env]; }
  Solver solver(int env) const { return solver_[env]; }
  int rows_needed(int env) const { return rows_needed_[env]; }
  int rung(int env) const { return rung_[env]; }
  Selected selected(int env) const { return selected_[env]; }
  /// [max_rows] the proof if the status is `infeasible`, else 0.
  const double* certificate(int env) const { return &certificate_[std::size_t(env) * max_rows_]; }
  ResultBatch<Scalar> view();

 private:
  std::int32_t max_rows_;
  std::vector<Scalar> impulse_;
  std::vector<double> residual_, certificate_;
  std::vector<EnvStatus> status_;
  std::vector<std::int32_t> iterations_, rows_needed_, rung_;
  std::vector<Selected> selected_;
  std::vector<Solver> solver_;
};

}  // namespace stickslip
