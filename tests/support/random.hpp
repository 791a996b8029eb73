// Random numbers that are the same on every machine: no libm function whose last bit may differ.
#pragma once
#include <cmath>
#include <cstdint>

namespace stickslip::support {

/// xorshift64* (Vigna 2016), seeded with any number.
class Random {
 public:
  explicit Random(std::uint64_t seed)
      : state_(seed * 0x9E3779B97F4A7C15ULL + 0xD1B54A32D192ED03ULL) {
    for (int i = 0; i < 8; ++i) next();
  }
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
  }
  /// In [0, 1).
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, count).
  int integer(int count) { return int(next() % std::uint64_t(count)); }
  /// A multiple of 1/64 in [low, high).
  double dyadic(int low, int high) { return low + integer(64 * (high - low)) / 64.0; }
  bool chance(double probability) { return uniform() < probability; }
  /// Mean 0, variance 1, nearly normal: the sum of twelve uniform numbers (Irwin-Hall).
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

/// 10^x for x >= 0 by square roots only, which are the same on every machine.
inline double power_of_ten(double x) {
  double result = 1.0;
  for (; x >= 1.0; x -= 1.0) result *= 10.0;
  double root = std::sqrt(10.0);
  for (int bit = 0; bit < 30; ++bit, root = std::sqrt(root)) {
    x *= 2.0;
    if (x >= 1.0) {
      x -= 1.0;
      result *= root;
    }
  }
  return result;
}

}  // namespace stickslip::support
