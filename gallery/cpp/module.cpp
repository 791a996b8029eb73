// The Python module stickslip._gallery: the examples of the gallery that are written in C++.
// python/stickslip/gallery plots their results.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

namespace gallery = stickslip::gallery;

const gallery::Example& find(const std::string& name) {
  for (const gallery::Example& example : gallery::examples())
    if (example.name == name) return example;
  throw std::invalid_argument("name: no example " + name);
}

nb::list names() {
  nb::list all;
  for (const gallery::Example& example : gallery::examples()) all.append(example.name);
  return all;
}

nb::object array(const std::vector<double>& values, const std::vector<std::size_t>& shape) {
  return nb::cast(nb::ndarray<nb::numpy, double>(const_cast<double*>(values.data()), shape.size(),
                                                 shape.data()),
                  nb::rv_policy::copy);
}

int at_least_one(int variations) {
  if (variations >= 1) return variations;
  throw std::invalid_argument("variations: expected at least 1, got " + std::to_string(variations));
}

nb::object vary(int variations, int parameter, double lo, double hi) {
  std::vector<double> values(at_least_one(variations));
  for (int i = 0; i < variations; ++i) values[i] = gallery::vary(i, parameter, lo, hi);
  return array(values, {values.size()});
}

/// (checks, numbers, series) of an example, as lists and dictionaries.
nb::tuple run(const std::string& name, int variations) {
  const gallery::Example& example = find(name);
  gallery::Record record;
  {
    const nb::gil_scoped_release release;
    record = example.run(at_least_one(variations));
  }
  nb::list checks;
  for (const gallery::Check& check : record.checks)
    checks.append(nb::make_tuple(check.name, check.value, check.bound));
  nb::dict numbers, series;
  for (const auto& [what, value] : record.numbers) numbers[what.c_str()] = value;
  for (const gallery::Series& each : record.series)
    series[each.name.c_str()] = array(each.values, each.shape);
  return nb::make_tuple(checks, numbers, series);
}

}  // namespace

NB_MODULE(_gallery, m) {
  m.doc() = "The gallery's examples in C++; use the package gallery instead.";
  m.def("names", &names, nb::sig("def names() -> list[str]"),
        "Names of all examples, in the order of the documents.");
  m.def("run", &run, "name"_a, "variations"_a,
        nb::sig("def run(name: str, variations: int) -> tuple[list[tuple[str, float, float]], "
                "dict[str, float], dict[str, numpy.typing.NDArray[numpy.float64]]]"),
        "Runs an example: checks (name, value, bound), numbers, and series by name.");
  m.def(
      "vary", &vary, "variations"_a, "parameter"_a, "lo"_a, "hi"_a,
      nb::sig("def vary(variations: int, parameter: int, lo: float, hi: float) "
              "-> numpy.typing.NDArray[numpy.float64]"),
      "Parameter 0 to 7 of every variation, in [lo, hi): Halton's sequence (1960), as C++ has it.");
}
