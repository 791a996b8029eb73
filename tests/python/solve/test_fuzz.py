"""Random use of the entry points: a clear error, or a result that satisfies the contract."""

import contextlib
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracle import bound, oracle

import stickslip
from stickslip import Status

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)
ARGUMENTS = (
    *("W", "b", "mu", "R", "lo", "hi", "warm_start", "dims", "counts", "n_free", "n_nonneg"),
    *("law", "solver", "precision", "tol", "options", "backend", "threads"),
)
LAWS = st.sampled_from(["coulomb", "convex", "box", "frictionless"])
NASTY = st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, 0.0, -1.0, 1e30])
NUMBERS = st.one_of(st.floats(-10, 10), NASTY)


@st.composite
def problems(draw, numbers=NUMBERS):
    """Batches of valid shape with arbitrary contents, some of them invalid."""
    num_envs = draw(st.integers(0, 4))
    dims = draw(st.lists(st.sampled_from([3, 3, 4, 6]), max_size=3))
    n_free, n_nonneg, n_box = draw(st.tuples(*[st.integers(0, 2)] * 3))
    n = n_free + n_nonneg + n_box + sum(dims)

    def array(*shape):
        return draw(hnp.arrays(np.float64, shape, elements=numbers))

    half = array(num_envs, n, n)
    arguments = {
        "W": half @ half.transpose(0, 2, 1) if draw(st.booleans()) else half,
        "b": array(num_envs, n),
        "mu": array(num_envs, len(dims)),
        "dims": np.array(dims, int),
        "n_free": n_free,
        "n_nonneg": n_nonneg,
        "lo": array(num_envs, n_box),
        "hi": array(num_envs, n_box),
    }
    if draw(st.booleans()):
        arguments["R"] = np.abs(array(num_envs, n))
    if draw(st.booleans()):
        arguments["counts"] = draw(hnp.arrays(np.int64, num_envs, elements=st.integers(0, 4)))
    return arguments


@SETTINGS
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(problems(), LAWS, st.sampled_from(["auto", "pgs"]))
def test_any_numbers_give_an_honest_verdict(arguments, law, solver):
    solution = stickslip.solve(**arguments, law=law, solver=solver)
    assert np.isfinite(solution.impulse).all()
    assert all(Status(s) for s in solution.status if s)
    refused = np.isin(solution.status, (Status.bad_input, Status.over_capacity))
    assert not solution.impulse[refused].any()
    assert np.isinf(solution.residual[refused]).all()
    judged = oracle(arguments, solution.impulse, law)
    limit = bound({"b": only_used_rows(arguments)}, 1e-9)
    scale = judged_scale(arguments, solution.impulse)
    assert np.all(judged[solution.ok] <= (limit + 1e-12 * scale)[solution.ok])


def only_used_rows(arguments):
    """b with zeros in the rows that an environment does not use: they are never read."""
    b, dims = arguments["b"], arguments["dims"]
    fixed = arguments["n_free"] + arguments["n_nonneg"] + arguments["lo"].shape[1]
    ends = fixed + np.concatenate([[0], np.cumsum(dims)])
    counts = np.minimum(arguments.get("counts", np.full(len(b), len(dims))), len(dims))
    return np.where(np.arange(b.shape[1]) < ends[counts][:, None], b, 0.0)


def judged_scale(arguments, impulse):
    """Size of the terms that cause the residual's rounding errors."""
    with np.errstate(all="ignore"):
        terms = np.abs(arguments["W"]) @ np.abs(impulse)[..., None]
        mu = np.abs(arguments["mu"]).max(axis=1, initial=1.0)
        return np.nan_to_num(terms.max(axis=(1, 2), initial=0.0) * mu, nan=np.inf)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.integers(-3, 9), max_size=4),
    st.just(object()),
    st.just({}),
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int8, np.uint64, bool, complex, "U2"]),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
)


@contextlib.contextmanager
def refusals_by_name():
    """Accepts only errors whose message names an argument."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if not re.match(r"[\w.]+(, \w+)?: (expected|\d+ rows too few)", str(error)):
            raise


@SETTINGS
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(st.sampled_from(ARGUMENTS), ODD)
def test_odd_arguments_are_refused_by_name_or_make_sense(name, value):
    W = np.tile(np.eye(6), (2, 1, 1))
    arguments = {"W": W, "b": np.full((2, 6), -1.0), "mu": np.full((2, 2), 0.5), name: value}
    with refusals_by_name():
        assert isinstance(stickslip.solve(**arguments), stickslip.Solution)


@SETTINGS
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(problems(), st.integers(0, 2**32 - 1))
def test_order_and_neighbours_do_not_matter(arguments, seed):
    num_envs = len(arguments["b"])
    order = np.random.default_rng(seed).permutation(num_envs)
    shuffled = {
        k: v[order] if isinstance(v, np.ndarray) and k != "dims" else v
        for k, v in arguments.items()
    }
    first, second = stickslip.solve(**arguments), stickslip.solve(**shuffled)
    assert first.impulse[order].tobytes() == second.impulse.tobytes()
    assert first.status[order].tolist() == second.status.tolist()


@SETTINGS
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(st.sampled_from(["M", "J", "impulse", "v_free", "counts", "threads"]), ODD)
def test_odd_mechanisms_are_refused_by_name_or_make_sense(name, value):
    arguments = {
        "M": np.tile(np.eye(3), (2, 1, 1)),
        "J": np.ones((2, 4, 3)),
        "impulse": np.ones((2, 4)),
        "v_free": np.ones((2, 3)),
        name: value,
    }
    with refusals_by_name():
        assert stickslip.apply_impulse(**arguments).shape[-1] == 3
