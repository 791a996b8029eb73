// What tells whether the structs of the installed MuJoCo are those that this module was built with.
#pragma once
#include <nanobind/nanobind.h>

namespace stickslip::bindings {

/// version, the number of the headers' MuJoCo (mjVERSION_HEADER); layout(model, data).
void bind_layout(nanobind::module_& m);

}  // namespace stickslip::bindings
