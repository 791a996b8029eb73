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

}  // namespace

void bind_mncp(nb::module_& m) {
  m.def(
      "solve_mncp",
      [](nb::callable map, Array<const double, 2> start_x, Array<const double, 2> start_w,
         double atol, double rtol, int max_newton, int restarts, Array<double, 2> x,
         Array<double, 2> w, Array<double, 2> y, Array<double, 1> residual,
         Array<std::int32_t, 1> status, Array<std::int32_t, 1> iterations) {
        const std::size_t num_envs = start_x.shape(0);
        MncpBatch p;
        p.num_envs = size32("start_x", num_envs);
        p.max_x = size32("start_x", start_x.shape(1));
        p.max_w = size32("start_w", start_w.shape(1));
        p.map = python_map(map);
        p.start_x = slots("start_x", start_x, num_envs);
        p.start_w = slots("start_w", start_w, num_envs);
        require_size("x", x, 1, start_x.shape(1));
        require_size("w", w, 1, start_w.shape(1));
        require_size("y", y, 1, start_x.shape(1));
        MncpResult r;
        r.x = slots("x", x, num_envs);
        r.w = slots("w", w, num_envs);
        r.y = slots("y", y, num_envs);
        r.residual = values("residual", residual, num_envs);
        r.status = reinterpret_cast<EnvStatus*>(values("status", status, num_envs));
        r.iterations = values("iterations", iterations, num_envs);
        MncpWorkspace workspace(p.max_x + p.max_w, 1);  // Python runs one thread at a time
        workspace.watch(handle_signals);
        solve_mncp(p, r,
                   {.atol = atol, .rtol = rtol, .max_newton = max_newton, .restarts = restarts},
                   workspace);
      },
      "map"_a, "start_x"_a.noconvert(), "start_w"_a.noconvert(), "atol"_a, "rtol"_a, "max_newton"_a,
      "restarts"_a, "x"_a.noconvert(), "w"_a.noconvert(), "y"_a.noconvert(),
      "residual"_a.noconvert(), "status"_a.noconvert(), "iterations"_a.noconvert(),
      "Solves a batch of mixed NCPs; the arrays from `x` to `iterations` are written in place.");
}

}  // namespace stickslip::bindings
