#include "stickslip/info.hpp"

#include <string_view>

#include "kernels/law/dispatch.hpp"
#include "src/cpu/kernel_table.hpp"

namespace stickslip {

const char* name(Law law) {
  switch (law) {
    case Law::coulomb:
      return "coulomb";
    case Law::convex:
      return "convex";
    case Law::pyramid:
      return "pyramid";
    case Law::box:
      return "box";
    case Law::frictionless:
      return "frictionless";
  }
  return "unknown";
}

const char* name(Solver solver) {
  switch (solver) {
    case Solver::automatic:
      return "auto";
    case Solver::pgs:
      return "pgs";
    case Solver::newton:
      return "newton";
    case Solver::lemke:
      return "lemke";
  }
  return "unknown";
}

const char* name(Precision p) {
  switch (p) {
    case Precision::float64:
      return "float64";
    case Precision::float32:
      return "float32";
    case Precision::mixed:
      return "mixed";
  }
  return "unknown";
}

const char* name(EnvStatus status) {
  switch (status) {
    case EnvStatus::solved:
      return "solved";
    case EnvStatus::not_converged:
      return "not_converged";
    case EnvStatus::infeasible:
      return "infeasible";
    case EnvStatus::bad_input:
      return "bad_input";
    case EnvStatus::over_capacity:
      return "over_capacity";
  }
  return "unknown";
}

std::string version() { return STICKSLIP_VERSION; }
std::string cpu_isa() { return kernels::kernel_table().isa; }
bool supports(Solver solver, Law law) {
  return std::string_view(name(law)) != "unknown" && kernels::solver_supports(solver, law);
}

}  // namespace stickslip
