"""RLlib's PPO on environments of stickslip: each environment runner has a whole batch.

    python examples/rl/rllib_ppo.py [--env HalfCheetah-v5] [--runners 2] [--envs 32] [--updates 100]

On a cluster, run the same script with more runners and set `RAY_ADDRESS`.
"""

import argparse

from ray.rllib.algorithms.ppo import PPOConfig

parser = argparse.ArgumentParser()
parser.add_argument("--env", default="HalfCheetah-v5")
parser.add_argument("--runners", type=int, default=2)
parser.add_argument("--envs", type=int, default=32, help="of each runner")
parser.add_argument("--updates", type=int, default=100)
given = parser.parse_args()

config = (
    PPOConfig()
    # Each runner imports the module before the colon, which registers the environments.
    .environment(
        f"stickslip.envs:stickslip/{given.env}", env_config={"law": "coulomb", "threads": 1}
    )
    .env_runners(
        num_env_runners=given.runners,
        num_envs_per_env_runner=given.envs,
        gym_env_vectorize_mode="vector_entry_point",
        rollout_fragment_length=64,
    )
    .training(
        train_batch_size_per_learner=64 * given.envs * given.runners,
        minibatch_size=512,
        num_epochs=10,
        lr=3e-4,
        grad_clip=0.5,
    )
)
algorithm = config.build_algo()
for update in range(given.updates):
    result = algorithm.train()["env_runners"]
    steps, earned = result["num_env_steps_sampled_lifetime"], result.get("episode_return_mean")
    print(f"update {update}: {steps:.0f} steps, return {earned}")
algorithm.stop()
