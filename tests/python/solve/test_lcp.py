"""solve_lcp: problems from the literature, batches, and messages for bad arguments."""

import lcp_families
import numpy as np
import pytest
from problems import random_batch

import stickslip
from stickslip import LcpMethod, LcpOptions, Status, _compare, solve_lcp
from stickslip._src.batch import assemble

# All paths of Lemke end on a ray; a solution exists.
NO_LEMKE = {"bimatrix", "drake_problem4_bimatrix"}
# Stalls at a local minimum; diverges along free rows that depend on each other.
NO_NEWTON = {"murty_2_11", "quantecon_murty_2_11", "equalities_redundant"}


def arguments(collection):
    """(name, arguments of solve_lcp, whether a solution exists) of every problem."""
    for problem in lcp_families.load(collection):
        data = {key: value for key, value in problem.arguments.items() if value is not None}
        yield problem.name, data, problem.stored is not None


def natural_map(z, M, q, n_free=0, lo=None, hi=None, findex=None):
    """max |z - clip(z - w, lo, hi)|, implemented again in numpy."""
    lo = np.zeros(len(q)) if lo is None else lo.copy()
    hi = np.full(len(q), np.inf) if hi is None else hi.copy()
    lo[:n_free], hi[:n_free] = -np.inf, np.inf
    if findex is not None:
        scaled = (findex >= 0) & (np.arange(len(q)) >= n_free)
        lo[scaled] *= np.maximum(0, z[findex[scaled]])
        hi[scaled] *= np.maximum(0, z[findex[scaled]])
    return np.abs(z - np.clip(z - (M @ z + q), lo, hi)).max(initial=0.0)


def oracle(z, M, q, n_free=0, lo=None, hi=None, findex=None, cfm=0.0):
    """The same by the reference implementation."""
    out = np.zeros(1)
    rows = np.array([[len(q), n_free]], np.int32)
    vectors = {"M": M, "q": q, "lo": lo, "hi": hi, "findex": findex, "z": z}
    arrays = {name: None if v is None else v[None] for name, v in vectors.items()}
    _compare.reference_lcp_residual(arrays | {"rows": rows}, {"residual": out}, cfm)
    return out[0]


def rounding(z, M, q, **_):
    """The largest effect of the rounding of M z + q on a residual."""
    return 4e-16 * len(q) * (np.abs(M) @ np.abs(z) + np.abs(q)).max()


@pytest.mark.parametrize("method", ["auto", "lemke", "newton"])
@pytest.mark.parametrize("collection", lcp_families.COLLECTIONS)
def test_problems_of_others(collection, method):
    unsolved = []
    for name, data, solvable in arguments(collection):
        # The rounding error of 390 = max |M||z| may be 1e-11 there.
        tol = 1e-10 if name == "siconos_deltasigma" else 1e-12
        solution = solve_lcp(**data, method=method, tol=tol)
        slack = rounding(solution.z, **data)
        residual = natural_map(solution.z, **data)
        limit = tol * (1 + np.abs(data["q"]).max())
        for exact in (residual, oracle(solution.z, **data)):  # except for their own rounding
            assert exact <= solution.residual + slack, name
            assert solution.residual <= exact + 4 * slack + 1e-12 * residual, name
        assert solution.ok == (solution.residual <= limit), name
        if solution.ok:
            assert solvable, f"{name} has no solution"
            assert residual <= limit + slack, name
        elif solvable:
            unsolved.append(name)
        else:
            assert solution.status in (Status.infeasible, Status.not_converged), name
    if method == "auto":
        assert unsolved == []
    elif method == "lemke":
        assert set(unsolved) <= NO_LEMKE
    else:
        assert set(unsolved) <= NO_NEWTON


@pytest.mark.parametrize("collection", lcp_families.COLLECTIONS)
def test_problems_of_others_in_float(collection):
    for name, data, solvable in arguments(collection):
        solution = solve_lcp(**data, precision="float32")
        assert solution.ok == solvable, name
        if solvable:
            assert natural_map(solution.z, **data) <= 1.1e-5 * (1 + np.abs(data["q"]).max()), name


def test_exponential_problems_take_few_pivots():
    for name, data, _ in arguments("exponential"):
        solution = solve_lcp(**data, method="lemke")
        assert solution.ok
        assert solution.iterations <= 100 + 20 * len(data["q"]), name


def test_batch_is_what_its_environments_are_alone():
    rng = np.random.default_rng(0)
    num_envs, n = 20, 12
    J = rng.normal(size=(num_envs, n, 8))
    M = J @ J.transpose(0, 2, 1)
    q = (J @ rng.normal(size=(num_envs, 8, 1)))[..., 0]
    counts, n_free = rng.integers(4, n + 1, num_envs), rng.integers(0, 4, num_envs)
    hi = np.full(n, 1.5)
    batch = solve_lcp(M, q, counts=counts, n_free=n_free, hi=hi)
    assert batch.ok.all()
    assert batch.status_counts == {"solved": num_envs}
    for e, k in enumerate(counts):
        alone = solve_lcp(np.ascontiguousarray(M[e, :k, :k]), q[e, :k], n_free=n_free[e], hi=hi[:k])
        assert batch.z[e, :k].tobytes() == alone.z.tobytes()
        assert not batch.z[e, k:].any()
        np.testing.assert_allclose(batch.w[e, :k], M[e, :k, :k] @ alone.z + q[e, :k], atol=1e-12)
    for threads in (1, 3):
        again = solve_lcp(M, q, counts=counts, n_free=n_free, hi=hi, threads=threads)
        assert again.z.tobytes() == batch.z.tobytes()


def test_one_problem_cfm_start_and_budget():
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    solution = solve_lcp(M, q)
    np.testing.assert_allclose(solution.z, [4 / 3, 7 / 3], rtol=1e-14)
    assert solution.status is Status.solved
    assert solution.method is LcpMethod.lemke
    assert repr(solution).startswith("LcpSolution(solved, residual ")
    soft = solve_lcp(M, q, cfm=0.5)
    np.testing.assert_allclose((M + np.diag([1.0, 1.0])) @ soft.z, -q, rtol=1e-14)
    assert oracle(soft.z, M, q, cfm=0.5) <= 1e-12
    assert solve_lcp(M, q, start=solution.z).iterations == 0
    one = LcpOptions(max_pivots=1, restarts=0)
    assert solve_lcp(M, q, method="lemke", options=one).status is Status.not_converged
    assert solve_lcp(M, q, method="lemke", options=LcpOptions(atol=10.0)).iterations == 0


GOOD = {
    "M": np.tile(np.eye(4), (3, 1, 1)),
    "q": -np.ones((3, 4)),
    "lo": -np.ones(4),
    "hi": np.ones(4),
    "findex": np.array([-1, -1, 0, 0]),
}


@pytest.mark.parametrize(
    ("error", "start", "changes"),
    [
        (ValueError, "M: expected shape (E, n, n)", {"M": np.zeros((3, 4, 5))}),
        (TypeError, "M: expected float32 or float64, got <U1", {"M": np.zeros((3, 4, 4), "U1")}),
        (ValueError, "q: expected shape (3, 4), got (4,)", {"q": np.zeros(4)}),
        (TypeError, "lo: expected float64, as M has", {"lo": np.zeros(4, np.float32)}),
        (ValueError, "hi: expected shape (3, 4) or (4,), got (5,)", {"hi": np.zeros(5)}),
        (ValueError, "findex: expected None unless lo and hi", {"lo": None}),
        (ValueError, "findex: expected shape (3, 4) or (4,)", {"findex": np.zeros(3, int)}),
        (TypeError, "findex: expected integers", {"findex": np.zeros(4)}),
        (
            ValueError,
            "findex: expected -1 or the index of another row, got 4 for row 1 of environment 2",
            {"findex": np.array([[-1] * 4, [-1] * 4, [-1, 4, -1, -1]])},
        ),
        (
            ValueError,
            "findex: expected -1 or the index of another row, got 3 for row 3 of environment 0",
            {"findex": np.array([-1, -1, -1, 3])},
        ),
        (
            ValueError,
            "counts: expected numbers >= 0, got -2 in environment 1",
            {"counts": [4, -2, 4]},
        ),
        (ValueError, "counts: expected shape (3,)", {"counts": [4, 4]}),
        (
            ValueError,
            "n_free: expected 0 to 2, the rows in use, got 3 in environment 1",
            {"counts": [4, 2, 4], "n_free": [0, 3, 0]},
        ),
        (TypeError, "n_free: expected integers", {"n_free": 1.5}),
        (ValueError, "method: expected one of 'auto', 'lemke', 'newton'", {"method": "pgs"}),
        (ValueError, "precision: expected one of 'float64', 'float32'", {"precision": "mixed"}),
        (ValueError, "cfm: expected a number >= 0, got -1", {"cfm": -1}),
        (TypeError, "cfm: expected a number, got str", {"cfm": "0"}),
        (ValueError, "tol: expected a number > 0", {"tol": 0.0}),
        (ValueError, "tol: expected None", {"tol": 1e-9, "options": LcpOptions(atol=1.0)}),
        (TypeError, "options: expected LcpOptions", {"options": stickslip.SolveOptions()}),
        (ValueError, "options.max_pivots", {"options": LcpOptions(max_pivots=0)}),
        (ValueError, "options.restarts", {"options": LcpOptions(restarts=-1)}),
        (ValueError, "threads: expected an integer >= 1", {"threads": 0}),
        (ValueError, "start: expected shape", {"start": np.zeros(3)}),
    ],
)
def test_messages(error, start, changes):
    with pytest.raises(error) as caught:
        solve_lcp(**(GOOD | changes))
    assert str(caught.value).startswith(start), str(caught.value)


def test_a_bad_environment_harms_no_other():
    clean = solve_lcp(**GOOD)
    assert clean.ok.all()
    for name, index, value in [("M", (1, 2, 3), np.nan), ("q", (1, 0), np.inf)]:
        arguments = {key: array.copy() for key, array in GOOD.items()}
        arguments[name][index] = value
        dirty = solve_lcp(**arguments)
        assert dirty.status[1] == Status.bad_input
        assert np.isinf(dirty.residual[1])
        assert not dirty.z[1].any()
        assert dirty.z[[0, 2]].tobytes() == clean.z[[0, 2]].tobytes()
    wide = solve_lcp(**GOOD, counts=[4, 2**40, 4])
    assert wide.status[1] == Status.over_capacity
    assert wide.z[[0, 2]].tobytes() == clean.z[[0, 2]].tobytes()


def test_float_arrays():
    single = {k: v.astype(np.float32) if k != "findex" else v for k, v in GOOD.items()}
    solution = solve_lcp(**single, precision="float32")
    assert solution.z.dtype == np.float32
    assert solution.ok.all()
    with pytest.raises(TypeError, match="M: expected float64 because precision"):
        solve_lcp(**single)


def test_empty():
    assert len(solve_lcp(np.zeros((0, 3, 3)), np.zeros((0, 3))).status) == 0
    nothing = solve_lcp(np.zeros((2, 0, 0)), np.zeros((2, 0)))
    assert nothing.ok.all()


@pytest.mark.parametrize("directions", [4, 8, 64])
def test_residual_of_pyramids_with_directions(directions):
    arguments = random_batch(3, num_envs=20)
    impulse = np.random.default_rng(4).normal(size=arguments["b"].shape)
    got = stickslip.residual(**arguments, r=impulse, law="pyramid", directions=directions)
    expected = np.zeros(20)
    arrays = assemble(**arguments).arrays | {"impulse": impulse}
    out = {"residual": expected}
    _compare.reference_residual(arrays, out, stickslip.Law.pyramid, directions)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_directions_are_a_power_of_two():
    arguments = random_batch(3, num_envs=1)
    with pytest.raises(ValueError, match=r"^directions: expected 4, 8, 16, 32 or 64, got 6"):
        stickslip.residual(**arguments, r=arguments["b"], law="pyramid", directions=6)
    with pytest.raises(ValueError, match=r"^options.directions: expected 4, 8, 16, 32 or 64"):
        stickslip.solve(**arguments, options=stickslip.SolveOptions(directions=128))
