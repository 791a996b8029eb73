"""Modules of scripts/gpu. They are programs there, and import one another by their short names."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "scripts" / "gpu"
PROGRAMS = ("test_gpu", "stickslip_bench", "stickslip_gpu_speed", "stickslip_gpu_probe")


def load(name: str) -> ModuleType:
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)
