#include "src/mujoco/step/second_solve.hpp"

#include <algorithm>

#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/env_step.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kMostTakenIn = 8;  // rounds

// What the latest solve tells of the choice in the next one. `same_rows`: its W is the same; else
// islands may not have changed.
std::int32_t selected_start(const StepContext& step, bool same_rows) {
  const Selected latest = step.buffers->results().selected(step.slot);
  if (latest == Selected::no || !solved(step)) return 0;
  if (same_rows) return 1;
  return latest == Selected::yes ? kSelectedWhereUnchanged : 0;
}

}  // namespace

void take_solution(StepContext& step) {
  const auto& r = step.buffers->results();
  Verdict& v = step.verdict;
  v.iterations += r.iterations(step.slot);
  const auto failed = [&] {
    return r.status(step.slot) == EnvStatus::not_converged && !step.sim->options.solve.fixed_sweeps;
  };
  const bool again = step.warm && !step.buffers->hopeless(step.slot);
  if (again && failed()) {  // a start must not cause a failure
    step.first_try.keep_solution(*step.buffers, step.slot);
    mju_zero(step.buffers->problems().warm_start(step.slot), step.rows());
    step.buffers->solve(step.slot);
    v.iterations += r.iterations(step.slot);
    if (failed() && step.first_try.residual() < r.residual(step.slot))
      step.first_try.restore_solution(*step.buffers, step.slot);
  }
  step.failed = step.failed || r.status(step.slot) == EnvStatus::bad_input;
  if (r.status(step.slot) != EnvStatus::solved) ++step.unsolved;
}

bool solved(const StepContext& step) { return step.status() == EnvStatus::solved; }

void find_end_velocity(StepContext& step) {
  step.end_velocity.resize(step.m->nv);
  velocity_after(step.m, step.d, step.problem(), step.rows(), step.impulse(),
                 step.end_velocity.data());
}

void solve_marked(StepContext& step, Effort effort) {
  PhaseTimer timer(step);
  const std::int32_t start = selected_start(step, false);
  step.saved.keep_solution(*step.buffers, step.slot);
  pose_problem(step);
  const int rows = step.rows();
  step.saved.start(step.problem(), rows, step.buffers->problems().warm_start(step.slot));
  step.buffers->start_selected(step.slot) = start;
  step.warm = effort == Effort::full;  // else rest will not be tried
  timer.mark(kGather);
  ++step.verdict.second_solves;
  if (step.rows() == 0) return;
  step.buffers->form_delassus(step.slot);
  timer.mark(kDelassus);
  step.buffers->solve(step.slot, effort);
  take_solution(step);
  timer.mark(kSolve);
}

void take_in_culled(StepContext& step) {
  for (int round = 0; round < kMostTakenIn && !step.gives_up(); ++round) {
    if (step.contacts.count(Use::culled) == 0) return;
    find_end_velocity(step);
    const int taken = take_in_closed(step.m, step.d, step.end_velocity.data(), step.contacts);
    if (taken == 0) return;
    step.verdict.taken_in += taken;
    solve_marked(step);
  }
}

void solve_from(StepContext& step, const double* r, Effort effort) {
  // What is kept for the next step is not that of a brief solve.
  const bool brief = effort != Effort::full;
  const std::int32_t start = r == step.impulse() ? selected_start(step, brief) : 0;
  std::copy_n(r, step.rows(), step.buffers->problems().warm_start(step.slot));
  step.buffers->start_selected(step.slot) = start;
  ++step.verdict.second_solves;
  step.warm = !brief && solved(step);  // else rest has been tried, or will not be
  step.buffers->solve(step.slot, effort);
  take_solution(step);
}

}  // namespace stickslip::mujoco
