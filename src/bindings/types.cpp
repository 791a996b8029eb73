// Basic types: enums (IntEnum in Python, so that arrays of integers compare with them), options,
// facts about the build.
#include "stickslip/types.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <type_traits>

#include "src/api/check.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/option_list.hpp"
#include "src/bindings/signals.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/gradient.hpp"
#include "stickslip/info.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

void bind_enums(nb::module_& m) {
  nb::enum_<Law>(m, "Law", nb::is_arithmetic(), "What a contact means.")
      .value("coulomb", Law::coulomb, "exact Coulomb friction (De Saxcé's NCP)")
      .value("convex", Law::convex, "associated cone complementarity, MuJoCo's model")
      .value("pyramid", Law::pyramid, "Stewart-Trinkle LCP, 4 to 64 directions")
      .value("box", Law::box, "decoupled axes: a square around the cone")
      .value("frictionless", Law::frictionless, "Signorini only");
  nb::enum_<Solver>(m, "Solver", nb::is_arithmetic(), "Which algorithm produced a result.")
      .value("auto", Solver::automatic, "the recorded ladder of the law")
      .value("pgs", Solver::pgs, "block projected Gauss-Seidel")
      .value("newton", Solver::newton, "semismooth Newton")
      .value("lemke", Solver::lemke, "Lemke's method, complementary pivoting");
  nb::enum_<Precision>(m, "Precision", nb::is_arithmetic(), "Arithmetic of the solver.")
      .value("float64", Precision::float64, "float64 throughout")
      .value("float32", Precision::float32, "float32 throughout")
      .value("mixed", Precision::mixed, "double state and residual, float factorisation");
  nb::enum_<EnvStatus>(m, "Status", nb::is_arithmetic(), "Verdict on one environment.")
      .value("solved", EnvStatus::solved, "residual <= tolerance")
      .value("not_converged", EnvStatus::not_converged, "budget used up; best iterate returned")
      .value("infeasible", EnvStatus::infeasible, "proved: no velocities satisfy the gaps")
      .value("bad_input", EnvStatus::bad_input, "NaN, mu < 0, lo > hi, ...; impulse is zero")
      .value("over_capacity", EnvStatus::over_capacity, "more rows than the slot has");
  nb::enum_<Selected>(m, "Selected", nb::is_arithmetic(),
                      "Whether an impulse is the one selected among many solutions.")
      .value("no", Selected::no, "any solution, or none")
      .value("yes", Selected::yes, "that of stiff contacts")
      .value("unique", Selected::unique, "there is nothing to select");
  nb::enum_<GradientStatus>(m, "GradientStatus", nb::is_arithmetic(),
                            "Whether the derivatives of an environment can be trusted.")
      .value("valid", GradientStatus::valid, "the derivative exists, and this is it")
      .value("kink", GradientStatus::kink, "a state is about to change: one-sided derivatives")
      .value("not_unique", GradientStatus::not_unique, "the solution's change is not determined")
      .value("unsolved", GradientStatus::unsolved, "zeros: no solution, or input not finite");
}

// Sets the fields that are given by name; the others keep their defaults.
void set_options(SolveOptions* self, const nb::kwargs& given) {
  SolveOptions options;
  std::size_t known = 0;
  for_options([&](const char* name, auto member) {
    if (!given.contains(name)) return;
    options.*member = nb::cast<std::remove_reference_t<decltype(options.*member)>>(given[name]);
    ++known;
  });
  if (known < given.size()) throw nb::type_error("SolveOptions: an unknown name");
  new (self) SolveOptions(options);
}

}  // namespace

void bind_types(nb::module_& m) {
  bind_enums(m);
  translate_interrupted();
  nb::class_<SolveOptions> options(m, "SolveOptions",
                                   "How to solve a batch; see include/stickslip/types.hpp.");
  options.def("__init__", &set_options);
  nb::list names;
  for_options([&](const char* name, auto member) {
    options.def_rw(name, member);
    names.append(name);
  });
  options.attr("names") = nb::tuple(names);

  m.def("version", &version);
  m.def("cpu_isa", &cpu_isa, "Instruction set in use.");
  m.def("supports", &supports, "solver"_a, "law"_a, "Whether the solver accepts the law.");
  m.def("tolerance", &tolerance, "options"_a, "max_abs_b"_a);
  m.def("require_memory", &require_memory, "bytes"_a, "arguments"_a,
        "Refuses sizes whose arrays this machine's memory cannot hold.");
  m.def("cuda_available", &cuda::available, "Built with CUDA, and a device answers.");
  m.def("cuda_why_not", &cuda::why_not, "Why CUDA is not available; empty where it is.");
  m.def("cuda_device_name", &cuda::device_name);
}

}  // namespace stickslip::bindings
