"""Time of calls of stickslip.torch and stickslip.jax beside that of a BoundSolver, whose call does
little more than solve. The calls alternate; minimum and median are of rounds.

    python bench/run_adapters.py torch
    python bench/run_adapters.py jax
"""

import argparse
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

import stickslip

SIZES = ((1, 1), (1, 4), (64, 4), (1024, 4))  # environments, contacts
FRICTION = 0.6
Calls = dict[str, Callable[[], Any]]


def problem(num_envs: int, contacts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W, b and mu of bodies with 18 degrees of freedom."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(num_envs, 3 * contacts, 18))
    b = rng.normal(size=(num_envs, 3 * contacts))
    b[:, ::3] -= 0.5
    return J @ J.transpose(0, 2, 1) / 18, b, np.full((num_envs, 2 * contacts), FRICTION)


def numpy_calls(W: np.ndarray, b: np.ndarray, mu: np.ndarray) -> Calls:
    return {
        "BoundSolver": stickslip.BoundSolver(W=W, b=b, mu=mu, threads=1),
        "stickslip.solve": lambda: stickslip.solve(W, b, mu, threads=1),
    }


def torch_calls(W: np.ndarray, b: np.ndarray, mu: np.ndarray) -> Calls:
    import torch

    import stickslip.torch as adapter

    torch.set_num_threads(1)
    given = [torch.from_numpy(array) for array in (W, b, mu)]
    one = [tensor[0] for tensor in given]
    compiled = torch.compile(lambda *all: adapter.solve(*all, threads=1).impulse, fullgraph=True)
    return {
        "solve": lambda: adapter.solve(*given, threads=1),
        "solve, mu a number": lambda: adapter.solve(*given[:2], FRICTION, threads=1),
        "solve, one problem": lambda: adapter.solve(*one, threads=1),
        "in a compiled function": lambda: compiled(*given),
        "operator": lambda: torch.ops.stickslip.solve.default(*operands(given)),
        "torch.BoundSolver": adapter.BoundSolver(W=given[0], b=given[1], mu=given[2], threads=1),
    }


def operands(given: list[Any]) -> tuple[Any, ...]:
    """Arguments of the operator that `torch.compile` puts into its graphs."""
    from stickslip._src.settings import settings_of

    layout = (given[1].shape[-1], None, None, 0, 0, 0, None)
    return (
        *given,
        *[None] * 6,
        settings_of(layout, ("coulomb", "auto", "float64", None, None)).text,
        1,
    )


def jax_calls(W: np.ndarray, b: np.ndarray, mu: np.ndarray) -> Calls:
    import jax

    jax.config.update("jax_enable_x64", True)
    import stickslip.jax as adapter

    given = [jax.numpy.asarray(array) for array in (W, b, mu)]
    empty = jax.jit(lambda W, b, mu: b + 1.0)
    all_results = jax.jit(lambda W, b, mu: adapter.solve(W, b, mu, threads=1))
    impulse = jax.jit(lambda W, b, mu: adapter.solve(W, b, mu, threads=1).impulse)
    return {
        "an empty jit": lambda: empty(*given).block_until_ready(),
        "in jit, impulse": lambda: impulse(*given).block_until_ready(),
        "in jit, all results": lambda: all_results(*given).impulse.block_until_ready(),
        "without jit": lambda: adapter.solve(*given, threads=1).impulse.block_until_ready(),
    }


def alternate(calls: Calls, count: int, rounds: int) -> dict[str, list[float]]:
    """Microseconds of each call: `rounds` means over `count` calls."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append(1e6 * (time.perf_counter() - start) / count)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", choices=("torch", "jax"))
    parser.add_argument("--rounds", type=int, default=41)
    arguments = parser.parse_args()
    name = arguments.framework
    print(f"{name} {version(name)}, numpy {np.__version__}; microseconds, minimum and median")
    for num_envs, contacts in SIZES:
        arrays = problem(num_envs, contacts)
        calls = numpy_calls(*arrays) | (torch_calls if name == "torch" else jax_calls)(*arrays)
        for call in calls.values():
            call()
        times = alternate(calls, max(3, 300 // num_envs), arguments.rounds)
        print(f"\n{num_envs} environments of {contacts} contacts")
        for each, taken in times.items():
            print(f"  {each:24} {min(taken):9.1f} {statistics.median(taken):9.1f}")


if __name__ == "__main__":
    main()
