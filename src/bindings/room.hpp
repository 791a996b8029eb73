// Whether arrays whose sizes the shapes of environments decide are large enough.
#pragma once
#include <cstdint>

#include "kernels/problem/env_problem.hpp"
#include "src/api/check.hpp"

namespace stickslip::bindings {

/// Slots of mu have `tangential` numbers and those of lo and hi `box`: all that environments which
/// fit their slot will read. Shapes and dims are in host memory.
template <class Scalar>
void require_room(const ProblemBatch<Scalar>& p, std::int64_t tangential, std::int64_t box) {
  for (std::int64_t e = 0; e < p.num_envs; ++e) {
    const RowCounts& s = p.counts.data[e * p.counts.stride];
    const std::int32_t* dims = kernels::slot(p.dims, e);
    if (!kernels::counts_are_valid<Scalar>(s, nullptr) || s.n_contacts > p.max_contacts ||
        !kernels::counts_are_valid<Scalar>(s, dims)) {
      continue;
    }
    const std::int32_t rows = kernels::rows_of(s, dims, p.max_contacts);
    if (rows > p.max_rows) continue;
    require(s.n_box <= box, "lo, hi", "a bound for each box row", box);
    require(rows - s.n_free - s.n_nonneg - s.n_box - s.n_contacts <= tangential, "mu",
            "a number for each tangential row", tangential);
  }
}

}  // namespace stickslip::bindings
