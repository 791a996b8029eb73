// Attempts of Lemke's method: if one ends in a ray or fails through rounding, the next uses another
// covering vector and another slack of the ratio test.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels {

inline constexpr int kLemkeAttempts = 8;    ///< with entries of the covering vector in [1, 2)
inline constexpr int kWideAttempts = 24;    ///< further ones, with entries in [2^-8, 2^8)
inline constexpr int kSteepAttempts = 976;  ///< still further ones, if friction is steep

struct Attempts {
  int first = 0, count = kLemkeAttempts;
  int if_steep = 0;  ///< further ones in double, for problems with mu > 1
};

inline namespace SS_ISA {

/// Number of attempts for a problem with data of type `Scalar` and the largest friction `mu`.
template <class Scalar>
SS_HD int attempt_count(const Attempts& attempts, double mu) {
  return attempts.count + (sizeof(Scalar) == sizeof(double) && mu > 1.0 ? attempts.if_steep : 0);
}

/// Entry i of the covering vector. Equal entries would cause ties between near-duplicate contacts.
/// Entries of different sizes give other paths: with friction from 10^-3 to 10^3 they solve three
/// quarters of the problems that entries in [1, 2) leave unsolved. With mu from 2 to 10
/// more attempts keep solving more: of 10,000 problems 32 are left after 24, 16 after 96, 10 after
/// 1000 (tests/support/extreme.hpp, `steep`). With mu <= 1 they would only make jams expensive.
SS_HD double covering_weight(int i, int attempt) {
  const double weight = hashed_weight(i, attempt);
  if (attempt < kLemkeAttempts) return weight;
  return weight * double(1 << (hashed_bits(i, attempt, 54321U) >> 28)) * (1.0 / 256.0);
}

/// Slack of the ratio test in double, over four decades. (A table would be in local memory on a
/// GPU.)
SS_HD double lemke_slack(int attempt) {
  const int i = attempt % kLemkeAttempts;
  return i == 0 || i == 4   ? 1e-10
         : i == 1 || i == 6 ? 1e-9
         : i == 2 || i == 7 ? 1e-11
         : i == 3           ? 1e-8
                            : 1e-12;
}

}  // namespace SS_ISA
}  // namespace stickslip::kernels
