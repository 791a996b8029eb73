// solve_lcp for float and double.
#include "stickslip/lcp.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/lcp_arrays.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

template <class Scalar>
struct LcpOutputs {
  Array<Scalar, 2> z, w;
  Array<double, 1> residual;
  Array<std::int32_t, 1> status, iterations, method;

  LcpResult<Scalar> view(const LcpBatch<Scalar>& p) const {
    const auto num_envs = std::size_t(p.num_envs), rows = std::size_t(p.max_rows);
    require_size("z", z, 1, rows);
    require_size("w", w, 1, rows);
    LcpResult<Scalar> r;
    r.z = slots("z", z, num_envs);
    r.w = slots("w", w, num_envs);
    r.residual = values("residual", residual, num_envs);
    r.status = reinterpret_cast<EnvStatus*>(values("status", status, num_envs));
    r.iterations = values("iterations", iterations, num_envs);
    r.method = reinterpret_cast<LcpMethod*>(values("method", method, num_envs));
    return r;
  }
};

template <class Scalar>
void bind_for(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Vectors = Array<const Scalar, 2>;
  m.def(
      "solve_lcp",
      [](Ints rows, Array<const Scalar, 3> M, Vectors q, Vectors lo, Vectors hi, Ints findex,
         Vectors start, const LcpOptions& options, Array<Scalar, 2> z, Array<Scalar, 2> w,
         Array<double, 1> residual, Array<std::int32_t, 1> status,
         Array<std::int32_t, 1> iterations, Array<std::int32_t, 1> method, bool on_cuda,
         int threads) {
        const LcpArrays<Scalar> arrays{rows, M, q, lo, hi, findex, start};
        const LcpBatch<Scalar> p = arrays.view();
        const LcpResult<Scalar> r =
            LcpOutputs<Scalar>{z, w, residual, status, iterations, method}.view(p);
        const auto workspace =
            on_cuda ? nullptr : take_lcp_workspace(p.max_rows, p.lo.data != nullptr, threads);
        const nb::gil_scoped_release other_threads_may_run;
        on_cuda ? cuda::solve_lcp_host(p, r, options) : solve_lcp(p, r, options, *workspace);
      },
      "rows"_a.noconvert(), "M"_a.noconvert(), "q"_a.noconvert(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "findex"_a.noconvert().none(), "start"_a.noconvert().none(),
      "options"_a, "z"_a.noconvert(), "w"_a.noconvert(), "residual"_a.noconvert(),
      "status"_a.noconvert(), "iterations"_a.noconvert(), "method"_a.noconvert(), "on_cuda"_a,
      "threads"_a, "Solves a batch; the arrays from `z` to `method` are written in place.");
}

void set_options(LcpOptions* self, LcpMethod method, Precision precision, double atol, double rtol,
                 std::int32_t max_pivots, std::int32_t max_newton, std::int32_t restarts,
                 double cfm) {
  new (self) LcpOptions{.method = method,
                        .precision = precision,
                        .atol = atol,
                        .rtol = rtol,
                        .max_pivots = max_pivots,
                        .max_newton = max_newton,
                        .restarts = restarts,
                        .cfm = cfm};
}

}  // namespace

void bind_lcp(nb::module_& m) {
  nb::enum_<LcpMethod>(m, "LcpMethod", nb::is_arithmetic(), "Which algorithm produced a result.")
      .value("auto", LcpMethod::automatic, "Lemke and Newton take turns")
      .value("lemke", LcpMethod::lemke, "complementary pivoting")
      .value("newton", LcpMethod::newton, "semismooth Newton on Fischer-Burmeister's function");
  nb::class_<LcpOptions>(m, "LcpOptions", "How to solve; see include/stickslip/lcp.hpp.")
      .def("__init__", &set_options, nb::kw_only(), "method"_a, "precision"_a, "atol"_a, "rtol"_a,
           "max_pivots"_a, "max_newton"_a, "restarts"_a, "cfm"_a);
  bind_for<double>(m);
  bind_for<float>(m);
}

}  // namespace stickslip::bindings
