// stickslip_gpu_speed: what the driver says of the kernels, and first calls.
#include <cstdio>

#include "bench/gpu_speed.hpp"
#include "src/cuda/launch.hpp"

namespace stickslip::bench {
namespace {

template <class Kernel>
void describe(const char* variant, const char* numbers, const cuda::LaunchPlan<Kernel>& plan) {
  const void* const kernel = cuda::address_of(plan.kernel);
  cudaFuncAttributes a{};
  SS_CUDA(cudaFuncGetAttributes(&a, kernel));
  int resident = 0;
  SS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, plan.threads(),
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

template <class Kernel>
void describe(const char* variant, const char* numbers, const cuda::ClassPlans<Kernel>& plans) {
  for (const cuda::LaunchPlan<Kernel>& plan : plans) describe(variant, numbers, plan);
}

}  // namespace

int info(int rows) {
  double start = now();
  SS_CUDA(cudaFree(nullptr));
  const double context = now() - start;
  start = now();
  const cuda::WorkspaceConfig config{.num_envs = 16384,
                                     .max_rows = rows,
                                     .max_contacts = rows / 3,
                                     .nv = 18,
                                     .directions = 8,
                                     .float_storage = true,
                                     .gradients = true};
  cuda::Workspace workspace(config);
  const double first = now() - start;
  start = now();
  const cuda::Workspace again(config);
  std::printf(
      "{\"device\": \"%s\", \"context_s\": %.3f, \"first_workspace_s\": %.3f, "
      "\"next_workspace_s\": %.4f}\n",
      cuda::device_name().c_str(), context, first, now() - start);
  const cuda::Workspace::Impl& w = impl_of(workspace);
  const char* const variants[] = {"all", "sweeping", "rung0", "later", "pivoting", "general"};
  const char* const numbers[] = {"double", "fp32", "mixed"};
  static_assert(std::size(variants) == kernels::kKernelVariants &&
                std::size(numbers) == cuda::kPrecisions);
  const auto& [in_double, in_float] = w.given;
  for (int variant = 1; variant < kernels::kKernelVariants; ++variant) {
    for (int precision = 0; precision < cuda::kPrecisions; ++precision) {
      describe(variants[variant], numbers[precision], in_double.launches[variant][precision]);
    }
    describe(variants[variant], "float",
             in_float.of(kernels::KernelVariant(variant), Precision::float32));
  }
  const auto& gradients = std::get<cuda::GradientPlans<double>>(w.gradients);
  describe("convex without W", "double", w.convex);
  describe("vjp", "double", gradients.vjp);
  describe("jvp", "double", gradients.jvp);
  return 0;
}

int capture() {
  const auto host = make_batch<double>({support::Family::stack, 4}, 64);
  Tiled<double> batch(host, 64);
  cuda::Workspace workspace(
      {.num_envs = 64, .max_rows = host.max_rows(), .max_contacts = host.max_contacts()});
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
