"""Use of the package by several threads, after a fork, and ended by Ctrl-C."""

import multiprocessing
import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest
from comparison import Comparison
from problems import small_problems
from sim_models import FALLING

import stickslip
from stickslip import BatchSim, BoundSolver, Status, solve

RNG = np.random.default_rng(0)


def batch(num_envs=400, contacts=4):
    n = 3 * contacts
    J = RNG.normal(size=(num_envs, n, 18))
    return {"W": J @ J.transpose(0, 2, 1), "b": RNG.normal(size=(num_envs, n)), "mu": 0.7}


def jammed(num_envs=6, n=900):
    """Contacts that press against each other: each takes seconds to solve."""
    J = RNG.normal(size=(n, n // 3))
    J[n // 2 :] = -J[: n // 2]
    W, b = J @ J.T, J @ RNG.normal(size=n // 3) - 0.1
    return {"W": np.tile(W, (num_envs, 1, 1)), "b": np.tile(b, (num_envs, 1)), "mu": 0.7}


def wide_lcp(n=3000):
    """An LCP with a solution, that takes some n / 2 pivots of n^2 multiplications."""
    A = RNG.normal(size=(n, n))
    return {"M": (A @ A.T / n + 1e-3 * np.eye(n))[None], "q": RNG.normal(size=(1, n))}


# Threads.


def run_in_threads(count, work):
    """The exceptions that `work(i)` raised."""
    raised = []

    def guarded(i):
        try:
            work(i)
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def require_refusals(raised, name):
    message = f"{name}: a call is under way in another thread; use one {name} per thread"
    for error in raised:
        assert isinstance(error, RuntimeError)
        assert str(error) == message


def test_threads_that_share_a_simulation_lose_no_step_silently():
    sim, alone = (BatchSim(FALLING, num_envs=64, threads=2) for _ in range(2))
    steps = [0] * 4

    def work(i):
        for _ in range(100):
            try:
                sim.step()
            except RuntimeError:
                continue
            finally:
                steps[i] += 1
            made[i] += 1

    made = [0] * 4
    assert not run_in_threads(4, work)
    for _ in range(sum(made)):
        alone.step()
    assert steps == [100] * 4
    assert (sim.qpos == alone.qpos).all()
    assert round(sim.time[0] / sim.timestep) == sum(made)


@pytest.mark.parametrize(
    "call",
    [
        lambda sim: sim.step(np.zeros(0)),
        lambda sim: sim.reset(),
        lambda sim: sim.forward(),
        lambda sim: sim.vary("geom_friction", np.ones((64, 2, 3))),
        lambda sim: sim.contacts(0),
        lambda sim: sim.problem(0),
    ],
)
def test_a_simulation_under_way_refuses_other_calls(call):
    sim = BatchSim(FALLING, num_envs=64, threads=1)
    sim.step()
    stepping = threading.Thread(target=lambda: sim.step(substeps=2000))
    stepping.start()
    under_way = False
    while not under_way:
        try:
            sim._core.require_idle()
        except RuntimeError:
            under_way = True
    with pytest.raises(RuntimeError, match="BatchSim: a call is under way in another thread"):
        call(sim)
    stepping.join()
    call(sim)


def test_threads_that_share_a_bound_solver_are_told():
    solver = BoundSolver(**batch() | {"mu": np.full((400, 8), 0.7)}, threads=1)
    expected = solver().impulse.copy()
    wrong = []

    def work(_):
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            solver()
            wrong.append(not (solver.out.impulse == expected).all())

    raised = run_in_threads(3, work)
    assert raised
    require_refusals(raised, "BoundSolver")
    assert (solver().impulse == expected).all()


def test_threads_may_call_solve_at_once():
    problems = [batch(contacts=c) for c in (1, 2, 4)]
    expected = [solve(**p).impulse for p in problems]

    def work(i):
        for _ in range(20):
            impulse = solve(**problems[i % 3], threads=1 + i % 2).impulse
            assert (impulse == expected[i % 3]).all()

    assert not run_in_threads(6, work)


# Forks.


def in_a_child(work):
    """Forks, and returns the result of `work` there, or None after a minute."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=lambda: theirs.send(work()))
    child.start()
    theirs.close()
    answer = ours.recv() if ours.poll(60) else None
    child.kill()
    child.join()
    return answer


def test_solves_go_on_in_the_child_of_a_fork():
    problem = batch()
    solver = BoundSolver(**problem | {"mu": np.full((400, 8), 0.7)}, threads=2)

    def work():
        found = solve(**problem, threads=2)
        lcp = stickslip.solve_lcp(problem["W"] + np.eye(12), problem["b"], threads=2)
        W = stickslip.delassus(np.eye(12), problem["W"], threads=2)
        return found.impulse, solver().impulse.copy(), lcp.z, W

    expected = work()
    answer = in_a_child(work)
    assert answer is not None, "the child hangs"
    for ours, theirs in zip(expected, answer, strict=True):
        assert (ours == theirs).all()


@pytest.mark.parametrize("law", ["coulomb", "mujoco"])
def test_simulations_go_on_in_the_child_of_a_fork(law):
    sim = BatchSim(FALLING, num_envs=16, law=law, threads=2)
    sim.vary("geom_friction", RNG.uniform(0.2, 1, (16, 2, 1)) * [1, 0.005, 0.0001])
    sim.qvel[:] = RNG.normal(size=sim.qvel.shape)

    def work():
        for _ in range(30):
            sim.step()
        sim.reset(np.arange(16) < 4)
        sim.vary("body_mass", np.tile([0.0, 2.0], (16, 1)))
        sim.qpos[0, 0] = np.nan  # recovered by a reset
        sim.step(substeps=3)
        fresh = BatchSim(FALLING, num_envs=16, law=law, threads=2)
        fresh.step(substeps=60)
        forces = [c["force"] for env in range(16) for c in sim.contacts(env)]
        return sim.qpos.copy(), sim.status.copy(), fresh.qpos.copy(), np.array(forces)

    answer = in_a_child(work)
    assert answer is not None, "the child hangs"
    for ours, theirs in zip(work(), answer, strict=True):
        assert (ours == theirs).all()


# Ctrl-C.


@pytest.fixture
def interrupt():
    """`interrupt()` lets SIGINT come after 0.3 s; `interrupt.sent` is when it came."""

    def send():
        start.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)

    def start():
        timer.start()

    yield start
    timer.cancel()


def simulation():
    return partial(BatchSim(FALLING, num_envs=8, threads=2).step, substeps=2_000_000)


def comparison():
    compared = Comparison(modules=[])
    problem = jammed(1)
    compared.add_arrays("jam", problem["W"][0], problem["b"][0], problem["mu"])
    return compared.run


def mixed_lcp(n=1200):
    random = np.random.default_rng(0)
    return random.normal(size=(1, n, n)), np.ones((1, n))


def endless_mncp(n=1000):
    def values(x, w, env):
        return np.sin(x) - 2, w  # never both y >= 0 and x >= 0

    endless = stickslip.MncpOptions(max_newton=10**6, restarts=10**6)
    jacobian = 1e-9 * np.eye(n)
    return partial(
        stickslip.solve_mncp, values, lambda x, w, env: jacobian, x=np.ones(n), options=endless
    )


# Each builds its input and returns the long call.
LONG = {
    "solve": lambda: partial(solve, **jammed()),
    "solve on one thread": lambda: partial(solve, **jammed(), threads=1),
    "one problem": lambda: partial(solve, **jammed(1, n=1500)),
    "small problems": lambda: partial(solve, **small_problems(5_000_000), tol=1e-300),
    "sweeps": lambda: partial(
        solve,
        **jammed(1),
        solver="pgs",
        options=stickslip.SolveOptions(max_sweeps=10**6, fixed_sweeps=True),
    ),
    "pyramid": lambda: partial(solve, **jammed(2, n=1500), law="pyramid"),
    "solve_lcp": lambda: partial(stickslip.solve_lcp, **wide_lcp()),
    "solve_mncp": endless_mncp,
    "delassus": lambda: partial(stickslip.delassus, np.eye(900), jammed(100)["W"]),
    "standard_form": lambda: partial(stickslip.standard_form, *mixed_lcp(), n_free=900),
    "BoundSolver": lambda: BoundSolver(**jammed() | {"mu": np.full((6, 600), 0.7)}),
    "BatchSim": simulation,
    "compare": comparison,
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_long_calls(name, interrupt):
    work = LONG[name]()
    interrupt()
    with pytest.raises(KeyboardInterrupt):
        work()
    took = time.monotonic() - interrupt.sent
    assert took < 2.0  # 0.1 s on an idle machine
    assert (solve(**batch()).status == Status.solved).any()


def test_an_interrupted_simulation_stands_where_substeps_ended(interrupt):
    sim, other = (BatchSim(FALLING, num_envs=4, threads=2) for _ in range(2))
    interrupt()
    with pytest.raises(KeyboardInterrupt):
        sim.step(substeps=2_000_000)
    steps = np.rint(sim.time / sim.timestep).astype(int).ravel()
    assert (steps > 0).all()
    assert (steps < 2_000_000).all()
    for env in range(4):
        other.reset()
        other.step(substeps=int(steps[env]))
        assert (sim.qpos[env] == other.qpos[env]).all()
    sim.step()
