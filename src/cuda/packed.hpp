// A batch of host memory as one block of bytes, so that one copy transfers it to the device:
// compact slots, as large as the largest environment in use, of the data that the solver may read.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/group/arena.hpp"
#include "kernels/problem/env_problem.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

using kernels::slot;
using kernels::usable_rows;

template <class Scalar>
int largest_rows(const ProblemBatch<Scalar>& p) {
  int most = 0;
  for (std::int64_t env = 0; env < p.num_envs; ++env) most = std::max(most, usable_rows(p, env));
  return most;
}

/// The inputs of a batch. As with the solvers' scratch, a null arena only counts bytes.
template <class Scalar>
class PackedProblem {
 public:
  PackedProblem(kernels::Arena arena, const ProblemBatch<Scalar>& p, int rows)
      : rows_(rows),
        contacts_(p.max_contacts),
        counts_(take<RowCounts>(arena, p, p.counts, 1)),
        dims_(take<std::int32_t>(arena, p, p.dims, contacts_)),
        W_(take<Scalar>(arena, p, p.W, std::int64_t(rows) * rows)),
        b_(take<Scalar>(arena, p, p.b, rows)),
        mu_(take<Scalar>(arena, p, p.mu, rows)),
        R_(take<Scalar>(arena, p, p.R, rows)),
        lo_(take<Scalar>(arena, p, p.lo, rows)),
        hi_(take<Scalar>(arena, p, p.hi, rows)),
        warm_start_(take<Scalar>(arena, p, p.warm_start, rows)),
        start_selected_(take<std::int32_t>(arena, p, p.start_selected, 1)),
        bytes_(arena.used()) {}

  std::size_t bytes() const { return bytes_; }
  /// Whether environments share a slot, so that they must be packed one after another.
  bool shares() const { return shares_; }

  ProblemBatch<Scalar> view(ProblemBatch<Scalar> p) const {
    p.max_rows = p.ld_W = rows_;
    p.counts = as_input(counts_);
    p.dims = as_input(dims_);
    p.W = as_input(W_);
    p.b = as_input(b_);
    p.mu = as_input(mu_);
    p.R = as_input(R_);
    p.lo = as_input(lo_);
    p.hi = as_input(hi_);
    p.warm_start = as_input(warm_start_);
    p.start_selected = as_input(start_selected_);
    return p;
  }

  /// Copies environment e in. If all environments share a slot, each writes the part of it that it
  /// uses.
  void pack(const ProblemBatch<Scalar>& p, std::int64_t e) const {
    const RowCounts s = *slot(p.counts, e);
    *slot(counts_, e) = s;
    const std::int64_t contacts = std::clamp(s.n_contacts, 0, contacts_);
    copy(p.dims, dims_, e, contacts);
    const std::int64_t n = usable_rows(p, e), ld = p.ld_W > 0 ? p.ld_W : p.max_rows;
    if (n == 0) return;
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(slot(p.W, e) + i * ld, n, slot(W_, e) + i * rows_);
    }
    copy(p.b, b_, e, n);
    copy(p.mu, mu_, e, n - s.n_free - s.n_nonneg - s.n_box - s.n_contacts);
    copy(p.R, R_, e, n);
    copy(p.lo, lo_, e, s.n_box);
    copy(p.hi, hi_, e, s.n_box);
    copy(p.warm_start, warm_start_, e, n);
    copy(p.start_selected, start_selected_, e, 1);
  }

 private:
  /// Memory for an array, if the batch has it; one slot if all environments share one.
  template <class T, class Source>
  EnvArray<T> take(kernels::Arena& arena, const ProblemBatch<Scalar>& p, const Source& source,
                   std::int64_t size) {
    if (source.data == nullptr) return {};
    shares_ = shares_ || source.stride == 0;
    const std::int64_t slots = source.stride == 0 ? std::min(p.num_envs, 1) : p.num_envs;
    return {arena.take<T>(std::size_t(slots * size)), source.stride == 0 ? 0 : size};
  }
  template <class T>
  static EnvArray<const T> as_input(const EnvArray<T>& array) {
    return {array.data, array.stride};
  }
  template <class T>
  static void copy(const EnvArray<const T>& from, const EnvArray<T>& to, std::int64_t e,
                   std::int64_t count) {
    if (from.data != nullptr) std::copy_n(slot(from, e), count, slot(to, e));
  }

  bool shares_ = false;
  int rows_, contacts_;
  EnvArray<RowCounts> counts_;
  EnvArray<std::int32_t> dims_;
  EnvArray<Scalar> W_, b_, mu_, R_, lo_, hi_, warm_start_;
  EnvArray<std::int32_t> start_selected_;
  std::size_t bytes_;
};

/// The results of a batch.
template <class Scalar>
struct PackedResults {
  ResultBatch<Scalar> view;
  std::size_t bytes;

  PackedResults(kernels::Arena arena, std::int32_t num_envs, int rows, Certificates certificates) {
    const auto envs = std::size_t(num_envs);
    view.impulse = {arena.take<Scalar>(envs * std::size_t(rows)), rows};
    view.residual = arena.take<double>(envs);
    view.status = arena.take<EnvStatus>(envs);
    view.iterations = arena.take<std::int32_t>(envs);
    view.solver = arena.take<Solver>(envs);
    view.rows_needed = arena.take<std::int32_t>(envs);
    view.rung = arena.take<std::int32_t>(envs);
    view.selected = arena.take<Selected>(envs);
    if (certificates == Certificates::copy) {
      view.certificate = {arena.take<double>(envs * std::size_t(rows)), rows};
    }
    bytes = arena.used();
  }

  /// Copies environment e out, into a slot of `max_rows` rows.
  void unpack(const ResultBatch<Scalar>& r, std::int64_t e, std::int32_t max_rows) const {
    if (max_rows > 0) {
      unpack_rows(view.impulse, r.impulse, e, max_rows);
      if (view.certificate.data != nullptr && r.certificate.data != nullptr) {
        unpack_rows(view.certificate, r.certificate, e, max_rows);
      }
    }
    r.residual[e] = view.residual[e];
    r.status[e] = view.status[e];
    r.iterations[e] = view.iterations[e];
    if (r.solver != nullptr) r.solver[e] = view.solver[e];
    if (r.rows_needed != nullptr) r.rows_needed[e] = view.rows_needed[e];
    if (r.rung != nullptr) r.rung[e] = view.rung[e];
    if (r.selected != nullptr) r.selected[e] = view.selected[e];
  }

 private:
  template <class T>
  static void unpack_rows(const EnvArray<T>& from, const EnvArray<T>& to, std::int64_t e,
                          std::int32_t max_rows) {
    T* end = std::copy_n(slot(from, e), from.stride, slot(to, e));
    std::fill(end, slot(to, e) + max_rows, T(0));
  }
};

}  // namespace stickslip::cuda
