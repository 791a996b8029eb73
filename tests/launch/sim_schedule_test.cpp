// The device calls of a simulation, observed on a runtime without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/launch/fake_runtime.hpp"
#include "tests/launch/falling_boxes.hpp"

namespace stickslip::mujoco {
namespace {

TEST(SimSchedule, allocates_only_while_it_grows) {
  BatchSim sim = make_sim(Backend::cuda, Law::coulomb, "implicitfast", 6);
  const Rows state = sim.component(StateComponent::integration);
  const std::vector<double> begin(state.data, state.data + 6 * state.stride);
  const auto fall = [&] {
    std::copy(begin.begin(), begin.end(), state.data);
    for (int step = 0; step < 20; ++step) sim.step();
  };
  for (int step = 0; step < 60; ++step) sim.step();
  fall();
  fake::calls() = {};
  fall();
  EXPECT_EQ(fake::calls().allocations, 0);
  EXPECT_EQ(fake::calls().copies, 20 * 2 * 2);  // halves, in and out
  EXPECT_GT(sim.timings().gpu_busy, 0.0);
  EXPECT_GT(sim.timings().gpu_steps, 0.0);
}

}  // namespace
}  // namespace stickslip::mujoco
