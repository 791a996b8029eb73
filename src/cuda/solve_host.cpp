// Solves of host memory: pack the slots, copy, solve, copy back.
#include <algorithm>
#include <vector>

#include "kernels/law/env_problem.hpp"
#include "src/batch/check.hpp"
#include "src/cuda/check.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

namespace {

using kernels::slot;

/// Rows in use of an environment; 0 where its shape does not fit the batch (nothing is read then).
template <class In>
int usable_rows(const ProblemBatch<In>& p, std::int64_t env) {
  const EnvShape& s = *slot(p.shape, env);
  if (std::min({s.n_free, s.n_nonneg, s.n_box, s.n_contacts}) < 0) return 0;
  if (s.n_contacts > p.max_contacts) return 0;
  const int rows = kernels::rows_of(s, slot(p.dims, env), p.max_contacts);
  return rows >= 0 && rows <= p.max_rows ? rows : 0;
}

/// A quantity in device memory, one compact slot of `size` values per environment. Copies
/// `count(env)` values of each slot: what lies beyond them is not the solver's to read.
template <class T>
class DeviceSlots {
 public:
  template <class Count>
  DeviceSlots(const EnvArray<const T>& source, std::int32_t num_envs, std::int64_t size,
              Count&& count)
      : size_(size), present_(source.data != nullptr), memory_(0) {
    if (!present_) return;
    const std::int64_t slots = source.stride == 0 ? std::min(num_envs, 1) : num_envs;
    packed_.resize(std::size_t(slots * size));
    for (std::int64_t env = 0; env < num_envs; ++env) {
      T* to = packed_.data() + (source.stride == 0 ? 0 : env * size);
      std::copy_n(slot(source, env), std::min<std::int64_t>(count(env), size), to);
    }
    if (source.stride == 0) size_ = 0;
    memory_ = Buffer(packed_.size() * sizeof(T));
  }
  /// Enqueues the copy and returns the view of the device memory.
  EnvArray<const T> upload(Stream stream) {
    if (!present_) return {};
    memory_.upload(packed_.data(), packed_.size() * sizeof(T), stream);
    return {static_cast<const T*>(memory_.data()), size_};
  }

 private:
  std::int64_t size_;
  bool present_;
  std::vector<T> packed_;
  Buffer memory_;
};

/// W in compact rows: [rows][max_rows].
template <class In>
std::vector<In> pack_matrices(const ProblemBatch<In>& p) {
  const std::int64_t n = p.max_rows, ld = p.ld_W > 0 ? p.ld_W : n;
  const std::int64_t slots = p.W.stride == 0 ? std::min(p.num_envs, 1) : p.num_envs;
  std::vector<In> packed(std::size_t(slots * n * n));
  for (std::int64_t env = 0; env < p.num_envs && n > 0; ++env) {
    const int rows = usable_rows(p, env);
    In* to = packed.data() + (p.W.stride == 0 ? 0 : env * n * n);
    for (int i = 0; i < rows; ++i) std::copy_n(slot(p.W, env) + i * ld, rows, to + i * n);
  }
  return packed;
}

/// Results in device memory.
template <class In>
struct DeviceResults {
  std::size_t envs, rows;
  Buffer impulse, residual, status, iterations, solver, rows_needed, rung;

  DeviceResults(std::size_t num_envs, std::size_t max_rows)
      : envs(num_envs),
        rows(max_rows),
        impulse(envs * rows * sizeof(In)),
        residual(envs * sizeof(double)),
        status(envs * sizeof(EnvStatus)),
        iterations(envs * sizeof(std::int32_t)),
        solver(envs * sizeof(Solver)),
        rows_needed(envs * sizeof(std::int32_t)),
        rung(envs * sizeof(std::int32_t)) {}

  ResultBatch<In> view() const {
    return {{static_cast<In*>(impulse.data()), std::int64_t(rows)},
            static_cast<double*>(residual.data()),
            static_cast<EnvStatus*>(status.data()),
            static_cast<std::int32_t*>(iterations.data()),
            static_cast<Solver*>(solver.data()),
            static_cast<std::int32_t*>(rows_needed.data()),
            static_cast<std::int32_t*>(rung.data())};
  }
  /// Copies back and waits for everything enqueued before.
  void download(const ResultBatch<In>& r, Stream stream) const {
    std::vector<In> packed(envs * rows);
    impulse.download(packed.data(), impulse.bytes(), stream);
    residual.download(r.residual, residual.bytes(), stream);
    status.download(r.status, status.bytes(), stream);
    iterations.download(r.iterations, iterations.bytes(), stream);
    solver.download(r.solver, solver.bytes(), stream);
    if (r.rows_needed != nullptr) rows_needed.download(r.rows_needed, rows_needed.bytes(), stream);
    if (r.rung != nullptr) rung.download(r.rung, rung.bytes(), stream);
    SS_CUDA(cudaStreamSynchronize(stream));
    for (std::size_t env = 0; env < envs && rows > 0; ++env) {
      std::copy_n(packed.data() + env * rows, rows, slot(r.impulse, std::int64_t(env)));
    }
  }
};

}  // namespace

template <class In>
void solve_host(const ProblemBatch<In>& p, const ResultBatch<In>& result,
                const SolveOptions& options) {
  check_solve(p, result, options);
  check_bounds(p);
  if (p.num_envs == 0) return;
  Workspace workspace(p.num_envs, p.max_rows, p.max_contacts);
  const std::int64_t n = p.max_rows;
  const auto shape_of = [&](std::int64_t env) -> const EnvShape& { return *slot(p.shape, env); };
  const auto rows = [&](std::int64_t env) { return usable_rows(p, env); };
  const auto contacts = [&](std::int64_t env) { return std::max(0, shape_of(env).n_contacts); };
  const auto boxes = [&](std::int64_t env) { return rows(env) > 0 ? shape_of(env).n_box : 0; };
  const auto tangents = [&](std::int64_t env) {
    const EnvShape& s = shape_of(env);
    return rows(env) > 0 ? rows(env) - s.n_free - s.n_nonneg - s.n_box - s.n_contacts : 0;
  };
  DeviceSlots shape(p.shape, p.num_envs, 1, [](std::int64_t) { return 1; });
  DeviceSlots dims(p.dims, p.num_envs, p.max_contacts, contacts);
  const std::vector<In> matrices = pack_matrices(p);
  Buffer W(matrices.size() * sizeof(In));
  DeviceSlots b(p.b, p.num_envs, n, rows), mu(p.mu, p.num_envs, n, tangents);
  DeviceSlots R(p.R, p.num_envs, n, rows), warm_start(p.warm_start, p.num_envs, n, rows);
  DeviceSlots lo(p.lo, p.num_envs, n, boxes), hi(p.hi, p.num_envs, n, boxes);
  const DeviceResults<In> results(std::size_t(p.num_envs), std::size_t(n));

  const Stream stream = nullptr;
  ProblemBatch<In> device = p;
  device.shape = shape.upload(stream);
  device.dims = dims.upload(stream);
  W.upload(matrices.data(), W.bytes(), stream);
  device.W = {static_cast<const In*>(W.data()), p.W.stride == 0 ? 0 : n * n};
  device.ld_W = p.max_rows;
  device.b = b.upload(stream);
  device.mu = mu.upload(stream);
  device.R = R.upload(stream);
  device.warm_start = warm_start.upload(stream);
  device.lo = lo.upload(stream);
  device.hi = hi.upload(stream);
  solve(device, results.view(), options, workspace, stream);
  results.download(result, stream);
}

template void solve_host(const ProblemBatch<double>&, const ResultBatch<double>&,
                         const SolveOptions&);
template void solve_host(const ProblemBatch<float>&, const ResultBatch<float>&,
                         const SolveOptions&);

}  // namespace stickslip::cuda
