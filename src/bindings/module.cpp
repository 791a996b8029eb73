// The Python module stickslip._core: thin bindings; python/stickslip is the public interface.
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

NB_MODULE(_core, m) {
  using namespace stickslip::bindings;
  m.doc() = "Bindings of the stickslip C++ library; use the package stickslip instead.";
  bind_types(m);
  bind_solve(m);
  bind_solve_at(m);
  bind_bound(m);
  bind_lcp(m);
  bind_formulation(m);
  bind_mncp(m);
  bind_mechanism(m);
  bind_gradient(m);
  bind_jax(m);
}
