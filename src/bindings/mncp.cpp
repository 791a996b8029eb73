// solve_mncp with a map written in Python.
#include "stickslip/mncp.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/arrays.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/signals.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// An array over the solver's memory, valid during one call.
template <class T, class... Size>
nb::object lent(T* data, int first, Size... size) {
  return nb::ndarray<nb::numpy, T, nb::ndim<1 + sizeof...(size)>>(
             data, {std::size_t(first), std::size_t(size)...}, nb::handle())
      .cast(nb::rv_policy::reference);
}

/// map(env, x, w, y, z, jacobian or None) writes into y, z and jacobian.
MncpMap python_map(const nb::callable& map) {
  return [&map](const MncpPoint& p) {
    static double nothing[1] = {};
    const int n = p.n_x + p.n_w;
    const auto values = [](double* data, int size) {
      return lent(size == 0 ? nothing : data, size);
    };
    const auto point = [](const double* data, int size) {
      return lent<const double>(size == 0 ? nothing : data, size);
    };
    map(p.env, point(p.x, p.n_x), point(p.w, p.n_w), values(p.y, p.n_x), values(p.z, p.n_w),
        p.jacobian == nullptr ? nb::none() : lent(p.jacobian, n, n));
  };
}

void run(const nb::callable& map, const nb::dict& in, const nb::dict& out, double atol, double rtol,
         int max_newton, int restarts) {
  const FromDict from{in}, to{out, true};
  Arrays arrays(from("start_x"), "(E, n_x)");
  const std::int64_t n_x = arrays.leader().shape[1];
  std::int64_t n_w = kAny;
  MncpBatch p;
  p.num_envs = std::int32_t(arrays.num_envs());
  p.max_x = std::int32_t(n_x);
  p.map = python_map(map);
  p.start_x = arrays.input<double>(arrays.leader(), {n_x});
  p.start_w = arrays.columns<double>(from("start_w"), n_w);
  p.max_w = std::int32_t(n_w);
  MncpResult r;
  r.x = arrays.output<double>(to("x"), {n_x});
  r.w = arrays.output<double>(to("w"), {n_w});
  r.y = arrays.output<double>(to("y"), {n_x});
  r.residual = arrays.output_numbers<double>(to("residual"));
  r.status = reinterpret_cast<EnvStatus*>(arrays.output_numbers<std::int32_t>(to("status")));
  r.iterations = arrays.output_numbers<std::int32_t>(to("iterations"));
  MncpWorkspace workspace(p.max_x + p.max_w, 1);  // Python runs one thread at a time
  workspace.watch(handle_signals);
  solve_mncp(p, r, {.atol = atol, .rtol = rtol, .max_newton = max_newton, .restarts = restarts},
             workspace);
}

}  // namespace

void bind_mncp(nb::module_& m) {
  m.def("solve_mncp", &run, "map"_a, "arrays"_a, "out"_a, nb::kw_only(), "atol"_a, "rtol"_a,
        "max_newton"_a, "restarts"_a,
        "Solves a batch of mixed NCPs. `arrays`: start_x, start_w. The arrays of `out` are written "
        "in place.");
}

}  // namespace stickslip::bindings
