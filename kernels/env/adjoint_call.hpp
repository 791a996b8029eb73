// Derivatives that are wanted in the same call as a solve. The same types for every instruction
// set.
#pragma once
#include "stickslip/gradient.hpp"

namespace stickslip::kernels {

template <class In>
struct AdjointCall {
  LossBatch<In> loss;
  GradientBatch<In> gradient;
};

}  // namespace stickslip::kernels
