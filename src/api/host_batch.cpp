#include "stickslip/host_batch.hpp"

#include "src/api/check.hpp"

namespace stickslip {

template <class Scalar>
HostProblems<Scalar>::HostProblems(std::int32_t num_envs, std::int32_t max_rows,
                                   std::int32_t max_contacts)
    : num_envs_(num_envs), max_rows_(max_rows), max_contacts_(max_contacts) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require(max_contacts >= 0, "max_contacts", "a number >= 0", max_contacts);
  const double per_env = (double(max_rows) + 6.0) * max_rows;
  require_memory(num_envs * per_env * sizeof(Scalar), "num_envs, max_rows");
  require_memory(4.0 * num_envs * max_contacts, "num_envs, max_contacts");
  const std::size_t rows = slot(num_envs, max_rows);
  counts_.resize(std::size_t(num_envs));
  dims_.assign(slot(num_envs, max_contacts), 3);
  W_.resize(rows * std::size_t(max_rows));
  for (auto* v : {&b_, &mu_, &R_, &lo_, &hi_, &warm_start_}) v->resize(rows);
}

template <class Scalar>
ProblemBatch<Scalar> HostProblems<Scalar>::view() const {
  ProblemBatch<Scalar> p;
  p.num_envs = num_envs_;
  p.max_rows = max_rows_;
  p.max_contacts = max_contacts_;
  p.counts = {counts_.data(), 1};
  p.dims = {dims_.data(), max_contacts_};
  p.W = {W_.data(), std::int64_t(max_rows_) * max_rows_};
  p.b = {b_.data(), max_rows_};
  p.mu = {mu_.data(), max_rows_};
  p.R = {R_.data(), max_rows_};
  p.lo = {lo_.data(), max_rows_};
  p.hi = {hi_.data(), max_rows_};
  p.warm_start = {warm_start_.data(), max_rows_};
  return p;
}

template <class Scalar>
HostResults<Scalar>::HostResults(std::int32_t num_envs, std::int32_t max_rows)
    : max_rows_(max_rows) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require_memory(1.0 * num_envs * max_rows * sizeof(Scalar), "num_envs, max_rows");
  const auto envs = std::size_t(num_envs);
  impulse_.resize(envs * std::size_t(max_rows));
  residual_.resize(envs);
  certificate_.resize(impulse_.size());
  status_.resize(envs);
  iterations_.resize(envs);
  rows_needed_.resize(envs);
  rung_.resize(envs);
  selected_.resize(envs);
  solver_.resize(envs);
}

template <class Scalar>
ResultBatch<Scalar> HostResults<Scalar>::view() {
  ResultBatch<Scalar> r;
  r.impulse = {impulse_.data(), max_rows_};
  r.residual = residual_.data();
  r.status = status_.data();
  r.iterations = iterations_.data();
  r.solver = solver_.data();
  r.rows_needed = rows_needed_.data();
  r.rung = rung_.data();
  r.selected = selected_.data();
  r.certificate = {certificate_.data(), max_rows_};
  return r;
}

template class HostProblems<double>;
template class HostProblems<float>;
template class HostResults<double>;
template class HostResults<float>;

}  // namespace stickslip
