// Solves of batches that stay in device memory, compared with the memory bandwidth. Registered only
// if a GPU is available. Times are measured on the device (events around a CUDA graph, when its
// second call is replayed). Floors are the bytes that a solve must at least read and write, divided
// by the bandwidth of a copy.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include "bench/label.hpp"
#include "bench/problems.hpp"
#include "src/cuda/check.hpp"
#include "tests/launch/on_device.hpp"

namespace stickslip::bench {
namespace {

constexpr int kDistinct = 512;  ///< different problems; the batch repeats them

/// Large enough that W alone exceeds the L2 cache of an H200 (60 MB), and all groups have work.
int batch_size(int rows) { return std::clamp(int((256 << 20) / (8 * rows * rows)), 8192, 131072); }

class Event {
 public:
  Event() { SS_CUDA(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  void record(cuda::Stream stream) { SS_CUDA(cudaEventRecord(event_, stream)); }
  double seconds_since(const Event& start) const {
    float milliseconds = 0.0F;
    SS_CUDA(cudaEventSynchronize(event_));
    SS_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * double(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Time in seconds on the device for the work that f enqueues on the stream.
template <class F>
double device_seconds(cuda::Stream stream, F&& f) {
  Event start, end;
  start.record(stream);
  f();
  end.record(stream);
  return end.seconds_since(start);
}

/// Bytes per second of a copy within device memory, reads plus writes; the best of ten.
double copy_bandwidth() {
  static const double measured = [] {
    constexpr std::size_t bytes = std::size_t(1) << 30;
    const cuda::Buffer from(bytes), to(bytes);
    double best = 1e30;
    for (int i = 0; i < 10; ++i) {
      best = std::min(best, device_seconds(nullptr, [&] {
                        SS_CUDA(cudaMemcpyAsync(to.data(), from.data(), bytes,
                                                cudaMemcpyDeviceToDevice, nullptr));
                      }));
    }
    return 2.0 * double(bytes) / best;
  }();
  return measured;
}

/// Environments in device memory, with memory for results. `repeat` tiles the slots of the distinct
/// ones.
template <class Scalar>
struct DeviceBatch {
  int envs;
  cuda::Stream stream = support::stream(0);
  support::DeviceMemory memory{stream};
  ProblemBatch<Scalar> problem;
  support::DeviceResults<Scalar> results;

  DeviceBatch(const HostProblems<Scalar>& host, int envs_)
      : envs(envs_), problem(host.view()), results(envs_, host.max_rows(), stream) {
    problem.num_envs = envs;
    problem.counts = repeat(problem.counts);
    problem.dims = repeat(problem.dims);
    problem.W = repeat(problem.W);
    for (auto* a : {&problem.b, &problem.mu, &problem.R, &problem.lo, &problem.hi}) {
      *a = repeat(*a);
    }
    problem.warm_start = {};
  }
  template <class T>
  EnvArray<const T> repeat(const EnvArray<const T>& a) {
    std::vector<T> tiled;
    for (int env = 0; env < envs; ++env) {
      const T* slot = a.data + env % kDistinct * a.stride;
      tiled.insert(tiled.end(), slot, slot + a.stride);
    }
    const auto copy = memory.copy(EnvArray<const T>{tiled.data(), a.stride}, envs);
    cuda::wait(stream);
    return copy;
  }
};

/// Replays what `enqueue` launches, and reports its time together with its floors.
template <class Scalar, class Enqueue>
void measure(benchmark::State& state, DeviceBatch<Scalar>& batch, double bytes, double flops,
             Enqueue enqueue) {
  support::Capture graph(batch.stream);
  enqueue();
  graph.end();
  graph.replay();
  for (auto _ : state) {
    state.SetIterationTime(device_seconds(batch.stream, [&] { graph.replay(); }));
  }
  const auto& host = batch.results.host();
  const auto solved = std::count(host.status.begin(), host.status.end(), EnvStatus::solved);
  state.counters["solved"] = double(solved) / batch.envs;
  state.counters["bytes"] = bytes;
  state.counters["floor_us"] = 1e6 * bytes / copy_bandwidth();
  if (flops > 0.0) state.counters["flops"] = flops;
  state.SetItemsProcessed(state.iterations() * batch.envs);
}

/// Bytes of an environment's problem without W, and of its results.
double vector_bytes(int rows, std::size_t number) {
  return double(number) * (2.0 * rows + 2.0 * rows / 3.0) + sizeof(RowCounts) + 8.0 + 5.0 * 4.0;
}

template <class Scalar>
void solve_batch(benchmark::State& state, const Case& c, const SolveOptions& options) {
  const auto host = make_batch<Scalar>(c, kDistinct);
  DeviceBatch<Scalar> batch(host, batch_size(host.max_rows()));
  cuda::Workspace workspace(
      {.num_envs = batch.envs, .max_rows = host.max_rows(), .max_contacts = host.max_contacts()});
  const double n = host.max_rows();
  const double sweeps = options.fixed_sweeps ? 2.0 * options.max_sweeps * n * n : 0.0;
  measure(state, batch, n * n * sizeof(Scalar) + vector_bytes(int(n), sizeof(Scalar)), sweeps, [&] {
    cuda::solve(batch.problem, batch.results.view(), options, workspace, batch.stream);
  });
}

/// Towers of boxes with their mechanisms: 6 degrees of freedom per box.
struct Towers {
  int nv, rows;
  std::vector<reference::Problem> problems;
  std::vector<double> M, J, v_free;

  explicit Towers(int contacts) : nv(6 * contacts / 4), rows(3 * contacts) {
    M.resize(std::size_t(kDistinct) * nv * nv);
    J.resize(std::size_t(kDistinct) * rows * nv);
    v_free.resize(std::size_t(kDistinct) * nv);
    for (int e = 0; e < kDistinct; ++e) {
      const auto scene = support::make_scene(support::Family::stack, contacts, e);
      problems.push_back(scene.problem);
      for (int i = 0; i < nv; ++i) {
        M[std::size_t((e * nv + i) * nv + i)] = 1.0 / scene.inverse_mass[i];
        v_free[std::size_t(e * nv + i)] = scene.v_free[i];
      }
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < nv; ++j) J[std::size_t((e * rows + i) * nv + j)] = scene.J(i, j);
      }
    }
  }
};

/// W written to global memory (`fused` false), or formed, solved and applied in one launch.
void mechanism_batch(benchmark::State& state, int contacts, bool fused, Precision precision) {
  const Towers towers(contacts);
  const std::int64_t n = towers.rows, nv = towers.nv;
  const auto host = support::to_batch<double>(towers.problems);
  DeviceBatch<double> batch(host, batch_size(int(n)));
  MechanismStep<double> step;
  MechanismBatch<double>& m = step.mechanism;
  m.num_envs = batch.envs;
  m.nv = towers.nv;
  m.max_rows = towers.rows;
  m.M = batch.repeat(EnvArray<const double>{towers.M.data(), nv * nv});
  m.J = batch.repeat(EnvArray<const double>{towers.J.data(), n * nv});
  step.v_free = batch.repeat(EnvArray<const double>{towers.v_free.data(), nv});
  step.v_next = {batch.memory.room<double>(std::size_t(batch.envs * nv)), nv};
  auto* ok = batch.memory.room<std::int32_t>(std::size_t(batch.envs));
  const EnvArray<double> W{const_cast<double*>(batch.problem.W.data), batch.problem.W.stride};
  cuda::Workspace workspace({.num_envs = batch.envs,
                             .max_rows = towers.rows,
                             .max_contacts = host.max_contacts(),
                             .nv = towers.nv});
  SolveOptions options;
  options.precision = precision;
  const double matrices = 8.0 * double(nv * nv + n * nv);
  if (!fused) {
    measure(state, batch, matrices + 8.0 * double(n * n), double(n * n * nv),
            [&] { cuda::delassus(m, W, towers.rows, ok, workspace, batch.stream); });
    state.counters.erase("solved");
    return;
  }
  batch.problem.W = {};
  measure(state, batch, matrices + vector_bytes(towers.rows, 8) + 16.0 * double(nv), 0.0, [&] {
    cuda::solve_mechanism(step, batch.problem, batch.results.view(), options, workspace,
                          batch.stream);
  });
}

template <class F>
void add(const std::string& label, F run) {
  benchmark::RegisterBenchmark(("gpu/" + label).c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_solves(const Case& c) {
  const SolveOptions pgs{.solver = Solver::pgs,
                         .precision = Precision::float32,
                         .max_sweeps = 50,
                         .fixed_sweeps = true};
  add("coulomb/pgs50/float/" + name(c),
      [=](benchmark::State& state) { solve_batch<float>(state, c, pgs); });
  for (const Precision precision : {Precision::float64, Precision::mixed}) {
    const SolveOptions ladder{.precision = precision};
    add(std::string("coulomb/auto/") + bench::label(precision) + "/" + name(c),
        [=](benchmark::State& state) { solve_batch<double>(state, c, ladder); });
  }
  const SolveOptions lemke{.law = Law::pyramid};
  add("pyramid/lemke/double/" + name(c),
      [=](benchmark::State& state) { solve_batch<double>(state, c, lemke); });
}

const bool registered = [] {
  if (!cuda::available()) return false;
  add("copy", [](benchmark::State& state) {
    for (auto _ : state) state.SetIterationTime(double(2 << 20) / copy_bandwidth());
    state.SetItemsProcessed(state.iterations());  // 1 MiB each
  });
  for (const support::Family family : {support::Family::box, support::Family::stack}) {
    for (const int p : {1, 2, 4, 8, 16, 32}) {
      if (support::exists(family, p)) add_solves({family, p});
    }
  }
  for (const int p : {4, 8, 16, 32}) {
    add("delassus/tower/p:" + std::to_string(p),
        [=](benchmark::State& state) { mechanism_batch(state, p, false, Precision::float64); });
    for (const Precision precision : {Precision::float64, Precision::mixed}) {
      const std::string label = std::string("fused/") + bench::label(precision) + "/tower/p:";
      add(label + std::to_string(p),
          [=](benchmark::State& state) { mechanism_batch(state, p, true, precision); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
