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
void run(const nb::tuple& places, std::int64_t num_envs, std::int64_t n, std::uintptr_t impulse,
         std::uintptr_t residual, std::uintptr_t integers, const SolveOptions& options,
         int threads) {
  const FromPlaces from{places, nb::dtype<Scalar>(), num_envs, n};
  Arrays arrays(from("W"), "(E, n, n)");
  Layout layout{.rows = std::int32_t(n)};
  const auto p = problem_of<Scalar>(arrays, from, layout);
  require_room(p, layout);
  auto* const of = reinterpret_cast<std::int32_t*>(integers);
  const ResultBatch<Scalar> r{.impulse = {reinterpret_cast<Scalar*>(impulse), n},
                              .residual = reinterpret_cast<double*>(residual),
                              .status = reinterpret_cast<EnvStatus*>(of),
                              .iterations = of + num_envs,
                              .solver = reinterpret_cast<Solver*>(of + 2 * num_envs),
                              .rows_needed = of + 3 * num_envs,
                              .rung = of + 4 * num_envs};
  const auto workspace = take_workspace(p.max_rows, p.max_contacts, threads);
  const nb::gil_scoped_release other_threads_may_run;
  solve(p, r, options, *workspace);
}

}  // namespace

void bind_solve_at(nb::module_& m) {
  m.def(
      "solve_at",
      [](bool wide, const nb::tuple& arrays, std::int64_t num_envs, std::int64_t n,
         std::uintptr_t impulse, std::uintptr_t residual, std::uintptr_t integers,
         const SolveOptions& options, int threads) {
        const auto call = wide ? &run<double> : &run<float>;
        call(arrays, num_envs, n, impulse, residual, integers, options, threads);
      },
      "wide"_a, "arrays"_a, "num_envs"_a, "n"_a, "impulse"_a, "residual"_a, "integers"_a,
      "options"_a, "threads"_a,
      "Solves a batch in double (`wide`) or float. `arrays`: W, b, mu, R, lo, hi, warm_start, "
      "counts, dims, each None or (address, elements of a slot, elements between two slots, ...). "
      "Addresses of the results: impulse [num_envs][n], residual [num_envs], status, iterations, "
      "solver, rows_needed and rung [5][num_envs].");
}

}  // namespace stickslip::bindings
