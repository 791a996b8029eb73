"""The part engines: mujoco_warp's own step and this library's, in worlds of robots."""

import shutil
import sys

from part import BUNDLE, DRY, HERE, UNPACKED, Part, lines_of_json
from profiler import SHOWN, launches_of, ncu

PIECES = UNPACKED / "pieces"
CACHE = {"WARP_CACHE_PATH": UNPACKED / "warp-cache"}  # of the kernels that Warp compiles
PROFILED = [("humanoid", "coulomb"), ("humanoid", "convex"), ("ant", "coulomb")]
FOR_KERNELS = 40.0  # s, of them


def keep_pieces() -> None:
    """Keeps the pieces that are here: they may be too large to be carried all at once."""
    for piece in sorted((BUNDLE / "engines").glob("*/engines.tar.xz.*")):
        target = PIECES / piece.name
        if not target.exists() or target.stat().st_mtime < piece.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(piece, target)


def unpacked(part: Part) -> bool:
    """Whether the engines are here; puts their pieces together."""
    names = sorted(piece.name for piece in PIECES.glob("engines.tar.xz.*"))
    if not names:
        part.store("pieces", "not run (no engines here: make gpu-bundle, gpu-bundle/engines)")
        return False
    expected = int(names[0].rsplit("-of-", 1)[1])
    if len(names) != expected:
        part.store("pieces", f"failed ({len(names)} of {expected} are here: bring the others)")
        return False
    folder = UNPACKED / "engines"
    newest = max((PIECES / name).stat().st_mtime for name in names)
    done = folder / "done"
    if done.exists() and done.stat().st_mtime >= newest:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    whole = UNPACKED / "engines.tar.xz"
    with whole.open("wb") as file:
        for name in names:
            file.write((PIECES / name).read_bytes())
    if part.run("unpack", ["tar", "-xJf", whole, "-C", folder], 60) is None:
        return False
    whole.unlink()
    done.touch()
    return True


def kernels_of_steps(part: Part) -> None:
    """The kernels of a step with their times, the longest first: where a step's time goes."""
    path = f"{part.session.site}:{UNPACKED / 'engines' / 'site'}"
    for robot, law in PROFILED:
        step = f"kernels of {robot} {law}"
        command = [*ncu(), "--metrics", SHOWN["us"], "--csv", "--page", "raw", sys.executable,
                   HERE / "engine_steps.py", "--child", "kernels", UNPACKED / "engines", robot,
                   4096, law]  # fmt: skip
        text = part.run(step, command, 30, PYTHONPATH=path, **CACHE)
        part.add(step, launches=launches_of(text or "")[:40])


def engines(part: Part) -> None:
    """Steps per second of both, verdicts, and the drift of a box on a slope."""
    if part.session.site is None:
        part.store("package", "not run (the Python package was not carried here)")
        return
    if not unpacked(part):
        return
    seconds = part.left() - 5 - (0 if DRY else FOR_KERNELS)
    command = [sys.executable, HERE / "engine_steps.py", UNPACKED / "engines", part.session.site,
               seconds]  # fmt: skip
    part.run("steps", command, **CACHE)
    part.add_values("steps", lines_of_json(part.printed["steps"]))
    print(part.printed["steps"])
    if not DRY:
        kernels_of_steps(part)
