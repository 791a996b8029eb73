// `solve` for arrays given by their addresses, for stickslip.torch: to read the description of an
// array takes longer than a part of a small solve. Only sizes can be checked here.
#include <nanobind/nanobind.h>

#include <limits>

#include "src/bindings/bindings.hpp"
#include "src/bindings/room.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// An array: (address, elements of a slot, elements between two slots, ...).
template <class T>
struct At {
  EnvArray<T> slots;
  std::int64_t size = 0;

  At(const char* name, nb::handle value, std::int64_t expected) {
    if (value.is_none()) return;
    const auto place = nb::cast<nb::tuple>(value);
    const auto address = nb::cast<std::uintptr_t>(place[0]);
    size = nb::cast<std::int64_t>(place[1]);
    slots = {reinterpret_cast<T*>(address), nb::cast<std::int64_t>(place[2])};
    if (expected >= 0) {
      const std::string numbers = std::to_string(expected) + " numbers for each environment";
      require(size == expected, name, numbers.c_str(), size);
    }
    require(address != 0 || size == 0, name, "an array with memory", "none");
    static const double nothing = 0.0;  // addresses of arrays without elements may be null
    if (address == 0) slots.data = reinterpret_cast<T*>(const_cast<double*>(&nothing));
  }
};

constexpr std::int64_t kAny = -1;  ///< elements of a slot

/// W, b, mu, R, lo, hi, warm_start, counts, dims.
template <class Scalar>
ProblemBatch<Scalar> problem_at(const nb::tuple& arrays, std::int32_t num_envs, std::int32_t n) {
  using Vector = At<const Scalar>;
  ProblemBatch<Scalar> p;
  p.num_envs = num_envs;
  p.max_rows = n;
  const At<const std::int32_t> counts("counts", arrays[7], 4), dims("dims", arrays[8], kAny);
  p.counts = {reinterpret_cast<const RowCounts*>(counts.slots.data), counts.slots.stride / 4};
  require(counts.slots.stride % 4 == 0, "counts", "a multiple of 4 numbers from one to the next",
          counts.slots.stride);
  p.dims = dims.slots;
  require(dims.size <= std::numeric_limits<std::int32_t>::max(), "dims", "a number of 32 bits",
          dims.size);
  p.max_contacts = std::int32_t(dims.size);
  p.W = Vector("W", arrays[0], std::int64_t(n) * n).slots;
  p.b = Vector("b", arrays[1], n).slots;
  const Vector mu("mu", arrays[2], kAny), lo("lo", arrays[4], kAny), hi("hi", arrays[5], lo.size);
  p.mu = mu.slots;
  p.R = Vector("R", arrays[3], n).slots;
  p.lo = lo.slots;
  p.hi = hi.slots;
  p.warm_start = Vector("warm_start", arrays[6], n).slots;
  require(num_envs == 0 || (p.counts.data != nullptr && p.dims.data != nullptr), "counts, dims",
          "arrays", "none");
  require_room(p, mu.size, lo.slots.data == nullptr || hi.slots.data == nullptr ? 0 : lo.size);
  return p;
}

template <class Scalar>
void run(const nb::tuple& arrays, std::int32_t num_envs, std::int32_t n, std::uintptr_t impulse,
         std::uintptr_t residual, std::uintptr_t integers, const SolveOptions& options,
         int threads) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(n >= 0, "n", "a number >= 0", n);
  const ProblemBatch<Scalar> p = problem_at<Scalar>(arrays, num_envs, n);
  auto* const of = reinterpret_cast<std::int32_t*>(integers);
  const ResultBatch<Scalar> r{.impulse = {reinterpret_cast<Scalar*>(impulse), n},
                              .residual = reinterpret_cast<double*>(residual),
                              .status = reinterpret_cast<EnvStatus*>(of),
                              .iterations = of + num_envs,
                              .solver = reinterpret_cast<Solver*>(of + 2 * std::int64_t(num_envs)),
                              .rows_needed = of + 3 * std::int64_t(num_envs),
                              .rung = of + 4 * std::int64_t(num_envs)};
  const auto workspace = take_workspace(p.max_rows, p.max_contacts, threads);
  const nb::gil_scoped_release other_threads_may_run;
  solve(p, r, options, *workspace);
}

}  // namespace

void bind_solve_at(nb::module_& m) {
  m.def(
      "solve_at",
      [](bool wide, const nb::tuple& arrays, std::int32_t num_envs, std::int32_t n,
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
