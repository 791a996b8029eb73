"""Trains a policy with stable-baselines3's PPO: pip install stable-baselines3."""

import argparse

from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from stickslip.rl.sb3 import Sb3VecEnv

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--env", default="stickslip/HalfCheetah-v5", help="id of an environment")
parser.add_argument("--envs", type=int, default=64, help="number of environments")
parser.add_argument("--steps", type=int, default=1_000_000, help="steps of all environments")
parser.add_argument("--law", default="coulomb", help="friction law")
parser.add_argument("--out", help="file of the agent")
options = parser.parse_args()

envs = VecNormalize(VecMonitor(Sb3VecEnv(options.env, options.envs, law=options.law)))
rollout = max(64, 2048 // options.envs)
agent = PPO("MlpPolicy", envs, n_steps=rollout, batch_size=256, verbose=1, device="cpu", seed=0)
agent.learn(options.steps)
if options.out:
    agent.save(options.out)
    envs.save(f"{options.out}.normalization.pkl")
