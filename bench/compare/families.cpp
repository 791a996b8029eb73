// The tests' random problems for `stickslip compare --family`: part of the Python module, but not
// of src/, which does not depend on the tests.
#include "tests/support/families.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "src/bindings/bindings.hpp"
#include "src/compare/contest.hpp"

namespace stickslip::bindings {

namespace nb = nanobind;
using namespace nb::literals;

void bind_families(nb::module_& m) {
  m.def("families", [] {
    std::vector<std::string> names;
    for (const auto family : support::kFamilies) names.push_back(support::name(family));
    return names;
  });
  m.def(
      "add_family",
      [](compare::Contest& contest, const std::string& name, int contacts, int count) {
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

}  // namespace stickslip::bindings
