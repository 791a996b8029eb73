// Standard forms of mixed LCPs, Stewart and Trinkle's matrices, stacked systems.
#include "stickslip/formulation.hpp"

#include <nanobind/nanobind.h>

#include "src/bindings/arrays.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/signals.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

using Vectors = Array<const double, 2>;
using Matrices = Array<const double, 3>;
using Counts = Array<const std::int32_t, 1>;

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

StandardForm make_standard_form(Array<const std::int32_t, 2> rows, Matrices M, Vectors q,
                                int threads) {
  const std::size_t num_envs = M.shape(0);
  LcpBatch<double> p;
  p.num_envs = size32("M", num_envs);
  p.max_rows = size32("M", M.shape(1));
  require_size("M", M, 2, M.shape(1));
  require_size("q", q, 1, M.shape(1));
  require_size("rows", rows, 1, 2);
  p.rows = slots("rows", rows, num_envs);
  p.n_free = {p.rows.data + 1, p.rows.stride};
  p.M = matrix_slots("M", M, num_envs, p.ld_M);
  p.q = slots("q", q, num_envs);
  const nb::gil_scoped_release other_threads_may_run;
  return StandardForm(p, threads, &handle_signals);
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
      .def(
          "restore",
          [](const StandardForm& s, Vectors x, Array<double, 2> z) {
            const auto envs = std::size_t(s.problem().num_envs());
            require_size("x", x, 1, std::size_t(s.problem().max_rows()));
            for (int e = 0; e < s.problem().num_envs(); ++e) {
              if (z.shape(1) < std::size_t(s.n_free(e) + s.problem().rows(e)))
                refuse("z", "too small");
            }
            s.restore(slots("x", x, envs), slots("z", z, envs));
          },
          "x"_a.noconvert(), "z"_a.noconvert(), "Writes (T x + t, x) of each environment into z.");
  m.def("standard_form", &make_standard_form, "rows"_a.noconvert(), "M"_a.noconvert(),
        "q"_a.noconvert(), "threads"_a, "Eliminates the free variables.");
}

HostLcp make_stewart_trinkle(Matrices M, Vectors tau, Matrices N, Matrices B, Vectors mu,
                             Counts counts, int directions, double dt, bool scaled) {
  const std::size_t num_envs = M.shape(0), nv = M.shape(1), contacts = N.shape(2);
  ContactSystems s;
  s.num_envs = size32("M", num_envs);
  s.nv = size32("M", nv);
  s.max_contacts = size32("N", contacts);
  s.directions = directions;
  s.dt = dt;
  s.scaled = scaled;
  require_size("M", M, 2, nv);
  require_size("tau", tau, 1, nv);
  require_size("N", N, 1, nv);
  require_size("B", B, 1, nv);
  require_size("B", B, 2, contacts * std::size_t(std::max(directions, 0)));
  require_size("mu", mu, 1, contacts);
  if (counts.is_valid()) s.n_contacts = {values("counts", counts, num_envs), 1};
  s.M = block_slots("M", M, num_envs);
  s.tau = slots("tau", tau, num_envs);
  s.N = block_slots("N", N, num_envs);
  s.B = block_slots("B", B, num_envs);
  s.mu = slots("mu", mu, num_envs);
  return stewart_trinkle(s);
}

void bind_stewart_trinkle(nb::module_& m) {
  nb::class_<HostLcp>(m, "HostLcp", "A batch of LCPs.")
      .def_prop_ro("M",
                   [](HostLcp& p) {
                     return owned(nb::find(p), p.M(0), p.num_envs(), p.max_rows(), p.max_rows());
                   })
      .def_prop_ro(
          "q", [](HostLcp& p) { return owned(nb::find(p), p.q(0), p.num_envs(), p.max_rows()); });
  m.def("stewart_trinkle", &make_stewart_trinkle, "M"_a.noconvert(), "tau"_a.noconvert(),
        "N"_a.noconvert(), "B"_a.noconvert(), "mu"_a.noconvert(), "counts"_a.noconvert().none(),
        "directions"_a, "dt"_a, "scaled"_a, "The mixed LCP in (qdot, f_n, f_d, lambda).");
  m.def(
      "contact_columns",
      [](Matrices J, int directions) {
        const std::size_t num_envs = J.shape(0), nv = J.shape(2), contacts = J.shape(1) / 3;
        if (J.shape(1) != 3 * contacts) refuse("J", "expected three rows per contact");
        auto out = contact_columns(size32("J", num_envs), size32("J", nv), size32("J", contacts),
                                   directions, block_slots("J", J, num_envs));
        return nb::make_tuple(
            handed_over(std::move(out.N), {num_envs, nv, contacts}),
            handed_over(std::move(out.B), {num_envs, nv, contacts * std::size_t(directions)}));
      },
      "J"_a.noconvert(), "directions"_a, "N and B from rows (n, t1, t2) per contact.");
  m.def(
      "stack",
      [](nb::list given, std::size_t num_envs, std::size_t rows) {
        std::vector<System> systems;
        for (nb::handle item : given) {
          const auto M = nb::cast<Matrices>(item[0]), J = nb::cast<Matrices>(item[2]);
          const auto tau = nb::cast<Vectors>(item[1]);
          const std::size_t nv = M.shape(1);
          require_size("M", M, 2, nv);
          require_size("tau", tau, 1, nv);
          require_size("J", J, 1, rows);
          require_size("J", J, 2, nv);
          systems.push_back({size32("M", nv), block_slots("M", M, num_envs),
                             slots("tau", tau, num_envs), block_slots("J", J, num_envs)});
        }
        auto out = stack(size32("M", num_envs), size32("J", rows), systems);
        const auto nv = std::size_t(out.nv);
        return nb::make_tuple(handed_over(std::move(out.M), {num_envs, nv, nv}),
                              handed_over(std::move(out.tau), {num_envs, nv}),
                              handed_over(std::move(out.J), {num_envs, rows, nv}));
      },
      "systems"_a, "num_envs"_a, "rows"_a, "M, tau and J of systems in one problem.");
}

}  // namespace

void bind_formulation(nb::module_& m) {
  bind_standard_form(m);
  bind_stewart_trinkle(m);
}

}  // namespace stickslip::bindings
