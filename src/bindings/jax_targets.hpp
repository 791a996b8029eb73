// Functions that XLA calls, as JAX registers them (jax.cpp, jax_gradient.cpp).
#pragma once
#include <nanobind/nanobind.h>

namespace stickslip::bindings {

template <class F>
nanobind::capsule capsule(F* target) {
  return nanobind::capsule(reinterpret_cast<void*>(target), "xla._CUSTOM_CALL_TARGET");
}

/// A target that allocates before it is called.
template <class F>
nanobind::dict stages(F* initialize, F* execute) {
  nanobind::dict both;
  both["initialize"] = capsule(initialize);
  both["execute"] = capsule(execute);
  return both;
}

}  // namespace stickslip::bindings
