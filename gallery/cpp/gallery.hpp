// An example of the gallery is a function that runs a family of variations and returns its results.
// `python -m gallery` plots them; the tests run it and require its checks.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stickslip::gallery {

/// A number that the tests require to be at most `bound` (NaN fails).
struct Check {
  std::string name;  ///< the quantity, with its unit
  double value;
  double bound;
  bool holds() const { return value <= bound; }
};

/// Numbers over a grid, the last index fastest, for plots.
struct Series {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

struct Record {
  std::vector<Check> checks;
  std::vector<std::pair<std::string, double>> numbers;  ///< reported, not checked
  std::vector<Series> series;
};

/// `run` solves `variations` variants of the example (of mass, friction, speed, ...) in one batch.
struct Example {
  std::string name;
  Record (*run)(int variations);
};

/// Every example, in the order of the documents.
const std::vector<Example>& examples();

}  // namespace stickslip::gallery
