"""Training on `stickslip.envs`; needs `pip install "stickslip[rl]"`.

`ppo` is proximal policy optimization in one file, alone or on many processes (torchrun). `play`
runs a trained policy under any law and films it. `vec_env` serves rsl_rl.
"""
