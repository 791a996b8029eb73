// The arrays of a batch of mechanisms, as Python passes them.
#pragma once
#include "src/bindings/arrays.hpp"
#include "stickslip/delassus.hpp"

namespace stickslip::bindings {

/// M [E][nv][nv], J [E][n][nv]; `rows` [E] may be absent.
template <class Scalar>
MechanismBatch<Scalar> mechanism_view(const Array<const Scalar, 3>& M,
                                      const Array<const Scalar, 3>& J,
                                      const Array<const std::int32_t, 1>& rows) {
  const std::size_t num_envs = M.shape(0);
  MechanismBatch<Scalar> mechanism;
  mechanism.num_envs = size32("M", num_envs);
  mechanism.nv = size32("M", M.shape(1));
  mechanism.max_rows = size32("J", J.shape(1));
  require_size("M", M, 2, M.shape(1));
  require_size("J", J, 2, M.shape(1));
  mechanism.M = block_slots("M", M, num_envs);
  mechanism.J = block_slots("J", J, num_envs);
  if (rows.is_valid()) {
    require_size("rows", rows, 0, num_envs);
    mechanism.rows = {address(rows), rows.stride(0)};
    for (std::size_t e = 0; e < num_envs; ++e)
      if (rows(e) < 0 || rows(e) > mechanism.max_rows) refuse("rows", "out of range");
  }
  return mechanism;
}

}  // namespace stickslip::bindings
