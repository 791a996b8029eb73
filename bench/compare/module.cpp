// The Python module _compare: solvers on the same problems (comparison.py), the tests' random
// problems, and the oracle's residuals for the tests. It is not part of the package.
#include "bench/compare/module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bench/compare/contest.hpp"
#include "src/bindings/problem.hpp"
#include "src/bindings/signals.hpp"
#include "tests/support/families.hpp"

namespace stickslip::compare {

using namespace bindings;
using namespace nb::literals;

namespace {

void bind_contest(nb::module_& m) {
  nb::class_<Score>(m, "Score", "What a solver did with a problem.")
      .def_ro("able", &Score::able)
      .def_ro("claimed", &Score::claimed)
      .def_ro("finite", &Score::finite)
      .def_ro("solved", &Score::solved)
      .def_ro("residual", &Score::residual)
      .def_ro("seconds", &Score::seconds);
  nb::class_<Outcome>(m, "Outcome", "What a solver did with all problems.")
      .def_ro("name", &Outcome::name)
      .def_ro("about", &Outcome::about)
      .def_ro("scores", &Outcome::scores);
  nb::class_<Contest>(m, "Contest", "See src/compare/contest.hpp.")
      .def(nb::init<Law, double, double>(), "law"_a, "tolerance"_a, "peer_tolerance"_a)
      .def("enter_ours", &Contest::enter_ours, "name"_a, "options"_a)
      .def("enter_module", &Contest::enter_module, "path"_a)
      .def(
          "add",
          [](Contest& self, const nb::dict& arrays) {
            const HostProblem<double> problem(arrays);
            for (int e = 0; e < problem.view.num_envs; ++e) {
              if (!fits(problem.view, e)) throw nb::value_error("counts: more rows than W has");
              self.add(reference::from_batch(problem.view, e));
            }
          },
          "arrays"_a, "Adds the problems of a batch, W, b, mu, R, lo, hi, counts, dims by name.")
      .def(
          "run",
          [](Contest& self, int rounds) {
            const nb::gil_scoped_release other_threads_may_run;
            return self.run(rounds, handle_signals);
          },
          "rounds"_a)
      .def(
          "run_one",
          [](Contest& self, std::size_t problem, int rounds) {
            const nb::gil_scoped_release other_threads_may_run;
            return self.run_one(problem, rounds, handle_signals);
          },
          "problem"_a, "rounds"_a);
}

void bind_families(nb::module_& m) {
  m.def("families", [] {
    std::vector<std::string> names;
    for (const auto family : support::kFamilies) names.push_back(support::name(family));
    return names;
  });
  m.def(
      "add_family",
      [](Contest& contest, const std::string& name, int contacts, int count) {
        for (const auto family : support::kFamilies) {
          if (support::name(family) != name) continue;
          if (!support::exists(family, contacts))
            throw std::invalid_argument("contacts: " + name + " has no problems of " +
                                        std::to_string(contacts));
          for (auto& problem : support::make_problems(family, contacts, count))
            contest.add(std::move(problem));
          return;
        }
        throw std::invalid_argument("family: there is no " + name);
      },
      "contest"_a, "family"_a, "contacts"_a, "count"_a, "Adds random problems of a family.");
}

}  // namespace
}  // namespace stickslip::compare

NB_MODULE(_compare, m) {
  m.doc() = "Comparison of solvers, and the oracle.";
  nanobind::module_::import_("stickslip._core");  // its enums and options are arguments here
  stickslip::bindings::translate_interrupted();
  m.def("compiler", [] { return "g++ " __VERSION__; });
  stickslip::compare::bind_contest(m);
  stickslip::compare::bind_families(m);
  stickslip::compare::bind_oracle(m);
}
