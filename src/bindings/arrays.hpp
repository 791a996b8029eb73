// From numpy arrays to the library's views, without copies. The signatures check element types,
// devices and numbers of dimensions; the rest is checked here, so that no array can make the
// library access memory outside it. python/stickslip checks the same before, with clearer messages.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "stickslip/batch.hpp"

namespace stickslip::bindings {

namespace nb = nanobind;

template <class T, int N>
using Array = nb::ndarray<T, nb::ndim<N>, nb::device::cpu>;

/// Base address of an array; never null, although numpy may give null for arrays without elements.
template <class A>
typename A::Scalar* address(const A& array) {
  static std::int64_t nothing[2] = {};
  return array.data() ? array.data() : reinterpret_cast<typename A::Scalar*>(nothing);
}

[[noreturn]] inline void refuse(const char* name, const std::string& why) {
  throw std::invalid_argument(std::string(name) + ": " + why);
}

inline std::int32_t size32(const char* name, std::size_t size) {
  if (size > std::size_t(std::numeric_limits<std::int32_t>::max())) refuse(name, "too large");
  return std::int32_t(size);
}

/// Requires dimension `i` to have `expected` elements.
template <class A>
void require_size(const char* name, const A& array, int i, std::size_t expected) {
  if (array.shape(i) != expected)
    refuse(name, "dimension " + std::to_string(i) + " has " + std::to_string(array.shape(i)) +
                     " elements, expected " + std::to_string(expected));
}

/// Requires adjacent elements of the last dimension to be contiguous.
template <class A>
void require_contiguous_slots(const char* name, const A& array) {
  const int last = int(array.ndim()) - 1;  // strides of empty arrays have no meaning
  if (array.size() > 0 && array.shape(last) > 1 && array.stride(last) != 1)
    refuse(name, "the values of one environment must be contiguous");
}

/// The slots of `array[E][...]`; an absent (None) array gives an absent view.
template <class A>
EnvArray<typename A::Scalar> slots(const char* name, const A& array, std::size_t num_envs) {
  if (!array.is_valid()) return {};
  require_size(name, array, 0, num_envs);
  require_contiguous_slots(name, array);
  return {address(array), array.stride(0)};
}

/// The same for `[E][rows][cols]` whose rows may be padded: `ld` becomes the row stride.
template <class A>
EnvArray<typename A::Scalar> matrix_slots(const char* name, const A& array, std::size_t num_envs,
                                          std::int32_t& ld) {
  const auto view = slots(name, array, num_envs);
  const auto cols = std::int64_t(array.shape(2));
  const bool one_row = array.size() == 0 || array.shape(1) <= 1;
  if (!one_row &&
      (array.stride(1) < cols || array.stride(1) > std::numeric_limits<std::int32_t>::max()))
    refuse(name, "rows must follow each other in memory");
  ld = std::int32_t(one_row ? cols : array.stride(1));
  return view;
}

/// The same if the rows must be contiguous, so that a slot is one block of memory.
template <class A>
EnvArray<typename A::Scalar> block_slots(const char* name, const A& array, std::size_t num_envs) {
  std::int32_t ld = 0;
  const auto view = matrix_slots(name, array, num_envs, ld);
  if (ld != std::int32_t(array.shape(2))) refuse(name, "a slot must be C-contiguous");
  return view;
}

/// One value per environment.
template <class T>
T* values(const char* name, const Array<T, 1>& array, std::size_t num_envs) {
  require_size(name, array, 0, num_envs);
  require_contiguous_slots(name, array);
  return address(array);
}

}  // namespace stickslip::bindings
