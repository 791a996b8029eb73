// Families of small extreme problems found by adversarial tests: each problem contains its proof,
// impulses that solve it or a certificate that it has no solution, made without any solver.
#pragma once
#include <array>

#include "tests/reference/reference.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

enum class Extreme {
  redundant,    ///< fewer degrees of freedom than rows, masses alike, mu 0.1 to 1.2
  mass_1e6,     ///< masses that differ by up to 10^6
  mass_1e12,    ///< by up to 10^12
  friction,     ///< mu from 10^-3 to 10^3
  zero_normal,  ///< a contact whose normal nothing can move: W_nn = 0
  zero_rows,    ///< a quarter of the rows of J are zero
  opposed,      ///< contacts that push against each other
  dims,         ///< dimensions 3, 4 and 6
  scales,       ///< units of mass and speed from 10^-12 to 10^12
  steep,        ///< fewer degrees of freedom than rows, mu from 2 to 10
};
inline constexpr std::array kExtremes = {
    Extreme::redundant,   Extreme::mass_1e6,  Extreme::mass_1e12, Extreme::friction,
    Extreme::zero_normal, Extreme::zero_rows, Extreme::opposed,   Extreme::dims,
    Extreme::scales,      Extreme::steep};
const char* name(Extreme family);

struct ExtremeProblem {
  reference::Problem problem;
  reference::Vector solution;     ///< r that solves it; empty if there is none
  reference::Vector certificate;  ///< y that proves that there is none; else empty
};

/// Problem number `index` of a family with 1 to 8 contacts. The same numbers on every machine.
ExtremeProblem make_extreme(Extreme family, Law law, bool solvable, int index);

/// Whether y proves, in long double and independently of kernels/residual/certificate.hpp, that no
/// impulse of the contact problem within its cones, with r_n up to 10^12 max|b| rho, has a residual
/// of `tolerance` or less: y >= 0 on normals without compliance, 0 on other rows, and
/// y . b + (W^T y) . r < 0 beyond tolerance for all of them (docs/mathematics.md §5).
bool proves_infeasible(const reference::Problem& problem, Law law, const reference::Vector& y,
                       double tolerance);

}  // namespace stickslip::support
