// Derivatives that are wanted in the same call as a solve. The same types for every instruction
// set.
#pragma once
#include "stickslip/gradient.hpp"

namespace stickslip::kernels {

template <class Scalar>
struct AdjointCall {
  LossBatch<Scalar> loss;
  GradientBatch<Scalar> gradient;
};

}  // namespace stickslip::kernels
