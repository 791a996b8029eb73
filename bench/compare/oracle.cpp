// The oracle's residuals: an independent judge for tests.
#include "src/reference/reference.hpp"

#include <nanobind/nanobind.h>

#include <limits>

#include "bench/compare/module.hpp"
#include "src/bindings/lcp_arrays.hpp"
#include "src/bindings/problem_arrays.hpp"
#include "src/reference/lcp.hpp"

namespace stickslip::compare {

using namespace bindings;
using namespace nb::literals;

namespace {

template <class Scalar>
void residuals(const ProblemArrays<Scalar>& arrays, const EnvArray<const Scalar>& impulse, Law law,
               int directions, double* out) {
  const ProblemBatch<Scalar> batch = arrays.view();
  for (int e = 0; e < batch.num_envs; ++e) {
    out[e] = std::numeric_limits<double>::infinity();
    if (!arrays.fits(std::size_t(e))) continue;
    reference::Problem problem = reference::from_batch(batch, e);
    problem.directions = directions;
    const Scalar* const r = impulse.data + e * impulse.stride;
    const Eigen::Map<const Eigen::VectorX<Scalar>> given(r, reference::rows(problem));
    out[e] = reference::residual(problem, given.template cast<double>(), law);
  }
}

template <class Scalar>
void lcp_residuals(const LcpBatch<Scalar>& p, const EnvArray<const Scalar>& z, double cfm,
                   double* out) {
  for (int e = 0; e < p.num_envs; ++e) {
    const reference::Lcp problem = reference::from_batch(p, cfm, e);
    const Eigen::Map<const Eigen::VectorX<Scalar>> given(z.data + e * z.stride, problem.q.size());
    out[e] = reference::residual(problem, given.template cast<double>());
  }
}

template <class Scalar>
void bind_for(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Vectors = Array<const Scalar, 2>;
  m.def(
      "reference_residual",
      [](Ints counts, Ints dims, Array<const Scalar, 3> W, Vectors b, Vectors mu, Vectors R,
         Vectors lo, Vectors hi, Vectors impulse, Law law, Array<double, 1> residual,
         int directions) {
        const ProblemArrays<Scalar> arrays{counts, dims, W, b, mu, R, lo, hi, {}};
        require_size("impulse", impulse, 1, W.shape(1));
        const auto r = slots("impulse", impulse, arrays.num_envs());
        double* const out = values("residual", residual, arrays.num_envs());
        const nb::gil_scoped_release other_threads_may_run;
        residuals(arrays, r, law, directions, out);
      },
      "counts"_a.noconvert(), "dims"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(),
      "mu"_a.noconvert(), "R"_a.noconvert().none(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "impulse"_a.noconvert(), "law"_a, "residual"_a.noconvert(),
      "directions"_a = 4,
      "Writes the residual by the oracle's own equations (Eigen, double) into `residual`.");
  m.def(
      "reference_lcp_residual",
      [](Ints rows, Array<const Scalar, 3> M, Vectors q, Vectors lo, Vectors hi, Ints findex,
         Vectors z, double cfm, Array<double, 1> residual) {
        const LcpBatch<Scalar> p = LcpArrays<Scalar>{rows, M, q, lo, hi, findex, {}}.view();
        require_size("z", z, 1, M.shape(1));
        const auto given = slots("z", z, M.shape(0));
        double* const out = values("residual", residual, M.shape(0));
        for (int e = 0; e < p.num_envs; ++e) {
          if (rows(e, 0) < 0 || rows(e, 0) > p.max_rows) refuse("rows", "out of range");
        }
        lcp_residuals(p, given, cfm, out);
      },
      "rows"_a.noconvert(), "M"_a.noconvert(), "q"_a.noconvert(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "findex"_a.noconvert().none(), "z"_a.noconvert(), "cfm"_a,
      "residual"_a.noconvert(),
      "Writes the residual by the oracle's own equations (Eigen, double) into `residual`.");
}

}  // namespace

void bind_oracle(nb::module_& m) {
  bind_for<double>(m);
  bind_for<float>(m);
}

}  // namespace stickslip::compare
