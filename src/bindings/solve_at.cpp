// `solve` for arrays given by their addresses, for stickslip.torch: to read the description of an
// array takes longer than a part of a small solve.
#include <nanobind/nanobind.h>

#include <string_view>

#include "src/bindings/bindings.hpp"
#include "src/bindings/problem.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// Finds arrays in a tuple of (address, elements of a slot, elements between two slots, ...) or
/// None, in the order of kProblemArrays.
struct FromPlaces {
  const nb::tuple& places;
  nb::dlpack::dtype reals;
  std::int64_t num_envs, rows;

  AnyArray operator()(std::string_view name) const {
    const std::size_t i = index_of(kProblemArrays, name);
    const nb::handle given = places[i];
    if (given.is_none()) return {};
    const auto place = nb::cast<nb::tuple>(given);
    const auto size = nb::cast<std::int64_t>(place[1]);
    const auto* data = reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(place[0]));
    if (data == nullptr && size > 0)
      throw nb::value_error((std::string(name) + ": expected an array with memory").c_str());
    const bool integers = name == "counts" || name == "dims";
    const bool square = name == "W" && rows > 0;
    const Axes shape = square ? Axes{num_envs, rows, size / rows} : Axes{num_envs, size};
    AnyArray a = array_at(name.data(), data, integers ? nb::dtype<std::int32_t>() : reals, shape);
    a.strides[0] = nb::cast<std::int64_t>(place[2]) * a.item();
    return a;
  }
};

template <class Scalar>
void run(const nb::tuple& places, std::int64_t num_envs, std::int64_t n, const nb::list& results,
         const SolveOptions& options, int threads) {
  require(places.size() == std::size(kProblemArrays), "arrays", "9 places or None",
          std::int64_t(places.size()));
  require(num_envs > 0, "num_envs", "a number > 0", num_envs);
  require(n >= 0 && n <= INT32_MAX, "n", "a number of 31 bits", n);
  const FromPlaces from{places, nb::dtype<Scalar>(), num_envs, n};
  Arrays arrays(from("W"), "(E, n, n)");
  Layout layout{.rows = std::int32_t(n)};
  const auto p = problem_of<Scalar>(arrays, from, layout);
  require_room(p, layout);
  require(results.size() == 7, "results", "7 addresses", std::int64_t(results.size()));
  const auto to = [&](std::size_t i) { return nb::cast<std::uintptr_t>(results[i]); };
  const auto integers = [&](std::size_t i) { return reinterpret_cast<std::int32_t*>(to(i)); };
  const ResultBatch<Scalar> r{.impulse = {reinterpret_cast<Scalar*>(to(0)), n},
                              .residual = reinterpret_cast<double*>(to(1)),
                              .status = reinterpret_cast<EnvStatus*>(to(2)),
                              .iterations = integers(3),
                              .solver = reinterpret_cast<Solver*>(to(4)),
                              .rows_needed = integers(5),
                              .rung = integers(6)};
  const auto workspace = take_workspace(p.max_rows, p.max_contacts, threads);
  const nb::gil_scoped_release other_threads_may_run;
  solve(p, r, options, *workspace);
}

}  // namespace

void bind_solve_at(nb::module_& m) {
  m.def(
      "solve_at",
      [](bool wide, const nb::tuple& arrays, std::int64_t num_envs, std::int64_t n,
         const nb::list& results, const SolveOptions& options, int threads) {
        const auto call = wide ? &run<double> : &run<float>;
        call(arrays, num_envs, n, results, options, threads);
      },
      "wide"_a, "arrays"_a, "num_envs"_a, "n"_a, "results"_a, "options"_a, "threads"_a,
      "Solves a batch in double (`wide`) or float. `arrays`: W, b, mu, R, lo, hi, warm_start, "
      "counts, dims, each None or (address, elements of a slot, elements between two slots, ...). "
      "`results`: addresses of impulse [num_envs][n], residual, status, iterations, solver, "
      "rows_needed and rung [num_envs].");
}

}  // namespace stickslip::bindings
