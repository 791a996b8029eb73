// stickslip_gpu_speed: what the driver says of the kernels, and first calls.
#include <cstdio>

#include "bench/gpu_speed.hpp"

namespace stickslip::bench {
namespace {

void describe(const char* variant, const char* numbers, const cuda::LaunchPlan& plan) {
  cudaFuncAttributes a{};
  SS_CUDA(cudaFuncGetAttributes(&a, plan.kernel));
  int resident = 0;
  SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan.kernel, plan.threads(),
                                                        plan.shared_bytes));
  std::printf(
      "{\"program\": \"%s\", \"numbers\": \"%s\", \"rows\": %d, \"lanes\": %d, \"registers\": %d, "
      "\"local_bytes\": %zu, \"static_shared\": %zu, \"dynamic_shared\": %zu, \"blocks_per_sm\": "
      "%d, \"warps_per_sm\": %d, \"blocks\": %d, \"global_mb\": %.1f, \"ptx\": %d, \"binary\": "
      "%d}\n",
      variant, numbers, plan.max_rows, plan.lanes, a.numRegs, a.localSizeBytes, a.sharedSizeBytes,
      plan.shared_bytes, resident, resident * plan.threads() / 32, plan.blocks,
      double(plan.global_bytes()) / 1e6, a.ptxVersion, a.binaryVersion);
}

}  // namespace

int info(int rows) {
  double start = now();
  SS_CUDA(cudaFree(nullptr));
  const double context = now() - start;
  start = now();
  cuda::Workspace workspace(16384, rows, rows / 3, 18, 8, true, true);
  const double first = now() - start;
  start = now();
  const cuda::Workspace again(16384, rows, rows / 3, 18, 8, true, true);
  std::printf(
      "{\"device\": \"%s\", \"context_s\": %.3f, \"first_workspace_s\": %.3f, "
      "\"next_workspace_s\": %.4f}\n",
      cuda::device_name().c_str(), context, first, now() - start);
  const cuda::Workspace::Impl& w = impl_of(workspace);
  const char* const variants[] = {"all", "sweeping", "rung0", "later", "pivoting", "general"};
  const char* const numbers[] = {"double", "fp32", "mixed", "float"};
  static_assert(std::size(variants) == kernels::kKernelVariants &&
                std::size(numbers) == cuda::kTypes);
  for (int variant = 1; variant < kernels::kKernelVariants; ++variant) {
    for (int type = 0; type < cuda::kTypes; ++type) {
      for (const cuda::LaunchPlan& plan : w.given.launches[variant][type]) {
        describe(variants[variant], numbers[type], plan);
      }
    }
  }
  for (const auto& plan : w.convex) describe("convex without W", "double", plan);
  for (const auto& plan : w.gradients_double.vjp) describe("vjp", "double", plan);
  for (const auto& plan : w.gradients_double.jvp) describe("jvp", "double", plan);
  return 0;
}

int capture() {
  const auto host = make_batch<double>({support::Family::stack, 4}, 64);
  Tiled<double> batch(host, 64);
  cuda::Workspace workspace(64, host.max_rows(), host.max_contacts());
  support::Capture graph(batch.stream);
  cuda::solve(batch.problem, batch.results.view(), {}, workspace, batch.stream);
  graph.end();
  graph.replay();
  support::PlainResults<double> cpu(64, host.max_rows());
  Workspace of_cpu(host.max_rows(), host.max_contacts(), 1);
  solve(host.view(), cpu.view(), {}, of_cpu);
  const int differ = different(batch.results.host(), cpu, 64, 64, host.max_rows());
  std::printf("{\"first_call_in_a_capture\": \"%s\"}\n", differ == 0 ? "bits equal" : "DIFFER");
  return differ == 0 ? 0 : 1;
}

}  // namespace stickslip::bench
