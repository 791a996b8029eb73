"""Checks and measures stickslip on the GPU of this machine: `make gpu-check`.

    python3 scripts/gpu/check.py [PART[=SECONDS] ...]

Parts, in this order if none is named: smoke, speed, lanes, bench, profile, engines, training,
python, sanitizer, bits (README.md beside this file says what each answers). Each has a time limit.
The programs are those of gpu-bundle/ (made by `make gpu-bundle`); without them they are built here
first. Results: <part>.json after every step, and log.txt with what the programs print, in $OUT,
else in out/gpu-check. Ends with 1 if something failed, also if all tests of a step were skipped or
nothing of a part that was named ran, and at once with 3 if no GPU answers.

Needs Python's standard library alone. GPU_CHECK_PROGRAMS: another folder with bin/ (the programs),
lib/ and site/ (the Python packages). GPU_CHECK_DRY=1: tiny sizes, without what only a GPU has
(nvidia-smi, ncu, compute-sanitizer), to try the commands with programs linked with a CUDA runtime
that needs no GPU.
"""

import os
import sys
from pathlib import Path

from cpp_tests import bits, sanitizer, smoke
from device import why_no_gpu
from engines import engines, keep_pieces
from part import DRY, ROOT, Part, Session, say
from profiler import profile
from programs import ARCHIVE, programs
from python_parts import python, training
from timing import bench, lanes, speed

sys.path.append(str(ROOT / "bench"))

from machine import built_from, describe_machine

# What is measured comes before the long tests, and the soak, the end of `bits`, last.
PARTS = {  # seconds
    "smoke": (smoke, 60),
    "speed": (speed, 150),
    "lanes": (lanes, 40),
    "bench": (bench, 120),
    "profile": (profile, 150),
    "engines": (engines, 280),
    "training": (training, 90),
    "python": (python, 90),
    "sanitizer": (sanitizer, 90),
    "bits": (bits, 150),
}


def chosen_parts(words: list[str]) -> dict[str, float] | None:
    """The parts to run, with their time limits; None if there is no such part."""
    chosen = {}
    for word in words or PARTS:
        name, _, seconds = word.partition("=")
        try:
            chosen[name] = float(seconds or PARTS[name][1])
        except (KeyError, ValueError):
            return None
        if name not in PARTS:
            return None
    return chosen


def run_part(session: Session, name: str, limit: float, named: bool) -> list[str]:
    """The steps that failed."""
    part = Part(session, name, limit)
    say(f"{name}: at most {limit:.0f} s")
    try:
        PARTS[name][0](part)
    except Exception as error:  # a part never stops the others
        part.store("script", f"failed ({error!r})")
        say(f"{name}: FAILED ({error!r})")
    passed, failed = part.counts()
    if named and passed + failed == 0:
        for step, found in part.steps.items():
            say(f"{name}: {step}: {found['result']}")
        part.store("anything", "failed (nothing ran)")
        failed = 1
    say(f"{name}: {passed} steps passed, {failed} failed, {len(part.steps) - passed - failed} not "
        f"run ({part.limit - part.left():.0f} s)")  # fmt: skip
    return [f"{name}: {step}" for step, found in part.steps.items()
            if str(found["result"]).startswith("failed")]  # fmt: skip


def main() -> int:
    chosen = chosen_parts(sys.argv[1:])
    if chosen is None:
        print(__doc__)
        return 2
    why_not = "" if DRY else why_no_gpu()
    if why_not:
        say(f"no GPU answers here: {why_not}")
        return 3
    out = Path(os.environ.get("OUT") or ROOT / "out" / "gpu-check").resolve()
    out.mkdir(parents=True, exist_ok=True)
    keep_pieces()
    carried = built_from() if ARCHIVE.exists() else {}
    folder = programs()
    with (out / "log.txt").open("a") as log:
        session = Session(folder, out, describe_machine() | carried, log)
        if DRY:  # the programs' own runtime answers, not the driver
            text, code = session.execute([folder / "bin" / "stickslip_gpu_probe"], 60)
            if code:
                say(f"no GPU answers here: {text.strip()[-300:]}")
                return 3
        failed = [step for name, limit in chosen.items()
                  for step in run_part(session, name, limit, bool(sys.argv[1:]))]  # fmt: skip
    say(f"results in {out}")
    say(f"FAILED: {', '.join(failed)}" if failed else "all passed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
