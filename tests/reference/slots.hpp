// Reads one environment from a batch.
#pragma once
#include "tests/reference/reference.hpp"

namespace stickslip::reference {

/// The values of environment `env`; null if the array is absent.
template <class T>
const T* slot(const EnvArray<const T>& array, int env) {
  return array.data == nullptr ? nullptr : array.data + env * array.stride;
}

/// Its first `size` values; empty if the array is absent.
template <class Scalar>
Vector vector_of(const EnvArray<const Scalar>& array, int env, int size) {
  const Scalar* data = slot(array, env);
  if (data == nullptr) return {};
  return Eigen::Map<const Eigen::VectorX<Scalar>>(data, size).template cast<double>();
}

}  // namespace stickslip::reference
