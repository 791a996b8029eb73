"""Derivatives through contact of several programs, each beside differences of its own steps.

    STICKSLIP_GRADIENT_PEERS="mjx=PYTHON drake=PYTHON ..." python bench/run_gradient_peers.py [OUT]

A peer runs in the Python that the variable names for it, else in this one; those that are not
installed there are named in the report. Scenes: gradient_peers/scenes.py.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "gradient_peers"
PEERS = {  # what is imported
    "stickslip": "stickslip",
    "mjx": "mujoco.mjx",
    "drake": "pydrake",
    "nimble": "nimblephysics",
    "newton": "newton",
}


def results(peer: str, python: str) -> list[dict]:
    """One for each derivative; or one that says that the peer is missing."""
    here = subprocess.run([python, "-c", f"import {PEERS[peer]}"], capture_output=True)
    if here.returncode:
        print(f"{peer}: not installed in {python}, skipped", flush=True)
        return [{"program": peer, "missing": True}]
    rows = []
    command = [python, FOLDER / f"{peer}_peer.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            if line.startswith("{"):  # some programs print messages too
                print(line, end="", flush=True)
                rows.append(json.loads(line))
    if run.returncode:
        raise SystemExit(f"{peer}: failed, see above")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    given = parser.parse_args()
    named = os.environ.get("STICKSLIP_GRADIENT_PEERS", "").split()
    pythons = dict(pair.split("=", 1) for pair in named)
    found = [row for peer in given.only for row in results(peer, pythons.get(peer, sys.executable))]
    if given.out:
        given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
