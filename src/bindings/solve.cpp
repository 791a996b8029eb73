// solve and measure for float and double.
#include "stickslip/solve.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/problem_arrays.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// Outputs of `solve`, written in place.
template <class Scalar>
struct ResultArrays {
  Array<Scalar, 2> impulse;
  Array<double, 1> residual;
  Array<std::int32_t, 1> status, iterations, solver, rows_needed, rung;
  Array<double, 2> certificate;

  ResultBatch<Scalar> view(const ProblemBatch<Scalar>& p) const {
    const auto num_envs = std::size_t(p.num_envs);
    require_size("impulse", impulse, 1, std::size_t(p.max_rows));
    ResultBatch<Scalar> r;
    r.impulse = slots("impulse", impulse, num_envs);
    r.residual = values("residual", residual, num_envs);
    r.status = reinterpret_cast<EnvStatus*>(values("status", status, num_envs));
    r.iterations = values("iterations", iterations, num_envs);
    r.solver = reinterpret_cast<Solver*>(values("solver", solver, num_envs));
    r.rows_needed = values("rows_needed", rows_needed, num_envs);
    r.rung = values("rung", rung, num_envs);
    if (certificate.is_valid())
      require_size("certificate", certificate, 1, std::size_t(p.max_rows));
    r.certificate = slots("certificate", certificate, num_envs);
    return r;
  }
};

template <class Scalar>
void run(const ProblemArrays<Scalar>& problem, const ResultArrays<Scalar>& result,
         const SolveOptions& options, bool on_cuda, int threads) {
  const ProblemBatch<Scalar> p = problem.view();
  const ResultBatch<Scalar> r = result.view(p);
  const auto workspace = on_cuda ? nullptr : take_workspace(p.max_rows, p.max_contacts, threads);
  const nb::gil_scoped_release other_threads_may_run;
  on_cuda ? cuda::solve_host(p, r, options) : solve(p, r, options, *workspace);
}

template <class Scalar>
void bind_for(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Matrices = Array<const Scalar, 3>;
  using Vectors = Array<const Scalar, 2>;
  m.def(
      "solve",
      [](Ints counts, Ints dims, Matrices W, Vectors b, Vectors mu, Vectors R, Vectors lo,
         Vectors hi, Vectors warm_start, const SolveOptions& options, Array<Scalar, 2> impulse,
         Array<double, 1> residual, Array<std::int32_t, 1> status,
         Array<std::int32_t, 1> iterations, Array<std::int32_t, 1> solver,
         Array<std::int32_t, 1> rows_needed, Array<std::int32_t, 1> rung,
         Array<double, 2> certificate, bool on_cuda, int threads) {
        run<Scalar>({counts, dims, W, b, mu, R, lo, hi, warm_start},
                    {impulse, residual, status, iterations, solver, rows_needed, rung, certificate},
                    options, on_cuda, threads);
      },
      "counts"_a.noconvert(), "dims"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(),
      "mu"_a.noconvert(), "R"_a.noconvert().none(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "warm_start"_a.noconvert().none(), "options"_a,
      "impulse"_a.noconvert(), "residual"_a.noconvert(), "status"_a.noconvert(),
      "iterations"_a.noconvert(), "solver"_a.noconvert(), "rows_needed"_a.noconvert(),
      "rung"_a.noconvert(), "certificate"_a.noconvert().none(), "on_cuda"_a, "threads"_a,
      "Solves a batch; the arrays from `impulse` to `certificate` are written in place.");
}

/// Measures impulses and verifies certificates from any source.
template <class Scalar>
void bind_judging_for(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Matrices = Array<const Scalar, 3>;
  using Vectors = Array<const Scalar, 2>;
  m.def(
      "measure",
      [](Ints counts, Ints dims, Matrices W, Vectors b, Vectors mu, Vectors R, Vectors lo,
         Vectors hi, Vectors impulse, Law law, Array<double, 2> measures, int threads,
         int directions) {
        static_assert(sizeof(Measures) == 5 * sizeof(double));
        const ProblemArrays<Scalar> problem{counts, dims, W, b, mu, R, lo, hi, {}};
        const ProblemBatch<Scalar> p = problem.view();
        require_size("impulse", impulse, 1, problem.rows());
        const auto r = slots("impulse", impulse, problem.num_envs());
        require_size("measures", measures, 1, 5);
        const auto out = slots("measures", measures, problem.num_envs());
        if (problem.num_envs() > 1 && out.stride != 5) refuse("measures", "must be C-contiguous");
        const auto workspace = take_workspace(p.max_rows, p.max_contacts, threads);
        const nb::gil_scoped_release other_threads_may_run;
        measure(p, r, law, reinterpret_cast<Measures*>(out.data), *workspace, directions);
      },
      "counts"_a.noconvert(), "dims"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(),
      "mu"_a.noconvert(), "R"_a.noconvert().none(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "impulse"_a.noconvert(), "law"_a, "measures"_a.noconvert(),
      "threads"_a, "directions"_a = 4,
      "Writes (residual, penetration, cone_violation, complementarity, misalignment) per "
      "environment into `measures`.");
  m.def(
      "check_certificates",
      [](Ints counts, Ints dims, Matrices W, Vectors b, Vectors mu, Vectors R, Vectors lo,
         Vectors hi, Array<const double, 2> certificate, const SolveOptions& options,
         Array<std::uint8_t, 1> holds, int threads) {
        const ProblemArrays<Scalar> problem{counts, dims, W, b, mu, R, lo, hi, {}};
        const ProblemBatch<Scalar> p = problem.view();
        require_size("certificate", certificate, 1, problem.rows());
        const auto y = slots("certificate", certificate, problem.num_envs());
        std::uint8_t* out = values("holds", holds, problem.num_envs());
        const auto workspace = take_workspace(p.max_rows, p.max_contacts, threads);
        const nb::gil_scoped_release other_threads_may_run;
        check_certificates(p, y, options, out, *workspace);
      },
      "counts"_a.noconvert(), "dims"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(),
      "mu"_a.noconvert(), "R"_a.noconvert().none(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "certificate"_a.noconvert(), "options"_a, "holds"_a.noconvert(),
      "threads"_a,
      "Writes into `holds` whether each certificate proves that there is no solution.");
}

}  // namespace

void bind_solve(nb::module_& m) {
  bind_for<double>(m);
  bind_for<float>(m);
  bind_judging_for<double>(m);
  bind_judging_for<float>(m);
}

}  // namespace stickslip::bindings
