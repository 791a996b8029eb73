"""The workspaces that calls of Python and of XLA share: forks, signals."""

import subprocess
import sys

import numpy as np
import pytest

import stickslip
from stickslip import _core

FORKS = """
import os, sys, threading
import numpy as np
import stickslip

W, b = np.tile(np.eye(6), (4, 1, 1)), -np.ones((4, 6))
expected = stickslip.solve(W, b, 0.5, threads=1).impulse
going = True


def call():
    while going:
        for n in (3, 6):
            stickslip.solve(W[:, :n, :n], b[:, :n], 0.5, threads=1)


def fork():
    child = os.fork()
    if child == 0:
        for _ in range(20):
            same = (stickslip.solve(W, b, 0.5, threads=1).impulse == expected).all()
        os._exit(0 if same else 1)
    return os.waitpid(child, 0)[1]


threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
failed = [status for status in (fork() for _ in range(100)) if status]
going = False
for thread in threads:
    thread.join()
sys.exit(len(failed))
"""

INTERRUPTED = """
import os, signal, sys, threading, time
import jax
import numpy as np
import stickslip
import stickslip.jax

rng = np.random.default_rng(0)
J = rng.normal(size=(2000, 60, 70)).astype(np.float32)
W, b = J @ J.transpose(0, 2, 1) / 60, rng.normal(size=(2000, 60)).astype(np.float32)
options = stickslip.SolveOptions(max_sweeps=300, fixed_sweeps=True)
kind = {"solver": "pgs", "precision": "float32", "options": options, "threads": 1}
one = jax.jit(lambda W, b: stickslip.jax.solve(W, b, 0.5, **kind))
warm = one(W[:1], b[:1]).impulse.block_until_ready()
# A call of XLA leaves its workspace to one of Python, whose calls Ctrl-C ends.
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        stickslip.solve(W, b, 0.5, **kind)
except KeyboardInterrupt:
    print("stopped")
# The other way: nothing interrupts a call of XLA.
signal.signal(signal.SIGINT, signal.default_int_handler)
expected = stickslip.solve(W, b, 0.5, **kind).impulse
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    got = one(W, b).impulse.block_until_ready()
    time.sleep(1.0)
except KeyboardInterrupt:
    got = one(W, b).impulse
print("complete", np.array_equal(got, expected))
"""


def run(program):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120
    )


def test_a_child_of_a_fork_takes_workspaces_while_threads_use_them():
    ran = run(FORKS)
    assert ran.returncode == 0, ran.stderr


def test_signals_end_calls_of_python_alone():
    pytest.importorskip("jax", reason="JAX is in the extra `jax`")
    if not _core.jax_targets():
        pytest.skip("built where JAX was not installed")
    ran = run(INTERRUPTED)
    assert ran.stdout.split() == ["stopped", "complete", "True"], ran.stdout + ran.stderr


def test_a_bound_solver_refuses_what_it_would_read_or_write_wrongly():
    torch = pytest.importorskip("torch")
    W, b = np.eye(3)[None], torch.ones((1, 3), dtype=torch.float64)
    with pytest.raises(TypeError, match="b: expected numbers as they are in memory, got a negated"):
        stickslip.BoundSolver(W=W, b=torch._neg_view(b), mu=0.5)
    jnp = pytest.importorskip("jax.numpy")
    frozen = jnp.zeros((1, 3))
    with pytest.raises(TypeError, match="expected a writable array, got an array of JAX"):
        stickslip.BoundSolver(W=W, b=b, mu=0.5, out={"impulse": frozen})
