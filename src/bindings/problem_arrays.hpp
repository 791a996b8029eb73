// The arrays of a batch of contact problems, as Python passes them.
#pragma once
#include <algorithm>

#include "src/bindings/arrays.hpp"

namespace stickslip::bindings {

/// Inputs of `solve` and `measure`; `counts` rows are (n_free, n_nonneg, n_box, n_contacts). W may
/// be absent if a mechanism gives it.
template <class Scalar>
struct ProblemArrays {
  Array<const std::int32_t, 2> counts, dims;
  Array<const Scalar, 3> W;
  Array<const Scalar, 2> b, mu, R, lo, hi, warm_start;

  std::size_t num_envs() const { return W.is_valid() ? W.shape(0) : b.shape(0); }
  std::size_t rows() const { return W.is_valid() ? W.shape(1) : b.shape(1); }

  /// The view; throws std::invalid_argument if an array does not have the size that W's, or b's,
  /// implies.
  ProblemBatch<Scalar> view() const {
    ProblemBatch<Scalar> p;
    p.num_envs = size32("W", num_envs());
    p.max_rows = size32("W", rows());
    p.max_contacts = size32("dims", dims.shape(1));
    p.counts = counts_slots();
    p.dims = slots("dims", dims, num_envs());
    if (W.is_valid()) {
      require_size("W", W, 2, rows());
      p.W = matrix_slots("W", W, num_envs(), p.ld_W);
    }
    p.b = row_slots("b", b);
    p.mu = slots("mu", mu, num_envs());
    p.R = row_slots("R", R);
    p.lo = slots("lo", lo, num_envs());
    p.hi = slots("hi", hi, num_envs());
    p.warm_start = row_slots("warm_start", warm_start);
    require_room();
    return p;
  }

  /// Whether environment e's rows fit its slot; if not, no other data of it are read.
  bool fits(std::size_t e) const {
    const std::int64_t count =
        std::int64_t(counts(e, 0)) + counts(e, 1) + counts(e, 2) + block_rows(e);
    return counts(e, 3) <= std::int64_t(dims.shape(1)) && count <= std::int64_t(rows());
  }

 private:
  EnvArray<const Scalar> row_slots(const char* name, const Array<const Scalar, 2>& array) const {
    if (array.is_valid()) require_size(name, array, 1, rows());
    return slots(name, array, num_envs());
  }

  EnvArray<const RowCounts> counts_slots() const {
    static_assert(sizeof(RowCounts) == 4 * sizeof(std::int32_t));
    require_size("counts", counts, 1, 4);
    const auto raw = slots("counts", counts, num_envs());
    if (raw.stride % 4 != 0)
      refuse("counts", "environments must be a multiple of 4 integers apart");
    return {reinterpret_cast<const RowCounts*>(raw.data), raw.stride / 4};
  }

  /// Rows of environment e's contact blocks.
  std::int64_t block_rows(std::size_t e) const {
    std::int64_t count = 0;
    for (std::int64_t c = 0; c < std::min<std::int64_t>(counts(e, 3), dims.shape(1)); ++c)
      count += dims(e, c);
    return count;
  }

  /// Requires mu, lo, hi to have all values that the environments that fit their slot will read.
  void require_room() const {
    const std::size_t bounds =
        lo.is_valid() && hi.is_valid() ? std::min(lo.shape(1), hi.shape(1)) : 0;
    for (std::size_t e = 0; e < num_envs(); ++e) {
      if (!fits(e)) continue;
      if (counts(e, 2) > std::int64_t(bounds)) refuse("lo, hi", "fewer bounds than box rows");
      if (block_rows(e) - counts(e, 3) > std::int64_t(mu.shape(1)))
        refuse("mu", "fewer coefficients than tangential rows");
    }
  }
};

}  // namespace stickslip::bindings
