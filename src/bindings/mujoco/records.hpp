// What Python reads of a BatchSim on request: views of its memory, records of one environment.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>

#include "src/mujoco/batch_sim.hpp"

namespace stickslip::bindings {

namespace nb = nanobind;

/// numpy view of memory that `owner` keeps alive; strides are in elements.
template <class T>
nb::object view(const T* data, std::initializer_list<std::size_t> shape, nb::handle owner,
                std::initializer_list<std::int64_t> strides = {}) {
  static T nothing{};
  return nb::cast(
      nb::ndarray<nb::numpy, T>(const_cast<T*>(data ? data : &nothing), shape, owner, strides));
}

/// step_vjp, step_jvp.
void bind_gradients(nb::class_<mujoco::BatchSim>& sim);

nb::list contacts(const mujoco::BatchSim& sim, int env);
nb::dict contact_arrays(const mujoco::BatchSim& sim);  ///< of all environments, padded
nb::dict problem(const mujoco::BatchSim& sim, int env);
nb::dict timings(const mujoco::BatchSim& sim);
nb::dict statistics(const mujoco::BatchSim& sim);

}  // namespace stickslip::bindings
