"""The parts in Python: the package's own tests on a GPU, and a training run."""

import re
import sys

from part import DRY, HERE, Part, lines_of_json

NAMES = ("gpu/test_gpu", "bound/test_bound_gpu", "bound/test_bound_friction_gpu")
TESTS = [f"tests/python/{name}.py" for name in NAMES]
# An editable installation would be found before the packages that were carried here.
CARRIED = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.endswith("_stickslip")]
"""
# Runs a module or a file, with its arguments.
RUN = """
import runpy, sys
del sys.argv[0]
if sys.argv[0].endswith(".py"):
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
PACKAGE = """
import json, stickslip
from stickslip import _core
print(json.dumps({"file": stickslip.__file__, "device": _core.cuda_device_name(),
                  "why_not": _core.cuda_why_not()}))
"""


def program(part: Part, code: str, *words: object) -> list:
    return [sys.executable, "-c", (CARRIED if part.session.site else "") + code, *words]


def has_package(part: Part) -> bool:
    """Whether the Python package is here; it must find the GPU."""
    if part.session.site is None:
        _, missing = part.session.execute([sys.executable, "-c", "import stickslip"], 60)
        if missing:
            part.store("package", "not run (the Python package is neither carried nor installed)")
            return False
    text = part.run("package", program(part, PACKAGE), 60, **path_of(part))
    if text is None:
        return False
    found = lines_of_json(text)[-1]
    if found["why_not"]:
        part.fail("package", found["why_not"])
        return False
    part.add("package", **found)
    return True


def path_of(part: Part) -> dict[str, str]:
    return {"PYTHONPATH": str(part.session.site)} if part.session.site else {}


def outcome(text: str) -> dict:
    """Numbers of tests, from pytest's last line."""
    last = ([""] + [line for line in text.splitlines() if re.search(r" in [\d.]+s", line)])[-1]
    found = {kind: re.search(rf"(\d+) {kind}", last) for kind in ("passed", "failed", "skipped")}
    return {kind: int(match[1]) if match else 0 for kind, match in found.items()}


def python(part: Part) -> None:
    """The tests of the GPU from Python: solves, steps, arrays and graphs of torch and CuPy. All
    skipped is a failure."""
    if not has_package(part):
        return
    # Warnings of other packages are theirs: the versions here may be any.
    options = ["-q", "-W", "default", "-p", "no:cacheprovider", "-p", "no:xdist"]
    for test in TESTS:
        step = test.rsplit("/", 1)[1]
        text = part.run(step, program(part, RUN, "pytest", *options, test), **path_of(part))
        counts = outcome(part.printed[step])
        part.add(step, **counts)
        if text is not None and counts["passed"] == 0:
            part.fail(step, "nothing ran")


def training(part: Part) -> None:
    """Proximal policy optimization with solves and networks on the GPU: the reward curve, and steps
    per second."""
    if not has_package(part):
        return
    seconds = 3 if DRY else 0.85 * part.limit - 10  # then the last update ends
    step = "ppo"
    text = part.run(step, program(part, RUN, HERE / "train_for.py", seconds), **path_of(part))
    lines = lines_of_json(part.printed[step])
    curve = [line for line in lines if "steps" in line]
    part.add(step, settings=[line for line in lines if "env" in line], curve=thinned(curve))
    if text is not None and not curve:
        part.fail(step, "nothing ran")
    if curve:
        last = curve[-1]
        print(f"training: {last['steps']:,.0f} steps, {last['steps_per_second']:,.0f} per second, "
              f"return {last.get('return', float('nan')):.0f}")  # fmt: skip


def thinned(curve: list[dict], points: int = 60) -> list[dict]:
    """At most that many points of a curve, the last one included."""
    step = max(1, -(-len(curve) // points))
    return curve[::-1][::step][::-1]
