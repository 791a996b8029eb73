// Solves of batches that stay in device memory. An iteration ends when the statuses are back on the
// host. Registered only where a GPU answers.
#include <benchmark/benchmark.h>

#include "bench/problems.hpp"

namespace stickslip::bench {
namespace {

/// A batch of problems and its results in device memory.
template <class In>
class DeviceBatch {
 public:
  explicit DeviceBatch(const HostProblems<In>& host)
      : problem_(host.view()),
        workspace_(host.num_envs(), host.max_rows(), host.max_contacts()),
        status_(sizeof(EnvStatus) * std::size_t(host.num_envs())) {
    upload(problem_.shape);
    upload(problem_.dims);
    upload(problem_.W);
    for (auto* array : {&problem_.b, &problem_.mu, &problem_.R, &problem_.lo, &problem_.hi,
                        &problem_.warm_start}) {
      upload(*array);
    }
    const auto envs = std::size_t(host.num_envs());
    result_.impulse = {room<In>(envs * std::size_t(host.max_rows())), host.max_rows()};
    result_.residual = room<double>(envs);
    result_.iterations = room<std::int32_t>(envs);
    result_.solver = room<Solver>(envs);
    result_.status = static_cast<EnvStatus*>(status_.data());
    statuses_.resize(envs);
  }

  void solve(const SolveOptions& options) {
    cuda::solve(problem_, result_, options, workspace_, nullptr);
    status_.download(statuses_.data(), status_.bytes(), nullptr);  // pageable memory: waits
  }

  double solved_share() const {
    const auto solved = std::count(statuses_.begin(), statuses_.end(), EnvStatus::solved);
    return double(solved) / double(statuses_.size());
  }

 private:
  template <class T>
  T* room(std::size_t count) {
    buffers_.emplace_back(count * sizeof(T));
    return static_cast<T*>(buffers_.back().data());
  }
  template <class T>
  void upload(EnvArray<const T>& array) {
    const std::size_t count = std::size_t(problem_.num_envs) * std::size_t(array.stride);
    T* place = room<T>(count);
    buffers_.back().upload(array.data, count * sizeof(T), nullptr);
    array.data = place;
  }

  ProblemBatch<In> problem_;
  ResultBatch<In> result_;
  cuda::Workspace workspace_;
  cuda::Buffer status_;
  std::vector<cuda::Buffer> buffers_;
  std::vector<EnvStatus> statuses_;
};

template <class In>
void solve_on_device(benchmark::State& state, const Case& c, int count, Precision precision,
                     Law law) {
  DeviceBatch<In> batch(make_batch<In>(c, count));
  SolveOptions options;
  options.precision = precision;
  options.law = law;
  for (auto _ : state) batch.solve(options);
  state.counters["solved"] = batch.solved_share();
  state.SetItemsProcessed(state.iterations() * count);
}

void add(const Case& c, int count, Precision precision, Law law) {
  const std::string label = std::string("gpu/") + name(law) + "/auto/" + name(precision) + "/" +
                            name(c) + "/envs:" + std::to_string(count);
  benchmark::RegisterBenchmark(label.c_str(),
                               [=](benchmark::State& state) {
                                 precision == Precision::fp32
                                     ? solve_on_device<float>(state, c, count, precision, law)
                                     : solve_on_device<double>(state, c, count, precision, law);
                               })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  if (!cuda::available()) return false;
  for (const Precision precision : {Precision::fp64, Precision::mixed, Precision::fp32}) {
    for (const Case& c : all_cases({1, 4, 8, 16})) add(c, 4096, precision, Law::coulomb);
  }
  for (const Case& c : all_cases({8})) add(c, 4096, Precision::fp64, Law::convex);
  for (int count = 1; count <= 16384; count *= 4) {
    add({support::Family::stack, 8}, count, Precision::fp64, Law::coulomb);
  }
  return true;
}();

}  // namespace
}  // namespace stickslip::bench
