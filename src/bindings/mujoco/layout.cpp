#include "src/bindings/mujoco/layout.hpp"

#include <mujoco/mjxmacro.h>
#include <mujoco/mujoco.h>

#include <cstdint>

namespace stickslip::bindings {
namespace {

namespace nb = nanobind;

std::uintptr_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

// Of the model and the data at these addresses, as this module's headers see them: where arrays
// are, and numbers, by names of MuJoCo's Python bindings; the size of a contact in bytes.
nb::tuple layout(std::uintptr_t model, std::uintptr_t data) {
  const auto& m = *reinterpret_cast<const mjModel*>(model);
  const auto& d = *reinterpret_cast<const mjData*>(data);
  nb::dict model_arrays, model_numbers, data_arrays, data_numbers;
#define X(type, name, rows, columns) model_arrays[#name] = address_of(m.name);
  MJMODEL_POINTERS
#undef X
#define X(type, name, rows, columns) data_arrays[#name] = address_of(d.name);
  MJDATA_POINTERS
  MJDATA_ARENA_POINTERS_SOLVER
  MJDATA_ARENA_POINTERS_ISLAND
#undef X
#define X(name) model_numbers[#name] = std::int64_t(m.name);
  MJMODEL_SIZES
#undef X
#define X(type, name) data_numbers[#name] = double(d.name);
  MJDATA_SCALAR
#undef X
  data_arrays["energy"] = address_of(d.energy);
  data_arrays["warning.number"] = address_of(&d.warning[0].number);
  data_arrays["contact.dist"] = address_of(&d.contact[0].dist);
  model_arrays["opt.gravity"] = address_of(m.opt.gravity);
  model_arrays["stat.center"] = address_of(m.stat.center);
  return nb::make_tuple(model_arrays, model_numbers, data_arrays, data_numbers, sizeof(mjContact));
}

}  // namespace

void bind_layout(nb::module_& m) {
  m.attr("version") = mjVERSION_HEADER;
  m.def("layout", &layout);
}

}  // namespace stickslip::bindings
