// solve_vjp, solve_jvp and step_vjp, of arrays in host memory.
#include "stickslip/gradient.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/problem.hpp"
#include "src/bindings/workspaces.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// Calls f(HostProblem, its solution, workspace) with double or float, as the leader has.
template <class F>
void at_solution(const nb::dict& in, const char* leader, const char* form, int threads, F&& f) {
  with_scalar(FromDict{in}(leader), [&](auto scalar) {
    using Scalar = decltype(scalar);
    HostProblem<Scalar> of(Arrays(FromDict{in}(leader), form), in);
    const auto solution = solution_of<Scalar>(of.arrays, of.from, of.layout.rows);
    const auto workspace = take_workspace(of.view.max_rows, of.view.max_contacts, threads);
    f(of, solution, *workspace);
  });
}

void run_vjp(const nb::dict& in, const nb::dict& loss, const nb::dict& out,
             const SolveOptions& options, int threads) {
  at_solution(in, "W", "(E, n, n)", threads,
              [&]<class Scalar>(HostProblem<Scalar>& of, const SolutionBatch<Scalar>& solution,
                                Workspace& workspace) {
                const auto by = loss_of<Scalar>(of.arrays, FromDict{loss}, of.layout.rows);
                const auto g = gradient_of<Scalar>(of.arrays, FromDict{out, true}, of.layout);
                const nb::gil_scoped_release other_threads_may_run;
                solve_vjp(of.view, solution, by, g, options, workspace);
              });
}

template <class Scalar>
ChangeBatch<Scalar> change_of(HostProblem<Scalar>& of, const nb::dict& given) {
  const FromDict from{given};
  const auto columns = [&](const char* name, std::int64_t size) {
    return of.arrays.template input<Scalar>(from(name), {size});
  };
  const std::int64_t n = of.layout.rows;
  ChangeBatch<Scalar> change;
  change.b = columns("db", n);
  change.W = of.arrays.template input<Scalar>(from("dW"), {n, n}, {&change.ld_W});
  change.mu = columns("dmu", of.layout.tangential);
  change.R = columns("dR", n);
  change.lo = columns("dlo", of.layout.box);
  change.hi = columns("dhi", of.layout.box);
  return change;
}

void run_jvp(const nb::dict& in, const nb::dict& change, const nb::dict& out,
             const SolveOptions& options, int threads) {
  at_solution(in, "W", "(E, n, n)", threads,
              [&]<class Scalar>(HostProblem<Scalar>& of, const SolutionBatch<Scalar>& solution,
                                Workspace& workspace) {
                const auto by = change_of(of, change);
                const FromDict to{out, true};
                const std::int64_t n = of.layout.rows;
                const SolutionChange<Scalar> result{
                    of.arrays.template output<Scalar>(to("impulse"), {n}),
                    of.arrays.template output<Scalar>(to("velocity"), {n}),
                    report_of(of.arrays, to)};
                const nb::gil_scoped_release other_threads_may_run;
                solve_jvp(of.view, solution, by, result, options, workspace);
              });
}

void run_step_vjp(const nb::dict& in, const nb::dict& loss, const nb::dict& out,
                  const SolveOptions& options, int threads) {
  at_solution(in, "J", "(E, n, nv)", threads,
              [&]<class Scalar>(HostProblem<Scalar>& of, const SolutionBatch<Scalar>& solution,
                                Workspace& workspace) {
                Arrays& arrays = of.arrays;
                MechanismStep<Scalar> step;
                step.mechanism = mechanism_of<Scalar>(arrays, of.from);
                const std::int64_t n = of.layout.rows, nv = step.mechanism.nv;
                step.v_free = arrays.input<Scalar>(of.from("v_free"), {nv});
                const StepLoss<Scalar> by{arrays.input<Scalar>(FromDict{loss}("d_v_next"), {nv}),
                                          loss_of<Scalar>(arrays, FromDict{loss}, n)};
                const FromDict to{out, true};
                StepGradient<Scalar> g;
                g.contacts = gradient_of<Scalar>(arrays, to, of.layout);
                g.adjoint = arrays.output<Scalar>(to("adjoint"), {nv});
                g.v_free = arrays.output<Scalar>(to("v_free"), {nv});
                g.M = arrays.output<Scalar>(to("M"), {nv, nv});
                g.J = arrays.output<Scalar>(to("J"), {n, nv});
                const nb::gil_scoped_release other_threads_may_run;
                step_vjp(step, of.view, solution, by, g, options, workspace);
              });
}

}  // namespace

void bind_gradient(nb::module_& m) {
  m.def("solve_vjp", &run_vjp, "arrays"_a, "loss"_a, "out"_a, nb::kw_only(), "options"_a,
        "threads"_a,
        "Derivatives of a loss by a problem. `arrays`: as of solve, with impulse and status of the "
        "solution; `loss`: d_impulse, d_velocity. The arrays of `out` are written in place.");
  m.def("solve_jvp", &run_jvp, "arrays"_a, "change"_a, "out"_a, nb::kw_only(), "options"_a,
        "threads"_a, "Change of the solution. `change`: db, dW, dmu, dR, dlo, dhi.");
  m.def("step_vjp", &run_step_vjp, "arrays"_a, "loss"_a, "out"_a, nb::kw_only(), "options"_a,
        "threads"_a,
        "Derivatives through a step: M, J and v_free among `arrays` in place of W, d_v_next in "
        "`loss`.");
}

}  // namespace stickslip::bindings
