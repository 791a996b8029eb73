// Standard forms of mixed LCPs, Stewart and Trinkle's matrices, stacked systems.
#include "stickslip/formulation.hpp"

#include <nanobind/nanobind.h>

#include "src/api/check.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/lcp_arrays.hpp"
#include "src/bindings/signals.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// An array over memory that `owner` keeps alive.
template <class T, class... Size>
auto owned(nb::handle owner, T* data, Size... size) {
  static std::remove_const_t<T> nothing[1] = {};
  return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(size)>>(data == nullptr ? nothing : data,
                                                              {std::size_t(size)...}, owner);
}

/// The same for a vector whose ownership passes to Python.
auto handed_over(std::vector<double>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<double>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  static double nothing[1] = {};
  return nb::ndarray<nb::numpy, double>(kept->empty() ? nothing : kept->data(), shape, owner);
}

StandardForm make_standard_form(const nb::dict& in, int threads) {
  Arrays arrays(FromDict{in}("M"), "(E, n, n)");
  const auto p = lcp_of<double>(arrays, FromDict{in});
  const nb::gil_scoped_release other_threads_may_run;
  return StandardForm(p, threads, &handle_signals);
}

/// Writes (T x + t, x) of each environment into z.
void restore(const StandardForm& s, const nb::dict& in, const nb::dict& out) {
  Arrays arrays(FromDict{in}("x"), "(E, n)");
  std::int64_t columns = kAny;
  const auto x = arrays.input<double>(arrays.leader(), {s.problem().max_rows()});
  const AnyArray found = FromDict{out, true}("z");
  require(found.ndim() == 2, "z", "two axes", std::int64_t(found.ndim()));
  columns = found.shape.back();
  const auto z = arrays.output<double>(found, {columns});
  require(arrays.num_envs() == s.problem().num_envs(), "x", "as many environments as the form has",
          arrays.num_envs());
  for (int e = 0; e < s.problem().num_envs(); ++e) {
    const std::int64_t needed = s.n_free(e) + s.problem().rows(e);
    require(columns >= needed, "z", "a column for each unknown", columns);
  }
  s.restore(x, z);
}

void bind_standard_form(nb::module_& m) {
  nb::class_<StandardForm>(m, "StandardForm", "See include/stickslip/formulation.hpp.")
      .def_prop_ro("A",
                   [](StandardForm& s) {
                     const auto& p = s.problem();
                     return owned(nb::find(s), p.M(0), p.num_envs(), p.max_rows(), p.max_rows());
                   })
      .def_prop_ro("q",
                   [](StandardForm& s) {
                     const auto& p = s.problem();
                     return owned(nb::find(s), p.q(0), p.num_envs(), p.max_rows());
                   })
      .def_prop_ro("T",
                   [](StandardForm& s) {
                     const auto& p = s.problem();
                     return owned(nb::find(s), s.T(0), p.num_envs(), s.max_free(), p.max_rows());
                   })
      .def_prop_ro("t",
                   [](StandardForm& s) {
                     return owned(nb::find(s), s.t(0), s.problem().num_envs(), s.max_free());
                   })
      .def("restore", &restore, "arrays"_a, "out"_a,
           "Writes (T x + t, x) of each environment into out['z'].");
  m.def("standard_form", &make_standard_form, "arrays"_a, "threads"_a,
        "Eliminates the free variables. `arrays`: rows, M, q.");
}

HostLcp make_stewart_trinkle(const nb::dict& in, int directions, double dt, bool scaled) {
  const FromDict from{in};
  Arrays arrays(from("N"), "(E, nv, p)");
  const std::int64_t nv = arrays.leader().shape[1], contacts = arrays.leader().shape[2];
  ContactSystems s;
  s.num_envs = std::int32_t(arrays.num_envs());
  s.nv = std::int32_t(nv);
  s.max_contacts = std::int32_t(contacts);
  s.directions = directions;
  s.dt = dt;
  s.scaled = scaled;
  s.n_contacts = arrays.input<std::int32_t>(from("counts"), {});
  s.M = arrays.input<double>(from("M"), {nv, nv});
  s.tau = arrays.input<double>(from("tau"), {nv});
  s.N = arrays.input<double>(arrays.leader(), {nv, contacts});
  s.B = arrays.input<double>(from("B"), {nv, contacts * std::max(directions, 0)});
  s.mu = arrays.input<double>(from("mu"), {contacts});
  return stewart_trinkle(s);
}

nb::tuple make_contact_columns(const nb::dict& in, int directions) {
  Arrays arrays(FromDict{in}("J"), "(E, 3 p, nv)");
  const auto& shape = arrays.leader().shape;
  const std::int64_t num_envs = shape[0], rows = shape[1], nv = shape[2], contacts = rows / 3;
  require(rows == 3 * contacts, "J", "three rows per contact", rows);
  auto out = contact_columns(std::int32_t(num_envs), std::int32_t(nv), std::int32_t(contacts),
                             directions, arrays.input<double>(arrays.leader(), {rows, nv}));
  const auto E = std::size_t(num_envs), v = std::size_t(nv), p = std::size_t(contacts);
  return nb::make_tuple(handed_over(std::move(out.N), {E, v, p}),
                        handed_over(std::move(out.B), {E, v, p * std::size_t(directions)}));
}

/// M, tau and J of systems, each a dict of its own, in one problem.
nb::tuple make_stack(const nb::list& given, std::int64_t num_envs, std::int64_t rows) {
  require(num_envs >= 0 && num_envs <= INT32_MAX, "num_envs", "a number of 31 bits", num_envs);
  require(rows >= 0 && rows <= INT32_MAX, "rows", "a number of 31 bits", rows);
  std::vector<System> systems;
  std::vector<Arrays> kept;
  for (nb::handle item : given) {
    const auto of = nb::cast<nb::dict>(item);
    const FromDict from{of};
    Arrays& arrays = kept.emplace_back(from("M"), "(E, nv, nv)");
    const std::int64_t nv = arrays.leader().shape[1];
    require(arrays.num_envs() == num_envs, "M", "as many environments as the first system has",
            arrays.num_envs());
    systems.push_back({std::int32_t(nv), arrays.input<double>(arrays.leader(), {nv, nv}),
                       arrays.input<double>(from("tau"), {nv}),
                       arrays.input<double>(from("J"), {rows, nv})});
  }
  auto out = stack(std::int32_t(num_envs), std::int32_t(rows), systems);
  const auto E = std::size_t(num_envs), n = std::size_t(rows), nv = std::size_t(out.nv);
  return nb::make_tuple(handed_over(std::move(out.M), {E, nv, nv}),
                        handed_over(std::move(out.tau), {E, nv}),
                        handed_over(std::move(out.J), {E, n, nv}));
}

void bind_stewart_trinkle(nb::module_& m) {
  nb::class_<HostLcp>(m, "HostLcp", "A batch of LCPs.")
      .def_prop_ro("M",
                   [](HostLcp& p) {
                     return owned(nb::find(p), p.M(0), p.num_envs(), p.max_rows(), p.max_rows());
                   })
      .def_prop_ro(
          "q", [](HostLcp& p) { return owned(nb::find(p), p.q(0), p.num_envs(), p.max_rows()); });
  m.def("stewart_trinkle", &make_stewart_trinkle, "arrays"_a, "directions"_a, "dt"_a, "scaled"_a,
        "The mixed LCP in (qdot, f_n, f_d, lambda). `arrays`: M, tau, N, B, mu, counts (or None).");
  m.def("contact_columns", &make_contact_columns, "arrays"_a, "directions"_a,
        "N and B from rows (n, t1, t2) of J per contact.");
  m.def("stack", &make_stack, "systems"_a, "num_envs"_a, "rows"_a,
        "M, tau and J of systems in one problem.");
}

}  // namespace

void bind_formulation(nb::module_& m) {
  bind_standard_form(m);
  bind_stewart_trinkle(m);
}

}  // namespace stickslip::bindings
