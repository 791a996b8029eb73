// The arrays of a batch of linear complementarity problems.
#pragma once
#include "src/bindings/arrays.hpp"
#include "stickslip/lcp.hpp"

namespace stickslip::bindings {

/// Inputs; `rows` columns are (rows in use, free rows).
template <class Scalar>
struct LcpArrays {
  Array<const std::int32_t, 2> rows;
  Array<const Scalar, 3> M;
  Array<const Scalar, 2> q, lo, hi;
  Array<const std::int32_t, 2> findex;
  Array<const Scalar, 2> start;

  LcpBatch<Scalar> view() const {
    const std::size_t num_envs = M.shape(0);
    LcpBatch<Scalar> p;
    p.num_envs = size32("M", num_envs);
    p.max_rows = size32("M", M.shape(1));
    require_size("M", M, 2, M.shape(1));
    require_size("rows", rows, 1, 2);
    p.rows = slots("rows", rows, num_envs);
    p.n_free = {p.rows.data + 1, p.rows.stride};
    p.M = matrix_slots("M", M, num_envs, p.ld_M);
    p.q = per_row("q", q);
    p.lo = per_row("lo", lo);
    p.hi = per_row("hi", hi);
    p.findex = per_row("findex", findex);
    p.start = per_row("start", start);
    return p;
  }

 private:
  template <class A>
  EnvArray<typename A::Scalar> per_row(const char* name, const A& array) const {
    if (array.is_valid()) require_size(name, array, 1, M.shape(1));
    return slots(name, array, M.shape(0));
  }
};

}  // namespace stickslip::bindings
