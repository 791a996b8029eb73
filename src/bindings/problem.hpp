// The one door of contact problems: what Python, torch and XLA pass becomes the library's views
// here, with the same checks for all of them. `from` is a function from a name to an AnyArray.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/problem/env_problem.hpp"
#include "src/api/check.hpp"
#include "src/bindings/arrays.hpp"
#include "stickslip/batch.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// The arrays of a problem, in the order in which callers without names pass them.
inline constexpr const char* kProblemArrays[] = {"W",  "b",          "mu",     "R",   "lo",
                                                 "hi", "warm_start", "counts", "dims"};

/// The place of a name in a list; its size if it is not there.
inline std::size_t index_of(std::span<const char* const> names, std::string_view name) {
  return std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
}

/// The columns of the arrays of a problem; kAny: as they have, which is then noted here.
struct Layout {
  std::int32_t rows = 0;           ///< of a slot
  std::int64_t contacts = kAny;    ///< slots for contacts
  std::int64_t tangential = kAny;  ///< columns of mu
  std::int64_t box = kAny;         ///< columns of lo and hi
  bool ragged = false;             ///< mu may have more columns
};

/// A problem. The leader of `arrays` is W, or another array where a mechanism gives W.
template <class Scalar, class From>
ProblemBatch<Scalar> problem_of(Arrays& arrays, const From& from, Layout& layout) {
  static_assert(sizeof(RowCounts) == 4 * sizeof(std::int32_t));
  const std::int64_t n = layout.rows;
  ProblemBatch<Scalar> p;
  p.num_envs = std::int32_t(arrays.num_envs());
  p.max_rows = layout.rows;
  const auto counts = arrays.input<std::int32_t>(from("counts"), {4});
  if (counts.stride % 4 != 0)
    throw nb::value_error(("counts: expected environments a multiple of 4 integers apart, got " +
                           std::to_string(counts.stride))
                              .c_str());
  p.counts = {reinterpret_cast<const RowCounts*>(counts.data), counts.stride / 4};
  p.dims = arrays.columns<std::int32_t>(from("dims"), layout.contacts);
  p.max_contacts = std::int32_t(layout.contacts);
  if (arrays.leader().name == "W") p.W = arrays.input<Scalar>(arrays.leader(), {n, n}, {&p.ld_W});
  p.b = arrays.input<Scalar>(from("b"), {n});
  p.mu = arrays.columns<Scalar>(from("mu"), layout.tangential, {.at_least = layout.ragged});
  p.R = arrays.input<Scalar>(from("R"), {n});
  p.lo = arrays.columns<Scalar>(from("lo"), layout.box);
  p.hi = arrays.columns<Scalar>(from("hi"), layout.box);
  p.warm_start = arrays.input<Scalar>(from("warm_start"), {n});
  return p;
}

/// Whether environment `env` fits its slot; if not, nothing else of it is read.
template <class Scalar>
bool fits(const ProblemBatch<Scalar>& p, std::int64_t env) {
  const RowCounts& s = p.counts.data[env * p.counts.stride];
  const std::int32_t* dims = kernels::slot(p.dims, env);
  return kernels::counts_are_valid<Scalar>(s, nullptr) && s.n_contacts <= p.max_contacts &&
         kernels::counts_are_valid<Scalar>(s, dims) &&
         kernels::rows_of(s, dims, p.max_contacts) <= p.max_rows;
}

/// Slots of mu, lo and hi have all numbers that environments which fit their slot will read. Counts
/// and dims are in host memory.
template <class Scalar>
void require_room(const ProblemBatch<Scalar>& p, const Layout& layout) {
  if (p.counts.data == nullptr) return;
  const std::int64_t box = p.lo.data == nullptr || p.hi.data == nullptr ? 0 : layout.box;
  for (std::int64_t e = 0; e < p.num_envs; ++e) {
    if (!fits(p, e)) continue;
    const RowCounts& s = p.counts.data[e * p.counts.stride];
    const std::int32_t rows = kernels::rows_of(s, kernels::slot(p.dims, e), p.max_contacts);
    require(s.n_box <= box, "lo, hi", "a bound for each box row", box);
    const std::int64_t tangential = rows - s.n_free - s.n_nonneg - s.n_box - s.n_contacts;
    require(p.mu.data == nullptr || tangential <= layout.tangential, "mu",
            "a number for each tangential row", layout.tangential);
  }
}

/// The arrays that a solve writes.
template <class Scalar, class From>
ResultBatch<Scalar> results_of(Arrays& arrays, const From& out, std::int64_t n) {
  ResultBatch<Scalar> r;
  r.impulse = arrays.output<Scalar>(out("impulse"), {n});
  r.residual = arrays.output_numbers<double>(out("residual"));
  r.status = reinterpret_cast<EnvStatus*>(arrays.output_numbers<std::int32_t>(out("status")));
  r.iterations = arrays.output_numbers<std::int32_t>(out("iterations"));
  r.solver = reinterpret_cast<Solver*>(arrays.output_numbers<std::int32_t>(out("solver")));
  r.rows_needed = arrays.output_numbers<std::int32_t>(out("rows_needed"));
  r.rung = arrays.output_numbers<std::int32_t>(out("rung"));
  r.certificate = arrays.output<double>(out("certificate"), {n});
  return r;
}

/// The solution at which derivatives are taken.
template <class Scalar, class From>
SolutionBatch<Scalar> solution_of(Arrays& arrays, const From& from, std::int64_t n) {
  SolutionBatch<Scalar> solution;
  solution.impulse = arrays.input<Scalar>(from("impulse"), {n});
  solution.status =
      reinterpret_cast<const EnvStatus*>(arrays.numbers<std::int32_t>(from("status")));
  return solution;
}

template <class Scalar, class From>
LossBatch<Scalar> loss_of(Arrays& arrays, const From& from, std::int64_t n) {
  return {arrays.input<Scalar>(from("d_impulse"), {n}),
          arrays.input<Scalar>(from("d_velocity"), {n})};
}

/// The verdict on derivatives.
template <class From>
GradientReport report_of(Arrays& arrays, const From& out) {
  return {reinterpret_cast<GradientStatus*>(arrays.output_numbers<std::int32_t>(out("status"))),
          arrays.output_numbers<double>(out("kink_distance")),
          arrays.output_numbers<double>(out("inconsistency")),
          arrays.output_numbers<std::int32_t>(out("redundant"))};
}

/// The arrays that derivatives by a problem are written to, without the verdict on them.
template <class Scalar, class From>
GradientBatch<Scalar> derivatives_of(Arrays& arrays, const From& out, const Layout& layout) {
  const auto whole = [&](const char* name, std::int64_t size) {  // it is cleared as one block
    const auto found = arrays.output<Scalar>(out(name), {size});
    require(found.data == nullptr || found.stride == size, name, "an array without gaps",
            found.stride);
    return found;
  };
  GradientBatch<Scalar> g;
  g.b = whole("b", layout.rows);
  g.mu = whole("mu", layout.tangential);
  g.R = whole("R", layout.rows);
  g.lo = whole("lo", layout.box);
  g.hi = whole("hi", layout.box);
  return g;
}

template <class Scalar, class From>
GradientBatch<Scalar> gradient_of(Arrays& arrays, const From& out, const Layout& layout) {
  GradientBatch<Scalar> g = derivatives_of<Scalar>(arrays, out, layout);
  g.report = report_of(arrays, out);
  return g;
}

/// Matrices M [nv][nv] and J [n][nv], the leader of `arrays`.
template <class Scalar, class From>
MechanismBatch<Scalar> mechanism_of(Arrays& arrays, const From& from) {
  const std::int64_t n = arrays.leader().shape[1], nv = arrays.leader().shape[2];
  MechanismBatch<Scalar> m;
  m.num_envs = std::int32_t(arrays.num_envs());
  m.nv = std::int32_t(nv);
  m.max_rows = std::int32_t(n);
  m.J = arrays.input<Scalar>(arrays.leader(), {n, nv});
  m.M = arrays.input<Scalar>(from("M"), {nv, nv});
  return m;
}

/// A problem in host memory, of arrays in a dict.
template <class Scalar>
struct HostProblem {
  Arrays arrays;
  FromDict from;
  Layout layout;
  ProblemBatch<Scalar> view;

  explicit HostProblem(const nb::dict& in) : HostProblem({FromDict{in}("W"), "(E, n, n)"}, in) {}
  /// With another leader, whose second axis has the rows.
  HostProblem(Arrays checked, const nb::dict& in)
      : arrays(std::move(checked)),
        from{in},
        layout{.rows = std::int32_t(arrays.leader().shape[1])} {
    if (!arrays.leader().place.on_host())
      throw nb::type_error((arrays.leader().name + ": expected an array in host memory").c_str());
    view = problem_of<Scalar>(arrays, from, layout);
    require_room(view, layout);
  }
};

}  // namespace stickslip::bindings
