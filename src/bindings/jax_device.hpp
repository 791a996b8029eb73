// Solves and derivatives on a GPU for XLA (jax.cpp), without its headers, so that
// tests enqueue the same work.
#pragma once
#include <map>
#include <mutex>
#include <tuple>

#include "kernels/law/dispatch.hpp"
#include "src/bindings/gradient_zeros.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// Device memory of the calls on one stream: a workspace, and, for results in float, two numbers in
/// double for each environment.
struct DeviceMemory {
  cuda::Workspace workspace;
  cuda::Buffer reals;
};

/// The memory, kept by what determines its size. XLA orders the calls of a stream.
template <class Scalar>
DeviceMemory& device_memory(int device, cuda::Stream stream, const ProblemBatch<Scalar>& p,
                            const SolveOptions& options, bool gradients = false) {
  using Key = std::tuple<int, cuda::Stream, std::int32_t, std::int32_t, std::int32_t, int, bool,
                         bool, bool>;
  static std::mutex mutex;
  static auto& all = *new std::map<Key, DeviceMemory>;  // never destroyed: CUDA ends before
  constexpr bool kFloat = sizeof(Scalar) == 4;
  const int directions = gradients ? 0 : kernels::lcp_directions(options);
  const bool widened = kFloat && !gradients && options.precision != Precision::float32;
  const Key key{device,     stream, p.num_envs, p.max_rows, p.max_contacts,
                directions, kFloat, widened,    gradients};
  const std::lock_guard lock(mutex);
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  const cuda::DeviceScope current(device);
  DeviceMemory made{cuda::Workspace({.num_envs = p.num_envs,
                                     .max_rows = p.max_rows,
                                     .max_contacts = p.max_contacts,
                                     .directions = directions,
                                     .float_storage = widened,
                                     .gradients = gradients}),
                    cuda::Buffer(kFloat ? 2 * sizeof(double) * std::size_t(p.num_envs) : 0)};
  return all.emplace(key, std::move(made)).first->second;
}

/// Enqueues a solve. In float, `residual` gets the residuals, rounded, and r.residual is not used.
template <class Scalar>
void solve_on_device(int device, cuda::Stream stream, const ProblemBatch<Scalar>& p,
                     ResultBatch<Scalar> r, Scalar* residual, const SolveOptions& options) {
  DeviceMemory& memory = device_memory(device, stream, p, options);
  const cuda::DeviceScope current(device);
  constexpr bool kFloat = sizeof(Scalar) == 4;
  if constexpr (kFloat) r.residual = static_cast<double*>(memory.reals.data());
  cuda::solve(p, r, options, memory.workspace, stream);
  if constexpr (kFloat) cuda::round_to_float(r.residual, residual, p.num_envs, stream);
}

/// Enqueues derivatives, all of them: 0 where no row is. In float, kink_distance and inconsistency
/// are rounded; the report's own are not used.
template <class Scalar>
void vjp_on_device(int device, cuda::Stream stream, const ProblemBatch<Scalar>& p,
                   const SolutionBatch<Scalar>& solution, const LossBatch<Scalar>& loss,
                   GradientBatch<Scalar> g, Scalar* kink_distance, Scalar* inconsistency,
                   const SolveOptions& options) {
  DeviceMemory& memory = device_memory(device, stream, p, options, true);
  const cuda::DeviceScope current(device);
  clear(g, p.num_envs, stream);
  if constexpr (sizeof(Scalar) == 4) {
    auto* const reals = static_cast<double*>(memory.reals.data());
    g.report.kink_distance = reals;
    g.report.inconsistency = reals + p.num_envs;
    cuda::solve_vjp(p, solution, loss, g, options, memory.workspace, stream);
    cuda::round_to_float(g.report.kink_distance, kink_distance, p.num_envs, stream);
    cuda::round_to_float(g.report.inconsistency, inconsistency, p.num_envs, stream);
  } else {
    g.report.kink_distance = kink_distance;
    g.report.inconsistency = inconsistency;
    cuda::solve_vjp(p, solution, loss, g, options, memory.workspace, stream);
  }
}

}  // namespace stickslip::bindings
