// Sums of products as if in twice the precision, for sums that cancel.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A sum of products whose rounding errors are summed too (Ogita, Rump & Oishi 2005, Dot2):
/// |value() - exact| <= unit |exact| + (count unit)^2 sum |a b|, unit = 2^-53, and an underflow for
/// each product.
struct CompensatedSum {
  double high = 0.0, low = 0.0, size = 0.0;
  int count = 0;

  SS_HD void add_product(double a, double b) {
    const double product = a * b, of_product = fma(a, b, -product);
    const double sum = high + product, added = sum - high;
    low += ((high - (sum - added)) + (product - added)) + of_product;
    high = sum;
    size += abs(product);
    ++count;
  }
  SS_HD double value() const { return high + low; }
  /// A bound of |value() - exact|.
  SS_HD double error() const {
    constexpr double unit = 0.5 * Limits<double>::epsilon, underflow = 1e-323;
    const double roundings = unit * double(count + 4);
    const double of_sum = fma(2.0 * unit, abs(value()), roundings * roundings * size);
    return fma(underflow, double(count), of_sum);
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
