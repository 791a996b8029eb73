// The oracle's residuals: an independent judge for tests.
#include "tests/reference/reference.hpp"

#include <nanobind/nanobind.h>

#include <limits>

#include "bench/compare/module.hpp"
#include "src/bindings/lcp_arrays.hpp"
#include "src/bindings/problem.hpp"
#include "tests/reference/lcp.hpp"

namespace stickslip::compare {

using namespace bindings;
using namespace nb::literals;

namespace {

/// The first rows of an environment's numbers, in double.
template <class Scalar>
Eigen::VectorXd row_of(const EnvArray<const Scalar>& array, int env, Eigen::Index rows) {
  const Scalar* const first = array.data + env * array.stride;
  return Eigen::Map<const Eigen::VectorX<Scalar>>(first, rows).template cast<double>();
}

void residual(const nb::dict& in, const nb::dict& out, Law law, int directions) {
  with_scalar(FromDict{in}("W"), [&](auto scalar) {
    using Scalar = decltype(scalar);
    HostProblem<Scalar> of(in);
    const auto r = of.arrays.template input<Scalar>(of.from("impulse"), {of.layout.rows});
    double* const to = of.arrays.template output_numbers<double>(FromDict{out, true}("residual"));
    const nb::gil_scoped_release other_threads_may_run;
    for (int e = 0; e < of.view.num_envs; ++e) {
      to[e] = std::numeric_limits<double>::infinity();
      if (!fits(of.view, e)) continue;
      reference::Problem problem = reference::from_batch(of.view, e);
      problem.directions = directions;
      to[e] = reference::residual(problem, row_of(r, e, reference::rows(problem)), law);
    }
  });
}

void lcp_residual(const nb::dict& in, const nb::dict& out, double cfm) {
  with_scalar(FromDict{in}("M"), [&](auto scalar) {
    using Scalar = decltype(scalar);
    Arrays arrays(FromDict{in}("M"), "(E, n, n)");
    const auto p = lcp_of<Scalar>(arrays, FromDict{in});
    const auto z = arrays.input<Scalar>(FromDict{in}("z"), {p.max_rows});
    double* const to = arrays.output_numbers<double>(FromDict{out, true}("residual"));
    for (int e = 0; e < p.num_envs; ++e) {
      const std::int32_t rows = p.rows.data[e * p.rows.stride];
      require(rows >= 0 && rows <= p.max_rows, "rows", "at most as many as M has", rows);
      const reference::Lcp problem = reference::from_batch(p, cfm, e);
      to[e] = reference::residual(problem, row_of(z, e, problem.q.size()));
    }
  });
}

}  // namespace

void bind_oracle(nb::module_& m) {
  m.def(
      "reference_residual", &residual, "arrays"_a, "out"_a, "law"_a, "directions"_a = 4,
      "Writes the residual of arrays['impulse'] by the oracle's own equations (Eigen, double) into "
      "out['residual'].");
  m.def("reference_lcp_residual", &lcp_residual, "arrays"_a, "out"_a, "cfm"_a,
        "The same of arrays['z'] of an LCP.");
}

}  // namespace stickslip::compare
