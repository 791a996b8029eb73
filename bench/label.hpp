// Names in reports.
#pragma once
#include "stickslip/types.hpp"

namespace stickslip::bench {

/// The arithmetic, in the names of recorded series.
inline const char* label(Precision precision) {
  return precision == Precision::float64 ? "double"
         : precision == Precision::mixed ? "mixed"
                                         : "float";
}

}  // namespace stickslip::bench
