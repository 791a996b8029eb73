// The parts of the Python module stickslip._core; each file here binds one of them.
#pragma once
#include <nanobind/nanobind.h>

namespace stickslip::bindings {

void bind_types(nanobind::module_& m);        ///< enums, SolveOptions, facts about the build
void bind_solve(nanobind::module_& m);        ///< solve, measure
void bind_solve_at(nanobind::module_& m);     ///< solve, of arrays given by addresses
void bind_bound(nanobind::module_& m);        ///< BoundSolve: arrays of any framework and device
void bind_gradient(nanobind::module_& m);     ///< solve_vjp, solve_jvp, step_vjp
void bind_lcp(nanobind::module_& m);          ///< solve_lcp, its options
void bind_formulation(nanobind::module_& m);  ///< standard forms, Stewart and Trinkle, stacks
void bind_mncp(nanobind::module_& m);         ///< solve_mncp
void bind_mechanism(nanobind::module_& m);    ///< delassus, apply_impulse
void bind_jax(nanobind::module_& m);          ///< targets of XLA

}  // namespace stickslip::bindings
