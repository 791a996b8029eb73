"""Inputs of the tests of bench/compare."""

import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
PROBLEMS = 6


def sticking(folder):
    """Boxes of 1 kg that hit the floor and stick: r = -b. Two are defined for one law each."""
    path = folder / "sticking.h5"
    rng = np.random.default_rng(0)
    with h5py.File(path, "w") as out:
        for i in range(PROBLEMS):
            group = out.create_group(f"problems/{i}")
            b = np.concatenate([[-1.0], rng.uniform(-0.2, 0.2, 2)])
            group["W"], group["mu"] = np.eye(3), np.full(1 if i % 2 else 2, 0.5)
            group["q" if i % 2 else "b"] = b
            group.attrs["kind"] = "fc3d" if i % 2 else "contact"
        out["problems/0"].attrs["law"] = "coulomb"
        other = out.create_group("problems/of_another_law")
        other["W"], other["b"], other["mu"] = np.eye(3), -np.ones(3), np.ones(2)
        other.attrs.update(kind="contact", law="convex")
        kind = out.create_group("problems/of_another_kind")
        kind["M"], kind["q"] = np.eye(2), -np.ones(2)
        kind.attrs["kind"] = "lcp"
    return path


def compiled(name, folder):
    """A peer module, compiled as a user would compile one for another solver."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    source = Path(__file__).with_name(f"{name}_peer.cpp")
    module = folder / f"stickslip_peer_{name}.so"
    flags = ["-std=c++20", "-shared", "-fPIC", f"-I{ROOT}", f"-I{ROOT / 'include'}"]
    subprocess.run(["g++", *flags, str(source), "-o", str(module)], check=True)
    return module
