"""Trains a policy for some time and prints the settings and each update as JSON: a program of the
part training.

    python train_for.py SECONDS

Solves and networks run on the GPU; MuJoCo's own part of each step runs on the CPU's cores. The last
line is of the update in which the time was up.
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    seconds, begin = float(sys.argv[1]), time.monotonic()
    import torch

    from stickslip.rl import ppo

    small = bool(os.environ.get("GPU_CHECK_DRY"))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    settings = ppo.Settings(
        "stickslip/HalfCheetah-v5",
        steps=20_000_000,
        num_envs=16 if small else 1024,
        rollout=8 if small else 32,
        batch=64 if small else 4096,
        options={"law": "coulomb", "backend": "cuda"},
        device=device,
    )
    print(json.dumps({"env": settings.env, "num_envs": settings.num_envs, "networks": device,
                      "options": settings.options, "rollout": settings.rollout,
                      "imports_s": round(time.monotonic() - begin, 1)}), flush=True)  # fmt: skip

    def report(numbers: dict[str, float]) -> None:
        print(json.dumps({key: round(value, 6) for key, value in numbers.items()}), flush=True)
        if time.monotonic() - begin > seconds:
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C: ends after this update

    with tempfile.TemporaryDirectory() as folder:
        ppo.Trainer(settings, Path(folder) / "run").train(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
