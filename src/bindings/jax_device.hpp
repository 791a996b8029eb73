// Solves on a GPU for XLA (jax.cpp), without its headers, so that tests enqueue the same work.
#pragma once
#include <map>
#include <mutex>
#include <tuple>

#include "kernels/law/dispatch.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

/// Device memory of the calls on one stream: a solve's workspace, and, for results in float, the
/// residuals in double.
struct DeviceMemory {
  cuda::Workspace workspace;
  cuda::Buffer residual;
};

/// The memory, kept by what determines its size. XLA orders the calls of a stream.
template <class In>
DeviceMemory& device_memory(int device, cuda::Stream stream, const ProblemBatch<In>& p,
                            const SolveOptions& options) {
  using Key =
      std::tuple<int, cuda::Stream, std::int32_t, std::int32_t, std::int32_t, int, bool, bool>;
  static std::mutex mutex;
  static auto& all = *new std::map<Key, DeviceMemory>;  // never destroyed: CUDA ends before
  constexpr bool kFloat = sizeof(In) == 4;
  const int directions = kernels::lcp_directions(options);
  const bool widened = kFloat && options.precision != Precision::fp32;
  const Key key{device,         stream,     p.num_envs, p.max_rows,
                p.max_contacts, directions, kFloat,     widened};
  const std::lock_guard lock(mutex);
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  const cuda::DeviceScope current(device);
  DeviceMemory made{
      cuda::Workspace(p.num_envs, p.max_rows, p.max_contacts, -1, directions, widened),
      cuda::Buffer(kFloat ? sizeof(double) * std::size_t(p.num_envs) : 0)};
  return all.emplace(key, std::move(made)).first->second;
}

/// Enqueues a solve. In float, `residual` gets the residuals, rounded, and r.residual is not used.
template <class In>
void solve_on_device(int device, cuda::Stream stream, const ProblemBatch<In>& p, ResultBatch<In> r,
                     In* residual, const SolveOptions& options) {
  DeviceMemory& memory = device_memory(device, stream, p, options);
  const cuda::DeviceScope current(device);
  constexpr bool kFloat = sizeof(In) == 4;
  if constexpr (kFloat) r.residual = static_cast<double*>(memory.residual.data());
  cuda::solve(p, r, options, memory.workspace, stream);
  if constexpr (kFloat) cuda::round_to_float(r.residual, residual, p.num_envs, stream);
}

}  // namespace stickslip::bindings
