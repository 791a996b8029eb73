// How fast the interpreter is: the best of several runs.
#include <algorithm>
#include <chrono>

#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

template <class T>
void measure(const char* name, int n, const ptx::Checks& c, unsigned threads) {
  constexpr int kRuns = 5;
  std::vector<T> out(threads);
  double best = 1e9;
  ptx::Report r;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    r = launch(name, {{1}, {threads}, 0, c, 0}, out.data(), n);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::min(best, seconds.count());
  }
  check(r.errors.empty(), joined(r));
  std::printf("  %s, %u threads%s: %.0f M lane instructions/s, %.0f M warp instructions/s\n", name,
              threads, c.races ? ", checks on" : "", double(r.lane_instructions) / best / 1e6,
              double(r.warp_instructions) / best / 1e6);
  if (name == std::string("speed_double") && !c.races) {
    check(r.fma_double == u64(n) * 2 * threads, "fma are counted");
  }
}

}  // namespace

void speed() {
  measure<double>("speed_double", 1000000, {}, 32);
  measure<double>("speed_double", 1000000, {}, 8);
  measure<float>("speed_shared", 500000, {}, 32);
  measure<float>("speed_shared", 500000, {}, 8);
  measure<float>("speed_shared", 100000, all_checks(), 32);
}

}  // namespace gpu_emulator::tests
