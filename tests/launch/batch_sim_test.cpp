// Simulations whose problems are solved on a device: the same bits as on the CPU.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/launch/falling_boxes.hpp"
#include "tests/launch/on_device.hpp"

namespace stickslip::mujoco {
namespace {

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

class GpuSim : public support::GpuTest<> {};

TEST_F(GpuSim, has_the_bits_of_the_cpu) {
  for (int num_envs : {1, 2, 7}) {
    expect_bits_of_the_cpu(Law::coulomb, "implicitfast", num_envs);
    expect_bits_of_the_cpu(Law::convex, "implicitfast", num_envs);
  }
}

TEST_F(GpuSim, has_the_bits_of_the_cpu_in_runge_kutta_stages) {
  expect_bits_of_the_cpu(Law::convex, "RK4", 5);
}

TEST_F(GpuSim, solves_again_with_the_bits_of_the_cpu) {
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

}  // namespace
}  // namespace stickslip::mujoco
