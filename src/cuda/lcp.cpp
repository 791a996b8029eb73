// Linear complementarity problems on a GPU: one launch solves the whole batch.
#include <algorithm>
#include <type_traits>

#include "kernels/gpu/gpu_kernels.hpp"
#include "src/api/check.hpp"
#include "src/cuda/launch.hpp"
#include "src/cuda/workspace.hpp"

namespace stickslip::cuda {

struct LcpWorkspace::Impl {
  LcpWorkspaceConfig config;
  int blocks = 0;
  std::size_t shared_per_block;
  Buffer next;     ///< int32, index of the next environment
  Buffer scratch;  ///< of the blocks, if it does not fit shared memory

  explicit Impl(const LcpWorkspaceConfig& c) : config(c), next(sizeof(std::int32_t)), scratch(0) {
    const DeviceLimits limits = device_limits();
    shared_per_block = limits.shared_per_block;
    LaunchShape most{.lanes = kernels::kLcpLanes};  // the largest of those in global memory
    const auto prepare = [&](const auto& kernels) {
      const std::size_t bytes = kernels.bytes(c.max_rows, c.boxed);
      if (bytes > shared_per_block) most.group_bytes = std::max(most.group_bytes, bytes);
      SS_CUDA(cudaFuncSetAttribute(address_of(kernels.shared),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(shared_per_block)));
    };
    prepare(kernels::lcp_kernels<double, double>());
    prepare(kernels::lcp_kernels<float, double>());
    prepare(kernels::lcp_kernels<float, float>());
    constexpr int kResident = 2;  // for large problems, more would only need more memory
    blocks = blocks_of(most, kResident, c.num_envs, limits);
    most.blocks = blocks;
    scratch = Buffer(most.global_bytes());
  }
};

LcpWorkspace::LcpWorkspace(const LcpWorkspaceConfig& c) {
  require(c.num_envs >= 0, "num_envs", "a number >= 0", c.num_envs);
  require(c.max_rows >= 0, "max_rows", "a number >= 0", c.max_rows);
  impl_ = std::make_unique<Impl>(c);
}
LcpWorkspace::~LcpWorkspace() = default;
LcpWorkspace::LcpWorkspace(LcpWorkspace&&) noexcept = default;
LcpWorkspace& LcpWorkspace::operator=(LcpWorkspace&&) noexcept = default;

namespace {

/// Data in float have float32 alone (check_lcp).
template <class Scalar>
kernels::LcpKernels<Scalar> kernels_of(Precision precision) {
  if constexpr (sizeof(Scalar) == 8) {
    if (precision == Precision::float64) return kernels::lcp_kernels<double, double>();
  }
  return kernels::lcp_kernels<float, Scalar>();
}

}  // namespace

template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options, LcpWorkspace& workspace, Stream stream) {
  check_lcp(problem, result, options);
  const LcpWorkspace::Impl& w = impl_of(workspace);
  require(w.config.num_envs >= problem.num_envs, "workspace.num_envs",
          "at least the batch's num_envs", w.config.num_envs);
  require(w.config.max_rows >= problem.max_rows, "workspace.max_rows", "at least problem.max_rows",
          w.config.max_rows);
  require(w.config.boxed || problem.lo.data == nullptr, "workspace.boxed",
          "true, because the problem has bounds", "false");
  if (problem.num_envs == 0) return;
  const kernels::LcpKernels<Scalar> k = kernels_of<Scalar>(options.precision);
  const bool boxed = problem.lo.data != nullptr;
  kernels::GroupScratch scratch{};
  scratch.max_rows = problem.max_rows;
  scratch.bytes = k.bytes(problem.max_rows, boxed);
  scratch.memory = static_cast<unsigned char*>(w.scratch.data());
  const bool shared = scratch.bytes <= w.shared_per_block;
  auto* const next = static_cast<std::int32_t*>(w.next.data());
  SS_CUDA(cudaMemsetAsync(next, 0, sizeof *next, stream));
  launch(shared ? k.shared : k.global, w.blocks, kernels::kLcpLanes, shared ? scratch.bytes : 0,
         stream, problem, result, options, scratch, next);
}

namespace {

/// Copies of a batch's arrays in device memory. An empty array also counts as present.
class OnDevice {
 public:
  template <class T>
  EnvArray<T> copy(const EnvArray<T>& host, std::int64_t num_envs, std::int64_t size) {
    using Value = std::remove_const_t<T>;
    if (host.data == nullptr) return {};
    const std::int64_t count = size > 0 ? (num_envs - 1) * host.stride + size : 0;
    auto* const data = room<Value>(count);
    copies_.back().buffer.upload(host.data, copies_.back().bytes, nullptr);
    return {data, host.stride};
  }
  template <class T>
  T* room(std::int64_t count) {
    const std::size_t bytes = std::size_t(count) * sizeof(T);
    copies_.push_back({Buffer(std::max(bytes, sizeof(T))), bytes});
    return static_cast<T*>(copies_.back().buffer.data());
  }
  void download(const void* device, void* host) const {
    for (const auto& [buffer, bytes] : copies_)
      if (buffer.data() == device) buffer.download(host, bytes, nullptr);
  }

 private:
  struct Copy {
    Buffer buffer;
    std::size_t bytes;
  };
  std::vector<Copy> copies_;
};

}  // namespace

template <class Scalar>
void solve_lcp_host(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
                    const LcpOptions& options) {
  check_lcp(problem, result, options);
  const std::int64_t envs = problem.num_envs, n = problem.max_rows;
  if (envs == 0) return;
  OnDevice memory;
  LcpBatch<Scalar> p = problem;
  const std::int64_t ld = p.ld_M > 0 ? p.ld_M : n;
  p.rows = memory.copy(p.rows, envs, 1);
  p.n_free = memory.copy(p.n_free, envs, 1);
  p.M = memory.copy(p.M, envs, n > 0 ? (n - 1) * ld + n : 0);
  for (auto* array : {&p.q, &p.lo, &p.hi, &p.start}) *array = memory.copy(*array, envs, n);
  p.findex = memory.copy(p.findex, envs, n);
  LcpResult<Scalar> r;
  r.z = memory.copy(result.z, envs, n);  // padding between slots is unchanged
  r.w = memory.copy(result.w, envs, n);
  r.residual = memory.room<double>(envs);
  r.status = memory.room<EnvStatus>(envs);
  r.iterations = memory.room<std::int32_t>(envs);
  r.method = memory.room<LcpMethod>(envs);
  LcpWorkspace workspace({.num_envs = problem.num_envs,
                          .max_rows = problem.max_rows,
                          .boxed = problem.lo.data != nullptr});
  solve_lcp(p, r, options, workspace, nullptr);
  memory.download(r.z.data, result.z.data);
  memory.download(r.w.data, result.w.data);
  memory.download(r.residual, result.residual);
  memory.download(r.status, result.status);
  memory.download(r.iterations, result.iterations);
  memory.download(r.method, result.method);
  wait(nullptr);
}

#define SS_INSTANTIATE(Scalar)                                                                  \
  template void solve_lcp(const LcpBatch<Scalar>&, const LcpResult<Scalar>&, const LcpOptions&, \
                          LcpWorkspace&, Stream);                                               \
  template void solve_lcp_host(const LcpBatch<Scalar>&, const LcpResult<Scalar>&,               \
                               const LcpOptions&);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
