// Zeros in arrays of derivatives, of which solve_vjp writes what the rows of an environment use.
#pragma once
#include <algorithm>
#include <cstddef>

#include "stickslip/cuda.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// Calls `clear(numbers, count)` for every array.
template <class Scalar, class F>
void clear_each(const GradientBatch<Scalar>& g, std::int32_t num_envs, F&& clear) {
  for (const EnvArray<Scalar>& each : {g.b, g.mu, g.R, g.lo, g.hi}) {
    if (each.data != nullptr) clear(each.data, std::size_t(num_envs) * std::size_t(each.stride));
  }
}

template <class Scalar>
void clear(const GradientBatch<Scalar>& g, std::int32_t num_envs) {
  clear_each(g, num_envs, [](Scalar* at, std::size_t count) { std::fill_n(at, count, Scalar(0)); });
}

/// The same in device memory: enqueued.
template <class Scalar>
void clear(const GradientBatch<Scalar>& g, std::int32_t num_envs, cuda::Stream stream) {
  clear_each(g, num_envs, [stream](Scalar* at, std::size_t count) {
    cuda::clear(at, sizeof(Scalar) * count, stream);
  });
}

}  // namespace stickslip::bindings
