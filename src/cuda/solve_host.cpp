// Solves of host memory: pack, copy, solve, copy back.
#include <utility>

#include "kernels/law/dispatch.hpp"
#include "src/api/check.hpp"
#include "src/cpu/thread_pool.hpp"
#include "src/cuda/check.hpp"
#include "src/cuda/packed.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

namespace {

/// Calls f(env) for all environments: on all cores, unless there are too few to wake threads.
template <class F>
void for_each_env(std::int64_t num_envs, bool one_after_the_other, F&& f) {
  constexpr std::int64_t kFewEnvs = 256, kChunk = 64;
  CancellationToken nobody;
  const bool alone = one_after_the_other || num_envs <= kFewEnvs;
  for_chunks_on_threads(alone ? 1 : usable_cores(), num_envs, kChunk, nobody,
                        [&](std::int64_t begin, std::int64_t end, int) {
                          for (std::int64_t env = begin; env < end; ++env) f(env);
                        });
}

/// Adds 50 %, so that memory grows only a few times while the contacts of a batch increase.
std::size_t with_room_to_grow(std::size_t bytes) { return bytes + bytes / 2; }

/// Pinned host memory, which the device reads and writes concurrently with the CPU.
class Pinned {
 public:
  Pinned() = default;
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  void* data() const { return data_; }
  void reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    bytes_ = 0;
    SS_CUDA(cudaFreeHost(std::exchange(data_, nullptr)));
    SS_CUDA(cudaMallocHost(&data_, with_room_to_grow(bytes)));
    bytes_ = with_room_to_grow(bytes);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Event {
 public:
  Event() { SS_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDefault)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream stream) { SS_CUDA(cudaEventRecord(event_, stream)); }
  double seconds_since(const Event& start) const {
    float milliseconds = 0.0F;
    SS_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * double(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

void grow(Buffer& buffer, std::size_t bytes) {
  if (bytes > buffer.bytes()) buffer = Buffer(with_room_to_grow(bytes));
}

}  // namespace

template <class Scalar>
struct HostSolver<Scalar>::Impl {
  Stream stream = nullptr;
  Pinned host_in, host_out;
  Buffer device_in{0}, device_out{0};
  std::unique_ptr<Workspace> workspace;
  Event begin, end;
  std::int32_t num_envs = 0, max_rows = 0;  // of the batch in progress
  int rows = 0;                             // of its slots
  Certificates certificates = Certificates::skip;
  double busy = 0.0;

  Impl() { SS_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Impl() {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void reserve(const ProblemBatch<Scalar>& p, std::size_t in, std::size_t out,
               const SolveOptions& o) {
    host_in.reserve(in);
    host_out.reserve(out);
    grow(device_in, in);
    grow(device_out, out);
    WorkspaceConfig config{
        .num_envs = p.num_envs,
        .max_rows = rows,
        .max_contacts = p.max_contacts,
        .directions = kernels::lcp_directions(o),
        .float_storage = sizeof(Scalar) == 4 && o.precision != Precision::float32};
    if (workspace != nullptr && workspace->holds(config)) return;
    config.max_rows = p.max_rows;
    workspace = std::make_unique<Workspace>(config);
  }
};

template <class Scalar>
HostSolver<Scalar>::HostSolver() : impl_(std::make_unique<Impl>()) {}
template <class Scalar>
HostSolver<Scalar>::~HostSolver() = default;
template <class Scalar>
HostSolver<Scalar>::HostSolver(HostSolver&&) noexcept = default;
template <class Scalar>
HostSolver<Scalar>& HostSolver<Scalar>::operator=(HostSolver&&) noexcept = default;
template <class Scalar>
double HostSolver<Scalar>::busy_seconds() const {
  return impl_->busy;
}

template <class Scalar>
void HostSolver<Scalar>::start(const ProblemBatch<Scalar>& p, const SolveOptions& options,
                               Certificates certificates) {
  check_problem(p);
  check_bounds(p);
  Impl& i = *impl_;
  i.num_envs = 0;
  i.max_rows = p.max_rows;
  i.rows = largest_rows(p);
  i.certificates = certificates;
  if (p.num_envs == 0) return;
  using kernels::Arena;
  i.reserve(p, PackedProblem<Scalar>(Arena(nullptr), p, i.rows).bytes(),
            PackedResults<Scalar>(Arena(nullptr), p.num_envs, i.rows, certificates).bytes, options);
  const PackedProblem<Scalar> host(Arena(i.host_in.data()), p, i.rows);
  const PackedProblem<Scalar> device(Arena(i.device_in.data()), p, i.rows);
  const PackedResults<Scalar> out(Arena(i.device_out.data()), p.num_envs, i.rows, certificates);
  for_each_env(p.num_envs, host.shares(), [&](std::int64_t env) { host.pack(p, env); });
  i.begin.record(i.stream);
  i.device_in.upload(i.host_in.data(), host.bytes(), i.stream);
  solve(device.view(p), out.view, options, *i.workspace, i.stream);
  i.device_out.download(i.host_out.data(), out.bytes, i.stream);
  i.end.record(i.stream);
  i.num_envs = p.num_envs;
}

template <class Scalar>
void HostSolver<Scalar>::finish(const ResultBatch<Scalar>& result,
                                const std::function<bool(std::int32_t)>& wanted) {
  Impl& i = *impl_;
  if (i.num_envs == 0) return;
  wait(i.stream);
  i.busy += i.end.seconds_since(i.begin);
  const PackedResults<Scalar> host(kernels::Arena(i.host_out.data()), i.num_envs, i.rows,
                                   i.certificates);
  for_each_env(i.num_envs, false, [&](std::int64_t env) {
    if (!wanted || wanted(std::int32_t(env))) host.unpack(result, env, i.max_rows);
  });
  i.num_envs = 0;
}

template <class Scalar>
void solve_host(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                const SolveOptions& options) {
  check_solve(problem, result, options);
  HostSolver<Scalar> solver;
  const bool certificates = result.certificate.data != nullptr;
  solver.start(problem, options, certificates ? Certificates::copy : Certificates::skip);
  solver.finish(result);
}

template class HostSolver<double>;
template class HostSolver<float>;
template void solve_host(const ProblemBatch<double>&, const ResultBatch<double>&,
                         const SolveOptions&);
template void solve_host(const ProblemBatch<float>&, const ResultBatch<float>&,
                         const SolveOptions&);

}  // namespace stickslip::cuda
