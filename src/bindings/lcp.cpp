// solve_lcp, of arrays in host memory.
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
LcpResult<Scalar> lcp_results_of(Arrays& arrays, const FromDict& out, std::int64_t n) {
  LcpResult<Scalar> r;
  r.z = arrays.output<Scalar>(out("z"), {n});
  r.w = arrays.output<Scalar>(out("w"), {n});
  r.residual = arrays.output_numbers<double>(out("residual"));
  r.status = reinterpret_cast<EnvStatus*>(arrays.output_numbers<std::int32_t>(out("status")));
  r.iterations = arrays.output_numbers<std::int32_t>(out("iterations"));
  r.method = reinterpret_cast<LcpMethod*>(arrays.output_numbers<std::int32_t>(out("method")));
  return r;
}

void run(const nb::dict& in, const nb::dict& out, const LcpOptions& options, bool on_cuda,
         int threads) {
  with_scalar(FromDict{in}("M"), [&](auto scalar) {
    using Scalar = decltype(scalar);
    Arrays arrays(FromDict{in}("M"), "(E, n, n)");
    const auto p = lcp_of<Scalar>(arrays, FromDict{in});
    const auto r = lcp_results_of<Scalar>(arrays, FromDict{out, true}, p.max_rows);
    const auto workspace =
        on_cuda ? nullptr : take_lcp_workspace(p.max_rows, p.lo.data != nullptr, threads);
    const nb::gil_scoped_release other_threads_may_run;
    on_cuda ? cuda::solve_lcp_host(p, r, options) : solve_lcp(p, r, options, *workspace);
  });
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
  m.def("solve_lcp", &run, "arrays"_a, "out"_a, nb::kw_only(), "options"_a, "on_cuda"_a,
        "threads"_a,
        "Solves a batch. `arrays`: rows, M, q, lo, hi, findex, start by name; those that may be "
        "absent "
        "are None. The arrays of `out` are written in place.");
}

}  // namespace stickslip::bindings
