// delassus and apply_impulse, of arrays in host memory.
#include "stickslip/delassus.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/problem.hpp"
#include "src/bindings/workspaces.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// Calls f(arrays, mechanism) with double or float, as J has.
template <class F>
void with_mechanism(const nb::dict& in, F&& f) {
  const FromDict from{in};
  with_scalar(from("J"), [&](auto scalar) {
    Arrays arrays(from("J"), "(E, n, nv)");
    auto mechanism = mechanism_of<decltype(scalar)>(arrays, from);
    mechanism.rows = arrays.input<std::int32_t>(from("rows"), {});
    for (std::int64_t e = 0; mechanism.rows.data != nullptr && e < mechanism.num_envs; ++e) {
      const std::int32_t rows = mechanism.rows.data[e * mechanism.rows.stride];
      require(rows >= 0 && rows <= mechanism.max_rows, "rows", "as many rows as J has at most",
              rows);
    }
    f(arrays, mechanism);
  });
}

void run_delassus(const nb::dict& in, const nb::dict& out, int threads) {
  with_mechanism(in, [&]<class Scalar>(Arrays& arrays, const MechanismBatch<Scalar>& m) {
    const FromDict to{out, true};
    const auto W = arrays.output<Scalar>(to("W"), {m.max_rows, m.max_rows});
    auto* const ok = arrays.output_numbers<std::int32_t>(to("ok"));
    const auto workspace = take_workspace(0, 0, threads);  // grows to the mechanism
    const nb::gil_scoped_release other_threads_may_run;
    delassus(m, W, m.max_rows, ok, *workspace);
  });
}

void run_apply_impulse(const nb::dict& in, const nb::dict& out, int threads) {
  with_mechanism(in, [&]<class Scalar>(Arrays& arrays, const MechanismBatch<Scalar>& m) {
    const FromDict from{in}, to{out, true};
    const auto r = arrays.input<Scalar>(from("impulse"), {m.max_rows});
    const auto v = arrays.input<Scalar>(from("v_free"), {m.nv});
    const auto v_next = arrays.output<Scalar>(to("v_next"), {m.nv});
    auto* const ok = arrays.output_numbers<std::int32_t>(to("ok"));
    const auto workspace = take_workspace(0, 0, threads);  // grows to the mechanism
    const nb::gil_scoped_release other_threads_may_run;
    apply_impulse(m, r, v, v_next, ok, *workspace);
  });
}

}  // namespace

void bind_mechanism(nb::module_& m) {
  m.def("delassus", &run_delassus, "arrays"_a, "out"_a, nb::kw_only(), "threads"_a,
        "Writes W = J M^-1 J^T and ok. `arrays`: M, J, rows (or None).");
  m.def("apply_impulse", &run_apply_impulse, "arrays"_a, "out"_a, nb::kw_only(), "threads"_a,
        "Writes v_next = v_free + M^-1 J^T impulse and ok. `arrays`: M, J, rows, impulse, v_free.");
}

}  // namespace stickslip::bindings
