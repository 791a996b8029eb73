// delassus and apply_impulse for float and double.
#include "stickslip/delassus.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/mechanism_arrays.hpp"
#include "src/bindings/workspaces.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

template <class Scalar>
void bind_for(nb::module_& m) {
  using Rows = Array<const std::int32_t, 1>;
  using Matrices = Array<const Scalar, 3>;
  m.def(
      "delassus",
      [](Matrices M, Matrices J, Rows rows, Array<Scalar, 3> W, Array<std::int32_t, 1> ok,
         int threads) {
        const MechanismBatch<Scalar> mechanism = mechanism_view<Scalar>(M, J, rows);
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
      [](Matrices M, Matrices J, Rows rows, Array<const Scalar, 2> impulse,
         Array<const Scalar, 2> v_free, Array<Scalar, 2> v_next, Array<std::int32_t, 1> ok,
         int threads) {
        const MechanismBatch<Scalar> mechanism = mechanism_view<Scalar>(M, J, rows);
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
