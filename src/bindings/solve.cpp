// solve, measure and check_certificates, of arrays in host memory.
#include "stickslip/solve.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/problem.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// Calls f(HostProblem) with double or float, as W has.
template <class F>
void with_problem(const nb::dict& arrays, F&& f) {
  with_scalar(FromDict{arrays}("W"), [&](auto scalar) {
    HostProblem<decltype(scalar)> problem(arrays);
    f(problem);
  });
}

template <class Scalar>
auto workspace_for(const HostProblem<Scalar>& of, int threads) {
  return take_workspace(of.view.max_rows, of.view.max_contacts, threads);
}

void run(const nb::dict& in, const nb::dict& out, const SolveOptions& options, bool on_cuda,
         int threads) {
  with_problem(in, [&]<class Scalar>(HostProblem<Scalar>& of) {
    auto r = results_of<Scalar>(of.arrays, FromDict{out, true}, of.layout.rows);
    r.selected = reinterpret_cast<Selected*>(
        of.arrays.template output_numbers<std::int32_t>(FromDict{out, true}("selected")));
    of.view.start_selected = of.arrays.template input<std::int32_t>(of.from("start_selected"), {});
    const auto workspace = on_cuda ? nullptr : workspace_for(of, threads);
    const nb::gil_scoped_release other_threads_may_run;
    on_cuda ? cuda::solve_host(of.view, r, options) : solve(of.view, r, options, *workspace);
  });
}

void run_measure(const nb::dict& in, const nb::dict& out, Law law, int directions, int threads) {
  static_assert(sizeof(Measures) == 5 * sizeof(double));
  with_problem(in, [&]<class Scalar>(HostProblem<Scalar>& of) {
    const auto impulse = of.arrays.template input<Scalar>(of.from("impulse"), {of.layout.rows});
    const auto measures = of.arrays.template output<double>(FromDict{out, true}("measures"), {5});
    if (of.view.num_envs > 1 && measures.stride != 5)
      throw nb::value_error("measures: expected a C-contiguous array");
    const auto workspace = workspace_for(of, threads);
    const nb::gil_scoped_release other_threads_may_run;
    measure(of.view, impulse, law, reinterpret_cast<Measures*>(measures.data), *workspace,
            directions);
  });
}

void run_certificates(const nb::dict& in, const nb::dict& out, const SolveOptions& options,
                      int threads) {
  with_problem(in, [&]<class Scalar>(HostProblem<Scalar>& of) {
    const auto y = of.arrays.template input<double>(of.from("certificate"), {of.layout.rows});
    auto* const holds =
        of.arrays.template output_numbers<std::uint8_t>(FromDict{out, true}("holds"));
    const auto workspace = workspace_for(of, threads);
    const nb::gil_scoped_release other_threads_may_run;
    check_certificates(of.view, y, options, holds, *workspace);
  });
}

}  // namespace

void bind_solve(nb::module_& m) {
  m.def("solve", &run, "arrays"_a, "out"_a, nb::kw_only(), "options"_a, "on_cuda"_a, "threads"_a,
        "Solves a batch. `arrays`: W, b, mu, R, lo, hi, warm_start, start_selected, counts, dims "
        "by name; those that may be absent are None. The arrays of `out` are written in place.");
  m.def("measure", &run_measure, "arrays"_a, "out"_a, nb::kw_only(), "law"_a, "directions"_a,
        "threads"_a,
        "Writes residual, penetration, cone_violation, complementarity and misalignment of "
        "arrays['impulse'] into out['measures'] (E, 5).");
  m.def("check_certificates", &run_certificates, "arrays"_a, "out"_a, nb::kw_only(), "options"_a,
        "threads"_a,
        "Writes into out['holds'] whether each of arrays['certificate'] proves that there is no "
        "solution.");
}

}  // namespace stickslip::bindings
