// The parts of the Python module _compare.
#pragma once
#include <nanobind/nanobind.h>

namespace stickslip::compare {

void bind_oracle(nanobind::module_& m);  ///< residuals by the oracle

}  // namespace stickslip::compare
