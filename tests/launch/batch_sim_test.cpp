// Simulations whose problems a device solves, on a runtime without a GPU: the bits of the CPU.
#include "src/mujoco/batch_sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/launch/fake_runtime.hpp"

namespace stickslip::mujoco {
namespace {

/// Boxes that fall on a plane and on each other, with friction in a hinge and a limit.
const char* const kModel = R"(<mujoco><option timestep="0.005" cone="elliptic"/><worldbody>
  <geom type="plane" size="5 5 .1" condim="6"/>
  <body pos="0 0 .15"><freejoint/><geom type="box" size=".1 .1 .1"/>
    <body pos=".2 0 0"><joint type="hinge" axis="0 1 0" frictionloss=".1" limited="true"
      range="-10 10"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".04"/></body></body>
  <body pos=".03 0 .4" euler="10 20 30"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody></mujoco>)";

BatchSim make_sim(Backend backend, Law law, const char* integrator, int num_envs,
                  SimOptions options = {}) {
  options.num_envs = num_envs;
  options.threads = 2;
  options.backend = backend;
  options.solve.law = law;
  options.integrator = integrator;
  BatchSim sim(load_model_text(kModel), options);
  const Rows qvel = sim.component(StateComponent::qvel);
  for (int e = 0; e < num_envs; ++e) {
    for (int i = 0; i < qvel.size; ++i)
      qvel.data[e * qvel.stride + i] = 0.1 * ((e * 7 + i * 3) % 11);
  }
  return sim;
}

/// `needed`: counts of what the steps needed.
void expect_bits_of_the_cpu(Law law, const char* integrator, int num_envs,
                            const SimOptions& options = {}, Statistics* needed = nullptr) {
  BatchSim cpu = make_sim(Backend::cpu, law, integrator, num_envs, options);
  BatchSim gpu = make_sim(Backend::cuda, law, integrator, num_envs, options);
  int rows = 0, many = 0, few = 0;
  for (int step = 0; step < 60; ++step) {
    if (step == 30) cpu.component(StateComponent::qpos).data[0] = 1e12;  // one environment breaks
    if (step == 30) gpu.component(StateComponent::qpos).data[0] = 1e12;
    cpu.step();
    gpu.step();
    const Rows a = cpu.component(StateComponent::integration);
    const Rows b = gpu.component(StateComponent::integration);
    for (int e = 0; e < num_envs; ++e) {
      ASSERT_EQ(0, std::memcmp(a.data + e * a.stride, b.data + e * b.stride,
                               std::size_t(a.size) * sizeof(double)))
          << "environment " << e << ", step " << step;
      EXPECT_EQ(cpu.status()[e], gpu.status()[e]);
      EXPECT_EQ(cpu.residual()[e], gpu.residual()[e]);
      rows += gpu.num_rows()[e];
      (gpu.num_rows()[e] >= gpu.model().nv ? many : few) += gpu.num_rows()[e] > 0;
    }
  }
  EXPECT_GT(few, 0);
  EXPECT_TRUE(many > 0 || law != Law::convex) << "none was solved in velocities";
  EXPECT_GT(rows, 60 * num_envs) << "nothing touched anything";
  const Statistics &of_cpu = cpu.statistics(), &of_gpu = gpu.statistics();
  EXPECT_EQ(of_cpu.by_status, of_gpu.by_status);
  EXPECT_EQ(of_cpu.by_rung, of_gpu.by_rung);
  EXPECT_EQ(of_cpu.second_solves, of_gpu.second_solves);
  EXPECT_EQ(of_cpu.culled, of_gpu.culled);
  if (needed) *needed = of_gpu;
}

TEST(GpuSim, has_the_bits_of_the_cpu) {
  for (int num_envs : {1, 2, 7}) {
    expect_bits_of_the_cpu(Law::coulomb, "implicitfast", num_envs);
    expect_bits_of_the_cpu(Law::convex, "implicitfast", num_envs);
  }
}

TEST(GpuSim, has_the_bits_of_the_cpu_in_runge_kutta_stages) {
  expect_bits_of_the_cpu(Law::convex, "RK4", 5);
}

TEST(GpuSim, solves_again_with_the_bits_of_the_cpu) {
  Statistics needed;
  expect_bits_of_the_cpu(Law::coulomb, "implicitfast", 7, {}, &needed);
  EXPECT_GT(needed.second_solves, 0);
  EXPECT_GT(needed.ghosts, 0);
  EXPECT_GT(needed.culled, 0);
  SimOptions exact;
  exact.position_iterations = 3;
  expect_bits_of_the_cpu(Law::coulomb, "implicitfast", 3, exact, &needed);
  EXPECT_GT(needed.repositioned, 0);
  SimOptions bouncing;
  bouncing.contact.restitution = 1.0;
  expect_bits_of_the_cpu(Law::coulomb, "implicitfast", 7, bouncing, &needed);
  EXPECT_GT(needed.second_solves, 0);
  SimOptions soft;
  soft.softness = Softness::model;
  expect_bits_of_the_cpu(Law::coulomb, "implicitfast", 3, soft);
}

TEST(GpuSim, allocates_only_while_it_grows) {
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
  EXPECT_EQ(fake::calls().copies, 20 * 2 * 2);  // halves, to and fro
  EXPECT_GT(sim.timings().gpu_busy, 0.0);
  EXPECT_GT(sim.timings().gpu_steps, 0.0);
}

}  // namespace
}  // namespace stickslip::mujoco
