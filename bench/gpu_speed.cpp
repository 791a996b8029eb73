// Solves on a GPU, timed by events and compared with the CPU; one JSON object per line.
//   stickslip_gpu_speed info ROWS                     device, kernels as loaded, first calls
//   stickslip_gpu_speed capture                       the first call of a process, in a graph
//   stickslip_gpu_speed time SECONDS [FILTER]         all cases, the most important first
//   stickslip_gpu_speed lanes SECONDS                 rung 0 with groups of 8, 32, 64, 128 lanes
//   stickslip_gpu_speed solve CASE ROWS ENVS [TIMES]  one solve, of which a profiler sees the last
// CASE: <law>_<solver>_<numbers>, as in gpu_counts.cpp; `float`: data in float. Problems: the
// family `stack`, 512 different ones, which a batch repeats. GPU_CHECK_DRY=1: tiny sizes. Ends with
// 3 if no GPU answers.
#include "bench/gpu_speed.hpp"

#include <cuda_profiler_api.h>

#include <cstdio>
#include <cstring>

#include "bench/gpu_group.hpp"

namespace stickslip::bench {
namespace {

struct SpeedCase {
  const char* name;
  SolveOptions options;
  bool of_float = false;
};

const SolveOptions kSweeps{.solver = Solver::pgs, .max_sweeps = 50, .fixed_sweeps = true};
const SolveOptions kFloatSweeps{
    .solver = Solver::pgs, .precision = Precision::float32, .max_sweeps = 50, .fixed_sweeps = true};
const SpeedCase kCases[] = {
    {"coulomb_auto_double", {}},
    {"pyramid_lemke_double", {.law = Law::pyramid, .solver = Solver::lemke}},
    {"convex_newton_double", {.law = Law::convex, .solver = Solver::newton}},
    {"coulomb_pgs50_double", kSweeps},
    {"coulomb_auto_mixed", {.precision = Precision::mixed}},
    {"coulomb_auto_float", {.precision = Precision::float32}, true},
    {"coulomb_pgs50_float", kFloatSweeps, true},
    {"coulomb_auto_fp32", {.precision = Precision::float32}},
    {"pyramid_lemke_float",
     {.law = Law::pyramid, .solver = Solver::lemke, .precision = Precision::float32},
     true},
    {"convex_newton_mixed",
     {.law = Law::convex, .solver = Solver::newton, .precision = Precision::mixed}},
    {"coulomb_pgs_double", {.solver = Solver::pgs}},
};

/// Microseconds of several replays of a graph, at least 0.1 s of them unless these are many.
std::vector<double> times_of(const support::Capture& graph, Timer& timer) {
  std::vector<double> taken;
  double spent = 0.0;
  while (taken.size() < 5 || (spent < 1e5 && taken.size() < 50)) {
    taken.push_back(timer([&] { graph.replay(); }));
    spent += taken.back();
    if (taken.size() >= 3 && spent > 1e6) break;
  }
  return taken;
}

/// One batch: a first solve, in which lists are guesses, a second, and replays of a graph.
template <class Scalar>
void time_batch(const SpeedCase& c, int rows, int envs, const HostProblems<Scalar>& host,
                const support::PlainResults<Scalar>& cpu, double cpu_us) {
  Tiled<Scalar> batch(host, envs);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = host.max_rows(), .max_contacts = host.max_contacts()});
  Timer timer(batch.stream);
  const auto enqueue = [&] {
    cuda::solve(batch.problem, batch.results.view(), c.options, workspace, batch.stream);
  };
  const double first = timer(enqueue);  // with loading of code
  const double second = timer(enqueue);
  support::Capture graph(batch.stream);
  enqueue();
  graph.end();
  graph.replay();
  const std::vector<double> taken = times_of(graph, timer);
  const auto& gpu = batch.results.host();
  const auto solved = std::count(gpu.status.begin(), gpu.status.end(), EnvStatus::solved);
  const auto [least, most] = std::minmax_element(gpu.iterations.begin(), gpu.iterations.end());
  const auto [fastest, slowest] = std::minmax_element(taken.begin(), taken.end());
  std::printf(
      "{\"case\": \"%s\", \"rows\": %d, \"envs\": %d, \"first_us\": %.1f, \"second_us\": %.1f, "
      "\"us\": %.2f, \"us_least\": %.2f, \"us_most\": %.2f, \"ns_per_env\": %.2f, \"solved\": "
      "%.5f, \"iterations_least\": %d, \"iterations_most\": %d, \"different_bits\": %d, "
      "\"cpu_ns_per_env\": %.1f}\n",
      c.name, rows, envs, first, second, quantile(taken, 0.5), *fastest, *slowest,
      1e3 * quantile(taken, 0.5) / envs, double(solved) / envs, *least, *most,
      different(gpu, cpu, envs, std::min(kDistinct, envs), host.max_rows()),
      1e3 * cpu_us / kDistinct);
  std::fflush(stdout);
}

template <class Scalar>
void time_case(const SpeedCase& c, int rows, const std::vector<int>& batches, double deadline) {
  const auto host = make_batch<Scalar>({support::Family::stack, rows / 3}, kDistinct);
  support::PlainResults<Scalar> cpu(kDistinct, host.max_rows());
  Workspace of_cpu(host.max_rows(), host.max_contacts(), 0);
  solve(host.view(), cpu.view(), c.options, of_cpu);
  const double cpu_us = 1e6 * seconds([&] { solve(host.view(), cpu.view(), c.options, of_cpu); });
  for (const int envs : batches) {
    if (now() < deadline) time_batch<Scalar>(c, rows, envs, host, cpu, cpu_us);
  }
}

/// A case that fails is told, and the others go on.
void time_any(const SpeedCase& c, int rows, const std::vector<int>& batches, double deadline) {
  try {
    c.of_float ? time_case<float>(c, rows, batches, deadline)
               : time_case<double>(c, rows, batches, deadline);
  } catch (const std::exception& error) {
    std::printf("{\"case\": \"%s\", \"rows\": %d, \"error\": \"%s\"}\n", c.name, rows,
                error.what());
    std::fflush(stdout);
  }
}

int time_all(double limit, const std::string& filter) {
  const double deadline = now() + limit;
  const auto wanted = [&](const SpeedCase& c, int rows) {
    const bool long_sweeps = c.options.solver == Solver::pgs && !c.options.fixed_sweeps;
    if (rows == 96 && long_sweeps) return false;
    return (std::string(c.name) + "/" + std::to_string(rows)).find(filter) != std::string::npos;
  };
  // One large batch of everything; then the other sizes; then a batch that fills the device better.
  std::vector<std::vector<int>> rounds{{16384}, {1, 1024, 4096}, {65536}};
  if (dry()) rounds = {{8}, {1}};
  for (const std::vector<int>& batches : rounds) {
    for (const int rows : {12, 24, 48, 96}) {
      for (const SpeedCase& c : kCases) {
        if (wanted(c, rows) && now() < deadline) time_any(c, rows, batches, deadline);
      }
    }
  }
  return 0;
}

/// ns per environment of rung 0 alone; -1 if no group of so many lanes is possible.
double time_lanes(const SpeedCase& c, const Tiled<double>& batch, int lanes) {
  GroupLaunch group(lanes, batch.problem, c.options, batch.stream);
  if (!group.possible()) return -1.0;
  group.limit_blocks();
  Timer timer(batch.stream);
  double least = 1e30;
  for (int i = 0; i < 4; ++i) {
    group.rewind();
    const double taken = timer([&] { group.enqueue(batch.results.view()); });
    if (i > 0) least = std::min(least, taken);  // the first loads the code
  }
  return 1e3 * least / batch.problem.num_envs;
}

int time_all_lanes(double limit) {
  const double deadline = now() + limit;
  for (const int rows : {12, 24, 48, 96}) {
    if (dry() && rows > 12) break;
    const auto host = make_batch<double>({support::Family::stack, rows / 3}, kDistinct);
    const Tiled<double> batch(host, dry() ? 8 : rows < 48 ? 16384 : 4096);
    for (const SpeedCase& c : kCases) {
      if (c.of_float || c.options.precision != Precision::float64 ||
          std::strcmp(c.name, "coulomb_pgs_double") == 0) {
        continue;
      }
      std::printf("{\"case\": \"%s\", \"rows\": %d, \"ns_per_env\": {", c.name, rows);
      for (const int lanes : {8, 32, 64, 128}) {
        const double ns = now() < deadline ? time_lanes(c, batch, lanes) : -1.0;
        std::printf("%s\"%d\": %.1f", lanes > 8 ? ", " : "", lanes, ns);
      }
      std::printf("}}\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

/// One solve after `times` - 1 others; only it is in the profiler's range.
template <class Scalar>
int solve_once(const SpeedCase& c, int rows, int envs, int times) {
  const auto host = make_batch<Scalar>({support::Family::stack, rows / 3}, kDistinct);
  Tiled<Scalar> batch(host, envs);
  cuda::Workspace workspace(
      {.num_envs = envs, .max_rows = host.max_rows(), .max_contacts = host.max_contacts()});
  for (int i = 0; i < times; ++i) {
    cuda::wait(batch.stream);
    if (i + 1 == times) cudaProfilerStart();  // an error without a profiler
    cuda::solve(batch.problem, batch.results.view(), c.options, workspace, batch.stream);
  }
  cuda::wait(batch.stream);
  cudaProfilerStop();
  const auto& gpu = batch.results.host();
  std::printf("%d of %d solved\n",
              int(std::count(gpu.status.begin(), gpu.status.end(), EnvStatus::solved)), envs);
  return 0;
}

int usage() {
  std::fprintf(stderr,
               "usage: stickslip_gpu_speed info ROWS | capture | time SECONDS [FILTER] | lanes "
               "SECONDS | solve CASE ROWS ENVS [TIMES]\n");
  for (const SpeedCase& c : kCases) std::fprintf(stderr, "  %s\n", c.name);
  return 2;
}

int run(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "info" && argc > 2) return info(std::atoi(argv[2]));
  if (mode == "capture") return capture();
  if (mode == "time" && argc > 2) return time_all(std::atof(argv[2]), argc > 3 ? argv[3] : "");
  if (mode == "lanes" && argc > 2) return time_all_lanes(std::atof(argv[2]));
  if (mode == "solve" && argc > 4) {
    const int rows = std::atoi(argv[3]), envs = std::atoi(argv[4]);
    const int times = argc > 5 ? std::atoi(argv[5]) : 2;
    for (const SpeedCase& c : kCases) {
      if (std::strcmp(c.name, argv[2]) != 0) continue;
      return c.of_float ? solve_once<float>(c, rows, envs, times)
                        : solve_once<double>(c, rows, envs, times);
    }
  }
  return usage();
}

}  // namespace
}  // namespace stickslip::bench

int main(int argc, char** argv) {
  if (!stickslip::cuda::available()) {
    std::fprintf(stderr, "stickslip_gpu_speed: %s\n", stickslip::cuda::why_not().c_str());
    return 3;
  }
  try {
    return stickslip::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stickslip_gpu_speed: %s\n", error.what());
    return 1;
  }
}
