// Zeros in arrays of derivatives, of which solve_vjp writes what the rows of an environment use.
#pragma once
#include <algorithm>
#include <cstddef>

#include "stickslip/cuda.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// Calls `clear(numbers, count)` for every array.
template <class In, class F>
void clear_each(const GradientBatch<In>& g, std::int32_t num_envs, F&& clear) {
  for (const EnvArray<In>& each : {g.b, g.mu, g.R, g.lo, g.hi}) {
    if (each.data != nullptr) clear(each.data, std::size_t(num_envs) * std::size_t(each.stride));
  }
}

template <class In>
void clear(const GradientBatch<In>& g, std::int32_t num_envs) {
  clear_each(g, num_envs, [](In* at, std::size_t count) { std::fill_n(at, count, In(0)); });
}

/// The same in device memory: enqueued.
template <class In>
void clear(const GradientBatch<In>& g, std::int32_t num_envs, cuda::Stream stream) {
  clear_each(g, num_envs,
             [stream](In* at, std::size_t count) { cuda::clear(at, sizeof(In) * count, stream); });
}

}  // namespace stickslip::bindings
