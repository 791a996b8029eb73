"""Training on `stickslip.envs`; needs `pip install ".[rl]"`.

`train` is rsl_rl's proximal policy optimization, alone or on many processes (torchrun), `runs` its
settings and checkpoints, `log` its numbers. `play` runs a trained policy under any law and makes a
video. `vec_env` is for rsl_rl, `sb3` for stable-baselines3.
"""

import os

# rsl_rl imports GitPython, which otherwise refuses to be imported where the program git is missing.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
