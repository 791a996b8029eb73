// Reads one environment from a batch.
#pragma once
#include "src/reference/reference.hpp"

namespace stickslip::reference {

/// The values of environment `env`; null if the array is absent.
template <class T>
const T* slot(const EnvArray<const T>& array, int env) {
  return array.data == nullptr ? nullptr : array.data + env * array.stride;
}

/// Its first `size` values; empty if the array is absent.
template <class In>
Vector vector_of(const EnvArray<const In>& array, int env, int size) {
  const In* data = slot(array, env);
  if (data == nullptr) return {};
  return Eigen::Map<const Eigen::VectorX<In>>(data, size).template cast<double>();
}

}  // namespace stickslip::reference
