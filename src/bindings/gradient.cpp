// solve_vjp, solve_jvp and step_vjp for float and double.
#include "stickslip/gradient.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"
#include "src/bindings/mechanism_arrays.hpp"
#include "src/bindings/problem_arrays.hpp"
#include "src/bindings/workspaces.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// Slots of an optional array with as many columns as the problem has rows.
template <class A>
EnvArray<typename A::Scalar> row_slots(const char* name, const A& array, std::size_t num_envs,
                                       std::size_t rows) {
  if (array.is_valid()) require_size(name, array, 1, rows);
  return slots(name, array, num_envs);
}

/// The solution and the report that all derivatives have.
template <class Scalar>
struct Derivative {
  ProblemArrays<Scalar> arrays;
  ProblemBatch<Scalar> problem;
  SolutionBatch<Scalar> solution;
  GradientReport report;

  Derivative(const ProblemArrays<Scalar>& given, const Array<const Scalar, 2>& impulse,
             const Array<const std::int32_t, 1>& status, const Array<std::int32_t, 1>& verdict,
             const Array<double, 1>& kink_distance, const Array<double, 1>& inconsistency,
             const Array<std::int32_t, 1>& redundant)
      : arrays(given), problem(given.view()) {
    const std::size_t num_envs = arrays.num_envs();
    solution.impulse = rows("impulse", impulse);
    require_size("status", status, 0, num_envs);
    require_contiguous_slots("status", status);
    solution.status = reinterpret_cast<const EnvStatus*>(address(status));
    report.status = reinterpret_cast<GradientStatus*>(values("verdict", verdict, num_envs));
    report.kink_distance = values("kink_distance", kink_distance, num_envs);
    report.inconsistency = values("inconsistency", inconsistency, num_envs);
    report.redundant = values("redundant", redundant, num_envs);
  }

  template <class A>
  EnvArray<typename A::Scalar> rows(const char* name, const A& array) const {
    return row_slots(name, array, arrays.num_envs(), arrays.rows());
  }
  template <class A>
  EnvArray<typename A::Scalar> like(const char* name, const A& array,
                                    const Array<const Scalar, 2>& of) const {
    if (array.is_valid() && !of.is_valid()) refuse(name, "the problem has no such array");
    if (array.is_valid()) require_size(name, array, 1, of.shape(1));
    return slots(name, array, arrays.num_envs());
  }
  template <class A>
  EnvArray<typename A::Scalar> matrix(const char* name, const A& array, std::int32_t& ld) const {
    if (!array.is_valid()) return {};
    require_size(name, array, 1, arrays.rows());
    require_size(name, array, 2, arrays.rows());
    return matrix_slots(name, array, arrays.num_envs(), ld);
  }
  GradientBatch<Scalar> gradient(const Array<Scalar, 2>& b, const Array<Scalar, 2>& mu,
                                 const Array<Scalar, 2>& R, const Array<Scalar, 2>& lo,
                                 const Array<Scalar, 2>& hi) const {
    GradientBatch<Scalar> out;
    out.b = rows("gradient of b", b);
    out.mu = like("gradient of mu", mu, arrays.mu);
    out.R = rows("gradient of R", R);
    out.lo = like("gradient of lo", lo, arrays.lo);
    out.hi = like("gradient of hi", hi, arrays.hi);
    out.report = report;
    return out;
  }
  auto workspace(int threads) const {
    return take_workspace(problem.max_rows, problem.max_contacts, threads);
  }
};

template <class Scalar>
void bind_vjp(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Matrices = Array<const Scalar, 3>;
  using Vectors = Array<const Scalar, 2>;
  using Out = Array<Scalar, 2>;
  m.def(
      "solve_vjp",
      [](Ints counts, Ints dims, Matrices W, Vectors b, Vectors mu, Vectors R, Vectors lo,
         Vectors hi, Vectors impulse, Array<const std::int32_t, 1> status,
         const SolveOptions& options, Vectors g_impulse, Vectors g_velocity, Out out_b, Out out_mu,
         Out out_R, Out out_lo, Out out_hi, Array<std::int32_t, 1> verdict,
         Array<double, 1> kink_distance, Array<double, 1> inconsistency,
         Array<std::int32_t, 1> redundant, int threads) {
        const Derivative<Scalar> d({counts, dims, W, b, mu, R, lo, hi, {}}, impulse, status,
                                   verdict, kink_distance, inconsistency, redundant);
        const LossBatch<Scalar> loss{d.rows("impulse", g_impulse), d.rows("velocity", g_velocity)};
        const auto out = d.gradient(out_b, out_mu, out_R, out_lo, out_hi);
        const auto workspace = d.workspace(threads);
        const nb::gil_scoped_release other_threads_may_run;
        solve_vjp(d.problem, d.solution, loss, out, options, *workspace);
      },
      "counts"_a.noconvert(), "dims"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(),
      "mu"_a.noconvert(), "R"_a.noconvert().none(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "impulse"_a.noconvert(), "status"_a.noconvert(), "options"_a,
      "g_impulse"_a.noconvert().none(), "g_velocity"_a.noconvert().none(), "out_b"_a.noconvert(),
      "out_mu"_a.noconvert().none(), "out_R"_a.noconvert().none(), "out_lo"_a.noconvert().none(),
      "out_hi"_a.noconvert().none(), "verdict"_a.noconvert(), "kink_distance"_a.noconvert(),
      "inconsistency"_a.noconvert(), "redundant"_a.noconvert(), "threads"_a,
      "Derivatives of a loss by the problem; the arrays from `out_b` on are written in place.");
}

template <class Scalar>
void bind_jvp(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Matrices = Array<const Scalar, 3>;
  using Vectors = Array<const Scalar, 2>;
  using Out = Array<Scalar, 2>;
  m.def(
      "solve_jvp",
      [](Ints counts, Ints dims, Matrices W, Vectors b, Vectors mu, Vectors R, Vectors lo,
         Vectors hi, Vectors impulse, Array<const std::int32_t, 1> status,
         const SolveOptions& options, Vectors db, Matrices dW, Vectors dmu, Vectors dR, Vectors dlo,
         Vectors dhi, Out out_impulse, Out out_velocity, Array<std::int32_t, 1> verdict,
         Array<double, 1> kink_distance, Array<double, 1> inconsistency,
         Array<std::int32_t, 1> redundant, int threads) {
        const Derivative<Scalar> d({counts, dims, W, b, mu, R, lo, hi, {}}, impulse, status,
                                   verdict, kink_distance, inconsistency, redundant);
        ChangeBatch<Scalar> change;
        change.b = d.rows("db", db);
        change.W = d.matrix("dW", dW, change.ld_W);
        change.mu = d.like("dmu", dmu, mu);
        change.R = d.rows("dR", dR);
        change.lo = d.like("dlo", dlo, lo);
        change.hi = d.like("dhi", dhi, hi);
        const SolutionChange<Scalar> out{d.rows("impulse", out_impulse),
                                         d.rows("velocity", out_velocity), d.report};
        const auto workspace = d.workspace(threads);
        const nb::gil_scoped_release other_threads_may_run;
        solve_jvp(d.problem, d.solution, change, out, options, *workspace);
      },
      "counts"_a.noconvert(), "dims"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert(),
      "mu"_a.noconvert(), "R"_a.noconvert().none(), "lo"_a.noconvert().none(),
      "hi"_a.noconvert().none(), "impulse"_a.noconvert(), "status"_a.noconvert(), "options"_a,
      "db"_a.noconvert().none(), "dW"_a.noconvert().none(), "dmu"_a.noconvert().none(),
      "dR"_a.noconvert().none(), "dlo"_a.noconvert().none(), "dhi"_a.noconvert().none(),
      "out_impulse"_a.noconvert(), "out_velocity"_a.noconvert(), "verdict"_a.noconvert(),
      "kink_distance"_a.noconvert(), "inconsistency"_a.noconvert(), "redundant"_a.noconvert(),
      "threads"_a,
      "Change of the solution; the arrays from `out_impulse` on are written in place.");
}

template <class Scalar>
void bind_step_vjp(nb::module_& m) {
  using Ints = Array<const std::int32_t, 2>;
  using Matrices = Array<const Scalar, 3>;
  using Vectors = Array<const Scalar, 2>;
  using Out = Array<Scalar, 2>;
  m.def(
      "step_vjp",
      [](Matrices M, Matrices J, Vectors v_free, Ints counts, Ints dims, Vectors b, Vectors mu,
         Vectors R, Vectors lo, Vectors hi, Vectors impulse, Array<const std::int32_t, 1> status,
         const SolveOptions& options, Vectors g_v_next, Vectors g_impulse, Vectors g_velocity,
         Out out_b, Out out_mu, Out out_R, Out out_lo, Out out_hi, Out out_adjoint, Out out_v_free,
         Array<Scalar, 3> out_M, Array<Scalar, 3> out_J, Array<std::int32_t, 1> verdict,
         Array<double, 1> kink_distance, Array<double, 1> inconsistency,
         Array<std::int32_t, 1> redundant, int threads) {
        const Derivative<Scalar> d({counts, dims, {}, b, mu, R, lo, hi, {}}, impulse, status,
                                   verdict, kink_distance, inconsistency, redundant);
        const std::size_t num_envs = b.shape(0), nv = M.shape(1);
        require_size("J", J, 1, b.shape(1));
        MechanismStep<Scalar> step;
        step.mechanism = mechanism_view<Scalar>(M, J, {});
        step.v_free = row_slots("v_free", v_free, num_envs, nv);
        const StepLoss<Scalar> loss{row_slots("v_next", g_v_next, num_envs, nv),
                                    {d.rows("impulse", g_impulse), d.rows("velocity", g_velocity)}};
        StepGradient<Scalar> out;
        out.contacts = d.gradient(out_b, out_mu, out_R, out_lo, out_hi);
        out.adjoint = row_slots("gradient by M v_free", out_adjoint, num_envs, nv);
        out.v_free = row_slots("gradient of v_free", out_v_free, num_envs, nv);
        const auto block = [&](const char* name, const Array<Scalar, 3>& array, std::size_t rows) {
          require_size(name, array, 1, rows);
          require_size(name, array, 2, nv);
          return block_slots(name, array, num_envs);
        };
        if (out_M.is_valid()) out.M = block("gradient of M", out_M, nv);
        if (out_J.is_valid()) out.J = block("gradient of J", out_J, b.shape(1));
        const auto workspace = d.workspace(threads);
        const nb::gil_scoped_release other_threads_may_run;
        step_vjp(step, d.problem, d.solution, loss, out, options, *workspace);
      },
      "M"_a.noconvert(), "J"_a.noconvert(), "v_free"_a.noconvert(), "counts"_a.noconvert(),
      "dims"_a.noconvert(), "b"_a.noconvert(), "mu"_a.noconvert(), "R"_a.noconvert().none(),
      "lo"_a.noconvert().none(), "hi"_a.noconvert().none(), "impulse"_a.noconvert(),
      "status"_a.noconvert(), "options"_a, "g_v_next"_a.noconvert().none(),
      "g_impulse"_a.noconvert().none(), "g_velocity"_a.noconvert().none(), "out_b"_a.noconvert(),
      "out_mu"_a.noconvert().none(), "out_R"_a.noconvert().none(), "out_lo"_a.noconvert().none(),
      "out_hi"_a.noconvert().none(), "out_adjoint"_a.noconvert().none(),
      "out_v_free"_a.noconvert().none(), "out_M"_a.noconvert().none(), "out_J"_a.noconvert().none(),
      "verdict"_a.noconvert(), "kink_distance"_a.noconvert(), "inconsistency"_a.noconvert(),
      "redundant"_a.noconvert(), "threads"_a,
      "Derivatives through a step; the arrays from `out_b` on are written in place.");
}

}  // namespace

void bind_gradient(nb::module_& m) {
  bind_vjp<double>(m);
  bind_vjp<float>(m);
  bind_jvp<double>(m);
  bind_jvp<float>(m);
  bind_step_vjp<double>(m);
  bind_step_vjp<float>(m);
}

}  // namespace stickslip::bindings
