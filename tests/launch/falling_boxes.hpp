// A simulation whose problems have rows of every kind.
#pragma once
#include "src/mujoco/batch_sim.hpp"

namespace stickslip::mujoco {

/// Boxes that fall on a plane and on each other, with friction in a hinge and a limit.
inline const char* const kFallingBoxes =
    R"(<mujoco><option timestep="0.005" cone="elliptic"/><worldbody>
  <geom type="plane" size="5 5 .1" condim="6"/>
  <body pos="0 0 .15"><freejoint/><geom type="box" size=".1 .1 .1"/>
    <body pos=".2 0 0"><joint type="hinge" axis="0 1 0" frictionloss=".1" limited="true"
      range="-10 10"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".04"/></body></body>
  <body pos=".03 0 .4" euler="10 20 30"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody></mujoco>)";

inline BatchSim make_sim(Backend backend, Law law, const char* integrator, int num_envs,
                         SimOptions options = {}) {
  options.num_envs = num_envs;
  options.threads = 2;
  options.backend = backend;
  options.solve.law = law;
  options.integrator = integrator;
  BatchSim sim(load_model_text(kFallingBoxes), options);
  const Rows qvel = sim.component(StateComponent::qvel);
  for (int e = 0; e < num_envs; ++e) {
    for (int i = 0; i < qvel.size; ++i)
      qvel.data[e * qvel.stride + i] = 0.1 * ((e * 7 + i * 3) % 11);
  }
  return sim;
}

}  // namespace stickslip::mujoco
