// Batches of tests in device memory.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "src/cuda/workspace.hpp"
#include "stickslip/cuda.hpp"
#include "tests/launch/capture.hpp"
#include "tests/support/results.hpp"

namespace stickslip::support {

/// A fixture whose tests need a GPU.
template <class Parts = testing::Test>
class GpuTest : public Parts {
 protected:
  void SetUp() override {
    if (!cuda::available()) GTEST_SKIP() << "no GPU here";
  }
};

/// Environments of a workspace whose launches are those of a large batch: groups are narrow, and
/// many begin together. At least `envs`.
inline std::int32_t large_batch(int envs) {
  return std::max(64 * cuda::device_limits().processors, envs);
}

/// The bits of each environment's result.
template <class Scalar, class Problems>
std::vector<std::uint64_t> hashes(const Problems& problems, const PlainResults<Scalar>& results,
                                  int envs) {
  std::vector<std::uint64_t> out;
  for (int env = 0; env < envs; ++env) out.push_back(results.hash(env, problems.rows(env)));
  return out;
}

/// Those of the solve of a batch on the CPU.
template <class Scalar, class Problems>
std::vector<std::uint64_t> hashes_of_cpu(const Problems& batch, int envs,
                                         const SolveOptions& options) {
  PlainResults<Scalar> cpu(envs, batch.kMaxRows);
  solve(batch.view(), cpu.view(), options);
  return hashes(batch, cpu, envs);
}

/// Copies of views in device memory, for the lifetime of this object.
class DeviceMemory {
 public:
  explicit DeviceMemory(cuda::Stream stream) : stream_(stream) {}

  template <class T>
  T* room(std::size_t count) {
    buffers_.emplace_back(count * sizeof(T));
    return static_cast<T*>(buffers_.back().data());
  }
  template <class T>
  EnvArray<T> copy(const EnvArray<T>& host, std::int64_t num_envs) {
    if (host.data == nullptr) return {};
    const std::size_t count = std::size_t(num_envs * host.stride);
    auto* device = room<std::remove_const_t<T>>(count);
    buffers_.back().upload(host.data, count * sizeof(T), stream_);
    return {device, host.stride};
  }
  template <class Scalar>
  ProblemBatch<Scalar> copy(ProblemBatch<Scalar> p) {
    p.counts = copy(p.counts, p.num_envs);
    p.dims = copy(p.dims, p.num_envs);
    p.W = copy(p.W, p.num_envs);
    for (auto* array : {&p.b, &p.mu, &p.R, &p.lo, &p.hi, &p.warm_start}) {
      *array = copy(*array, p.num_envs);
    }
    return p;
  }
  template <class Scalar>
  MechanismStep<Scalar> copy(MechanismStep<Scalar> step) {
    MechanismBatch<Scalar>& m = step.mechanism;
    m.M = copy(m.M, m.num_envs);
    m.J = copy(m.J, m.num_envs);
    step.v_free = copy(step.v_free, m.num_envs);
    step.v_next = copy(step.v_next, m.num_envs);
    return step;
  }
  EngineStep copy(EngineStep step) {
    EngineMechanism& m = step.mechanism;
    m.M = copy(m.M, m.num_envs);
    m.J = copy(m.J, m.num_envs);
    for (auto* array : {&m.J_nnz, &m.J_adr, &m.J_col, &m.row_of}) *array = copy(*array, m.num_envs);
    m.tree.row_nnz = copy(EnvArray<const std::int32_t>{m.tree.row_nnz, m.nv}, 1).data;
    m.tree.row_adr = copy(EnvArray<const std::int32_t>{m.tree.row_adr, m.nv}, 1).data;
    m.tree.col = copy(EnvArray<const std::int32_t>{m.tree.col, m.M_size}, 1).data;
    step.v_free = copy(step.v_free, m.num_envs);
    step.v_next = copy(step.v_next, m.num_envs);
    return step;
  }
  /// The values of an array of this memory, after all previous work on the stream.
  template <class T>
  std::vector<T> download(const EnvArray<T>& array, std::int64_t num_envs) const {
    std::vector<T> host(std::size_t(num_envs * array.stride));
    for (const cuda::Buffer& buffer : buffers_) {
      if (buffer.data() == array.data) buffer.download(host.data(), buffer.bytes(), stream_);
    }
    cuda::wait(stream_);
    return host;
  }

 private:
  cuda::Stream stream_;
  std::vector<cuda::Buffer> buffers_;
};

/// Results in device memory.
template <class Scalar>
class DeviceResults {
 public:
  DeviceResults(int num_envs, int max_rows, cuda::Stream stream)
      : host_(num_envs, max_rows), stream_(stream) {
    const ResultBatch<Scalar> h = host_.view();
    const auto place = [&](auto* values, std::size_t count) {
      copies_.push_back({values, cuda::Buffer(count * sizeof *values)});
      return static_cast<decltype(values)>(copies_.back().device.data());
    };
    const auto envs = std::size_t(num_envs);
    view_ = {{place(h.impulse.data, envs * std::size_t(max_rows)), max_rows},
             place(h.residual, envs),
             place(h.status, envs),
             place(h.iterations, envs),
             place(h.solver, envs),
             place(h.rows_needed, envs),
             place(h.rung, envs),
             {place(h.certificate.data, envs * std::size_t(max_rows)), max_rows}};
  }
  const ResultBatch<Scalar>& view() const { return view_; }
  /// The results on the host, after all previous work on the stream.
  const PlainResults<Scalar>& host() {
    for (const Copy& c : copies_) c.device.download(c.host, c.device.bytes(), stream_);
    cuda::wait(stream_);
    return host_;
  }

 private:
  struct Copy {
    void* host;
    cuda::Buffer device;
  };
  PlainResults<Scalar> host_;
  cuda::Stream stream_;
  std::vector<Copy> copies_;
  ResultBatch<Scalar> view_;
};

}  // namespace stickslip::support
