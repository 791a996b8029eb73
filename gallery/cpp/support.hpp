// Shared parts of the examples: families of variations, maxima that propagate NaN, series.
#pragma once
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "gallery/cpp/gallery.hpp"
#include "gallery/rigid/frames.hpp"

namespace stickslip::gallery {

/// Parameter `parameter` (0 to 7) of a variation, in [lo, hi): Halton's sequence (1960). Any number
/// of variations fills the box of parameters evenly, and the first ones are always the same.
inline double vary(int variation, int parameter, double lo, double hi) {
  constexpr std::array primes = {2, 3, 5, 7, 11, 13, 17, 19};
  const int base = primes.at(parameter);
  double digit = 1.0, fraction = 0.0;
  for (int n = variation + 1; n > 0; n /= base) {
    digit /= base;
    fraction += digit * (n % base);
  }
  return lo + (hi - lo) * fraction;
}

/// The same, evenly over the logarithm.
inline double vary_log(int variation, int parameter, double lo, double hi) {
  return lo * std::pow(hi / lo, vary(variation, parameter, 0., 1.));
}

/// The largest of its inputs: NaN if one of them was NaN, and NaN without inputs.
class Largest {
 public:
  void operator()(double x) {
    if (empty_ || std::isnan(x) || x > value_) value_ = x;
    empty_ = false;
  }
  operator double() const { return value_; }

 private:
  double value_ = std::numeric_limits<double>::quiet_NaN();
  bool empty_ = true;
};

using rigid::array, rigid::quaternion, rigid::vec;

/// A matrix with a row per variation and a column per time (or per parameter), of shape
/// [times][variations].
inline Series series(const std::string& name, const Eigen::MatrixXd& m) {
  return {name, {std::size_t(m.cols()), std::size_t(m.rows())}, {m.data(), m.data() + m.size()}};
}

}  // namespace stickslip::gallery
