"""rsl_rl's PPO trains Unitree's Go1 to follow a commanded velocity.

python examples/rl/rsl_rl_ppo.py [--env Go1-v0] [--envs 256] [--updates 500] [--out runs/go1]
"""

import argparse

from rsl_rl.runners import OnPolicyRunner

from stickslip.rl.vec_env import RslRlEnv

parser = argparse.ArgumentParser()
parser.add_argument("--env", default="Go1-v0")
parser.add_argument("--envs", type=int, default=256)
parser.add_argument("--updates", type=int, default=500)
parser.add_argument("--out", default="runs/go1")
given = parser.parse_args()

network = {"class_name": "MLPModel", "hidden_dims": [128, 128], "obs_normalization": True}
config = {
    "num_steps_per_env": 24,
    "save_interval": 100,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": network
    | {"distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}},
    "critic": network,
    "algorithm": {"class_name": "PPO", "entropy_coef": 0.005, "learning_rate": 1e-3},
}
envs = RslRlEnv(f"stickslip/{given.env}", given.envs, law="coulomb")
envs.seed(0)
runner = OnPolicyRunner(envs, config, log_dir=given.out, device="cpu")
runner.learn(given.updates, init_at_random_ep_len=True)
