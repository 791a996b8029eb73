// delassus and apply_impulse for float and double.
#include "stickslip/delassus.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/arrays.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/workspaces.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

template <class In>
MechanismBatch<In> view(const Array<const In, 3>& M, const Array<const In, 3>& J,
                        const Array<const std::int32_t, 1>& rows) {
  const std::size_t num_envs = M.shape(0);
  MechanismBatch<In> mechanism;
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

template <class In>
void bind_for(nb::module_& m) {
  using Rows = Array<const std::int32_t, 1>;
  using Matrices = Array<const In, 3>;
  m.def(
      "delassus",
      [](Matrices M, Matrices J, Rows rows, Array<In, 3> W, Array<std::int32_t, 1> ok,
         int threads) {
        const MechanismBatch<In> mechanism = view<In>(M, J, rows);
        require_size("W", W, 1, J.shape(1));
        require_size("W", W, 2, J.shape(1));
        std::int32_t ld_W = 0;
        const auto out = matrix_slots("W", W, M.shape(0), ld_W);
        std::int32_t* const flags = values("ok", ok, M.shape(0));
        const auto workspace = take_workspace(0, 0, threads);  // grows to the mechanism
        const nb::gil_scoped_release other_threads_may_run;
        delassus(mechanism, out, ld_W, flags, *workspace);
      },
      "M"_a.noconvert(), "J"_a.noconvert(), "rows"_a.noconvert().none(), "W"_a.noconvert(),
      "ok"_a.noconvert(), "threads"_a, "Writes W = J M^-1 J^T and ok in place.");
  m.def(
      "apply_impulse",
      [](Matrices M, Matrices J, Rows rows, Array<const In, 2> impulse, Array<const In, 2> v_free,
         Array<In, 2> v_next, Array<std::int32_t, 1> ok, int threads) {
        const MechanismBatch<In> mechanism = view<In>(M, J, rows);
        const std::size_t num_envs = M.shape(0);
        require_size("impulse", impulse, 1, J.shape(1));
        require_size("v_free", v_free, 1, M.shape(1));
        require_size("v_next", v_next, 1, M.shape(1));
        const auto r = slots("impulse", impulse, num_envs);
        const auto v = slots("v_free", v_free, num_envs);
        const auto out = slots("v_next", v_next, num_envs);
        std::int32_t* const flags = values("ok", ok, num_envs);
        const auto workspace = take_workspace(0, 0, threads);  // grows to the mechanism
        const nb::gil_scoped_release other_threads_may_run;
        apply_impulse(mechanism, r, v, out, flags, *workspace);
      },
      "M"_a.noconvert(), "J"_a.noconvert(), "rows"_a.noconvert().none(), "impulse"_a.noconvert(),
      "v_free"_a.noconvert(), "v_next"_a.noconvert(), "ok"_a.noconvert(), "threads"_a,
      "Writes v_next = v_free + M^-1 J^T impulse and ok in place.");
}

}  // namespace

void bind_mechanism(nb::module_& m) {
  bind_for<double>(m);
  bind_for<float>(m);
}

}  // namespace stickslip::bindings
