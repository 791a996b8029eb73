"""What the parts of the GPU checks share: where things are, and a part's steps and results."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUNDLE = ROOT / "gpu-bundle"
# Not in the checkout, which may be copied anew for each command: what is unpacked here stays.
UNPACKED = Path(tempfile.gettempdir()) / "stickslip-gpu-check"
DRY = bool(os.environ.get("GPU_CHECK_DRY"))
JOBS = os.cpu_count() or 1
LOGGED = 100_000  # characters of a program's output in the log, from each end


def say(text: str) -> None:
    print(f"gpu-check: {text}", flush=True)


@dataclass
class Session:
    """One call of check.py: its programs, where results go, and this machine."""

    programs: Path  # bin/, lib/ and, with the Python package, site/
    out: Path
    machine: dict
    log: TextIO
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def site(self) -> Path | None:
        """The Python packages that were carried here; None: those that are installed."""
        folder = self.programs / "site"
        return folder if folder.exists() else None

    def execute(self, command: list, limit: float, **variables: object) -> tuple[str, object]:
        """What a program prints, and its exit status or "over N s"."""
        libraries = [str(self.programs / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        environment = os.environ | {
            "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),
            "PYTHONUNBUFFERED": "1",
            **{name: str(value) for name, value in variables.items()},
        }
        try:
            process = subprocess.Popen(
                [str(word) for word in command], cwd=ROOT, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                process_group=0,
            )  # fmt: skip
        except OSError as error:
            return str(error), "cannot run"
        try:
            return process.communicate(timeout=limit)[0], process.returncode
        except subprocess.TimeoutExpired:  # with all that it has started, as a profiler does
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0], f"over {limit:.0f} s"


class Part:
    """One part: its time limit, and its results so far, which are on disk after every step."""

    def __init__(self, session: Session, name: str, limit: float) -> None:
        self.session, self.name, self.limit = session, name, limit
        self.out = session.out
        self.begin = time.monotonic()
        self.steps: dict[str, dict] = {}
        self.printed: dict[str, str] = {}  # by step, also of one that failed

    def left(self) -> float:
        return self.limit - (time.monotonic() - self.begin)

    def program(self, name: str) -> Path:
        return self.session.programs / "bin" / name

    def store(self, step: str, result: str, **details: object) -> None:
        with self.session.lock:
            self.steps[step] = {"result": result, **details}
            report = {
                "machine": self.session.machine,
                "part": self.name,
                "seconds": round(time.monotonic() - self.begin, 1),
                "limit": self.limit,
                "steps": self.steps,
            }
            (self.out / f"{self.name}.json").write_text(json.dumps(report, indent=1) + "\n")

    def add(self, step: str, **details: object) -> None:
        """More about a step, its result unchanged."""
        known = dict(self.steps[step])
        self.store(step, known.pop("result"), **(known | details))

    def add_values(self, step: str, values: list, **details: object) -> None:
        """What a step has found; a step that passed without finding anything has failed."""
        self.add(step, values=values, **details)
        if not values and self.steps[step]["result"] == "passed":
            self.fail(step, "nothing ran")

    def fail(self, step: str, why: str) -> None:
        """Calls a step that passed failed, its details kept."""
        known = self.steps[step] | {"end": self.printed.get(step, "")[-1500:]}
        self.store(step, f"failed ({why})", **{k: known[k] for k in known if k != "result"})
        say(f"{self.name}: {step}: FAILED ({why})")

    def run(self, step: str, command: list, limit: float = 1e9, **variables: object) -> str | None:
        """What a program prints; None if it failed or the time was up."""
        limit = min(limit, self.left())
        self.printed[step] = ""
        if limit < 1:
            self.store(step, "not run (no time left)")
            return None
        start = time.monotonic()
        text, code = self.session.execute(command, limit, **variables)
        seconds = round(time.monotonic() - start, 1)
        self.printed[step] = text
        with self.session.lock:
            self.session.log.write(f"=== {self.name}: {step}: {' '.join(map(str, command))}\n")
            self.session.log.write(shortened(text) + "\n")
            self.session.log.flush()
        if code == 0:
            self.store(step, "passed", seconds=seconds)
            say(f"{self.name}: {step}: passed ({seconds} s)")
            return text
        self.store(step, f"failed ({code})", seconds=seconds, end=text[-1500:])
        say(f"{self.name}: {step}: FAILED ({code}) after {seconds} s\n{text[-1500:]}")
        return None

    def counts(self) -> tuple[int, int]:
        """Steps that passed and failed; the others were not run."""
        results = [str(step["result"]) for step in self.steps.values()]
        return (sum(r.startswith("passed") for r in results),
                sum(r.startswith("failed") for r in results))  # fmt: skip


def shortened(text: str) -> str:
    if len(text) <= 2 * LOGGED:
        return text
    return f"{text[:LOGGED]}\n... ({len(text) - 2 * LOGGED} characters)\n{text[-LOGGED:]}"


def lines_of_json(text: str) -> list[dict]:
    """The objects that a program printed, one per line; a last line may be cut off."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return found
