"""Training on `stickslip.envs`; needs `pip install ".[rl]"`.

`ppo` is proximal policy optimization in one file, alone or on many processes (torchrun). `play`
runs a trained policy under any law and makes a video. `vec_env` is for rsl_rl.
"""
