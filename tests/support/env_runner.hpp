// Runs the kernels' body for one environment on any group, like a launch but without the library.
// Needs only the kernel headers.
#pragma once
#include "kernels/env/solve_env.hpp"
#include "tests/support/aligned.hpp"

namespace stickslip::support {

/// Scratch of a solve, aligned as a launch aligns it.
template <class Real, class Factor, class Scalar>
class EnvMemory {
 public:
  EnvMemory(int max_rows, int max_contacts, kernels::MatrixKind matrix = {})
      : max_rows_(max_rows),
        max_contacts_(max_contacts),
        matrix_(matrix),
        storage_(Scratch::bytes(max_rows, max_contacts, kDirections, matrix)) {}
  using Scratch = kernels::EnvScratch<Real, Factor, Scalar>;
  Scratch scratch() {
    return Scratch(kernels::Arena(storage_.data()), max_rows_, max_contacts_, kDirections, matrix_);
  }
  /// Fills it with NaN, and integers with -1.
  void poison() { storage_.fill(0xff); }

 private:
  static constexpr int kDirections = 4;  ///< of law `pyramid`
  int max_rows_, max_contacts_;
  kernels::MatrixKind matrix_;
  AlignedBytes storage_;
};

}  // namespace stickslip::support
