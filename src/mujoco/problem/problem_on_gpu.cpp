// Solves of half a batch on a GPU.
#include "src/mujoco/problem/part_of_batch.hpp"
#include "src/mujoco/problem/problem_buffers.hpp"

namespace stickslip::mujoco {

// Environments that are solved in velocities have no rows there.
void ProblemBuffers::start_on_gpu(int half) {
  if (gpu_.empty()) gpu_ = std::vector<cuda::HostSolver<double>>(kHalves);
  const int first = first_of_half(half), end = first_of_half(half + 1);
  for (int e = first; e < end; ++e) gpu_counts_[e] = on_cpu(e) ? RowCounts{} : problems_->counts(e);
  auto problems = posed(first, end - first);
  problems.counts = {gpu_counts_.data() + first, 1};
  gpu_[half].start(problems, options_);
}

void ProblemBuffers::finish_on_gpu(int half) {
  const int first = first_of_half(half);
  gpu_[half].finish(only(results_->view(), first),
                    [&](std::int32_t e) { return !on_cpu(first + e); });
}

double ProblemBuffers::gpu_busy_seconds() const {
  double seconds = 0;
  for (const auto& solver : gpu_) seconds += solver.busy_seconds();
  return seconds;
}

}  // namespace stickslip::mujoco
