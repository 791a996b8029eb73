// The arrays of a batch of linear complementarity problems.
#pragma once
#include "src/bindings/arrays.hpp"
#include "stickslip/lcp.hpp"

namespace stickslip::bindings {

/// A batch whose M is the leader of `arrays`; columns of `rows` are (rows in use, free rows).
template <class Scalar>
LcpBatch<Scalar> lcp_of(Arrays& arrays, const FromDict& from) {
  const std::int64_t n = arrays.leader().shape[1];
  LcpBatch<Scalar> p;
  p.num_envs = std::int32_t(arrays.num_envs());
  p.max_rows = std::int32_t(n);
  p.rows = arrays.input<std::int32_t>(from("rows"), {2});
  if (p.rows.data != nullptr) p.n_free = {p.rows.data + 1, p.rows.stride};
  p.M = arrays.input<Scalar>(arrays.leader(), {n, n}, {&p.ld_M});
  p.q = arrays.input<Scalar>(from("q"), {n});
  p.lo = arrays.input<Scalar>(from("lo"), {n});
  p.hi = arrays.input<Scalar>(from("hi"), {n});
  p.findex = arrays.input<std::int32_t>(from("findex"), {n});
  p.start = arrays.input<Scalar>(from("start"), {n});
  return p;
}

}  // namespace stickslip::bindings
