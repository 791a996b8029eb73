#include "src/mujoco/step/statistics.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace stickslip::mujoco {

void Statistics::count(const Verdict& step) {
  ++by_status[std::size_t(step.status)];
  if (step.status == EnvStatus::solved && step.rung >= 0)
    ++by_rung[std::min<std::size_t>(step.rung, by_rung.size() - 1)];
  second_solves += step.second_solves;
  repositioned += step.position_rounds > 0;
  ghosts += step.ghosts;
  culled += step.culled;
  taken_in += step.taken_in;
}

void Statistics::operator+=(const Statistics& other) {
  const auto add = [](auto& to, const auto& from) {
    std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus());
  };
  add(by_status, other.by_status);
  add(by_rung, other.by_rung);
  second_solves += other.second_solves;
  repositioned += other.repositioned;
  ghosts += other.ghosts;
  culled += other.culled;
  taken_in += other.taken_in;
}

bool Statistics::fails_often() const {
  const std::int64_t steps = std::accumulate(by_status.begin(), by_status.end(), std::int64_t(0));
  return steps >= 1000 && 100 * (steps - by_status[std::size_t(EnvStatus::solved)]) > steps;
}

}  // namespace stickslip::mujoco
