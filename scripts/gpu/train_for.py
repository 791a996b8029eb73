"""Trains a policy for some time and prints the settings and each update as JSON: a program of the
part training.

    python train_for.py SECONDS

Solves and networks run on the GPU; MuJoCo's own part of each step runs on the CPU's cores.
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path


def main() -> int:
    seconds, begin = float(sys.argv[1]), time.monotonic()
    import torch

    from stickslip.rl import runs
    from stickslip.rl.log import curve
    from stickslip.rl.train import Trainer

    small = bool(os.environ.get("GPU_CHECK_DRY"))
    settings = runs.Settings(
        "stickslip/HalfCheetah-v5",
        steps=20_000_000,
        num_envs=16 if small else 1024,
        options={"law": "coulomb", "backend": "cuda"},
        device="cuda" if torch.cuda.is_available() else "cpu",
    )
    settings.rsl_rl["num_steps_per_env"] = rollout = 8 if small else 32
    print(json.dumps({"env": settings.env, "num_envs": settings.num_envs, "rollout": rollout,
                      "networks": settings.device, "options": settings.options,
                      "imports_s": round(time.monotonic() - begin, 1)}), flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "model_0.pt"  # is there after the first update

        def stop() -> None:
            while time.monotonic() - begin < seconds or not first.exists():
                time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C

        threading.Thread(target=stop, daemon=True).start()
        Trainer(settings, Path(folder)).train()
        for row in curve(Path(folder)):
            steps = (row["update"] + 1) * settings.num_envs * rollout
            rates = {"steps": steps, "steps_per_second": steps / row["seconds"]}
            print(json.dumps({key: round(value, 6) for key, value in (row | rates).items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
