"""Bad input: a message that names the argument, or a verdict; other environments are unaffected."""

import numpy as np
import pytest
from problems import random_batch

import stickslip
from stickslip import Status

GOOD = random_batch(0, num_envs=5, n_nonneg=1, n_box=2)  # n = 12
N = GOOD["W"].shape[1]


class OnGpu:
    """An array of CuPy, PyTorch or JAX, as this library sees it."""

    def __init__(self, by_dlpack):
        if by_dlpack:
            self.__dlpack_device__ = lambda: (2, 0)
        else:
            self.__cuda_array_interface__ = {"shape": (5, 12), "typestr": "<f8", "version": 3}


def refused(error, start, **changes):
    with pytest.raises(error) as caught:
        stickslip.solve(**(GOOD | changes))
    assert str(caught.value).startswith(start), str(caught.value)
    return str(caught.value)


def test_the_example_is_good():
    assert stickslip.solve(**GOOD).ok.all()


@pytest.mark.parametrize("by_dlpack", [True, False])
@pytest.mark.parametrize("name", ["W", "b", "mu", "R", "lo", "hi", "warm_start", "dims", "counts"])
def test_device_arrays(name, by_dlpack):
    message = refused(
        TypeError, f"{name}: expected an array in host memory", **{name: OnGpu(by_dlpack)}
    )
    assert "OnGpu" in message


@pytest.mark.parametrize("name", ["W", "b", "mu", "R", "lo", "hi", "warm_start"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, object, ">f8", "U3"])
def test_types(name, dtype):
    value = np.zeros((5, N)) if name in ("R", "warm_start") else GOOD[name]
    if name == "W" and dtype == np.float32:  # then the others differ from W
        refused(TypeError, "lo: expected float32, as W has, got float64", W=value.astype(dtype))
    else:
        message = refused(TypeError, f"{name}: expected", **{name: value.astype(dtype)})
        assert message.endswith(f"got {np.dtype(dtype)}")


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("W", (N,)),
        ("W", (5, N, N + 1)),
        ("b", (5, N + 1)),
        ("b", (4, N)),
        ("b", (N,)),
        ("mu", (5, 4)),
        ("mu", (4, 3)),
        ("R", (5, N - 1)),
        ("lo", (5, 3)),
        ("hi", (4, 2)),
        ("warm_start", (5, 1)),
        ("dims", (4, 3)),
        ("counts", (4,)),
        ("counts", (5, 3)),
    ],
)
def test_shapes(name, shape):
    value = np.full(shape, 3) if name in ("dims", "counts") else np.zeros(shape)
    message = refused(ValueError, "" if name == "lo" else f"{name}: expected", **{name: value})
    assert str(shape) in message


@pytest.mark.parametrize(
    ("error", "start", "changes"),
    [
        (ValueError, "law: expected one of 'coulomb'", {"law": "coulmb"}),
        (ValueError, "law: expected one of pyramid", {"law": "coulomb", "solver": "lemke"}),
        (ValueError, "law: expected one of", {"law": "box", "solver": "lemke"}),
        (TypeError, "law: expected one of", {"law": 0}),
        (ValueError, "solver: expected one of 'auto'", {"solver": "simplex"}),
        (ValueError, "precision: expected one of 'float64'", {"precision": "half"}),
        (ValueError, "backend: expected 'auto'", {"backend": "gpu"}),
        (ValueError, "tol: expected a number > 0", {"tol": 0}),
        (ValueError, "tol: expected a number > 0", {"tol": np.nan}),
        (TypeError, "tol: expected a number", {"tol": "1e-9"}),
        (TypeError, "options: expected SolveOptions", {"options": {"max_sweeps": 3}}),
        (
            ValueError,
            "options.max_newton",
            {"options": stickslip.SolveOptions(max_newton=-1)},
        ),
        (
            ValueError,
            "tol: expected None",
            {"tol": 1e-3, "options": stickslip.SolveOptions(atol=1.0)},
        ),
        (ValueError, "threads: expected an integer >= 1", {"threads": 0}),
        (ValueError, "threads: expected at most", {"threads": 10**6}),
        (TypeError, "threads: expected an integer", {"threads": 1.5}),
        (ValueError, "n_free: expected an integer >= 0", {"n_free": -1}),
        (TypeError, "n_nonneg: expected an integer", {"n_nonneg": True}),
        (ValueError, "hi: expected an array because lo is given", {"hi": None}),
        (ValueError, "dims: expected a list of numbers or an array unless", {"n_nonneg": 2}),
        (ValueError, "W: 3 rows too few", {"n_free": 12}),
        (ValueError, "W: expected 13 rows", {"dims": [3, 3, 4]}),
        (ValueError, "dims: expected 3, 4 or 6, got 5 for contact 1", {"dims": [3, 5, 3]}),
        (ValueError, "dims: expected 3, 4 or 6, got 1099511627776", {"dims": [3, 2**40, 3]}),
        (ValueError, "dims: expected 3, 4 or 6, got -3 for contact 0", {"dims": [-3, 3, 3]}),
        (TypeError, "dims: expected integers, got float64", {"dims": [3.0, 3.0, 3.0]}),
        (ValueError, "counts: expected numbers >= 0, got -2", {"counts": [1, 1, 1, -2, 1]}),
        (
            ValueError,
            "dims: expected a list of numbers or an array because counts",
            {"counts": np.ones((5, 4), int)},
        ),
        (
            ValueError,
            "n_free, n_nonneg: expected 0",
            {"counts": np.ones((5, 4), int), "dims": [3, 3, 3]},
        ),
        (
            ValueError,
            "counts: expected at most 2 box rows, as lo and hi have, got 3 in environment 1",
            {
                "counts": [[0, 0, 1, 1], [0, 0, 3, 1], *[[0, 0, 0, 0]] * 3],
                "dims": [3, 3, 3],
                "n_nonneg": 0,
            },
        ),
        (TypeError, "W: expected", {"W": "matrix"}),
        (TypeError, "b: expected", {"b": None}),
        (TypeError, "b: expected an array of numbers", {"b": [[1], [2, 3]]}),
    ],
)
def test_messages(error, start, changes):
    refused(error, start, **changes)


def test_environment_is_named_in_a_value_error():
    message = refused(ValueError, "dims:", dims=np.array([[3, 3, 3]] * 4 + [[3, 3, 7]]))
    assert message.endswith("contact 2 of environment 4")


def test_cuda_where_there_is_none():
    if stickslip._core.cuda_available():
        pytest.skip("this machine has a GPU")
    refused(ValueError, "backend: expected 'auto' or 'cpu', because ", backend="cuda")


def test_arrays_of_two_types():
    refused(TypeError, "b: expected float64, as W has", b=GOOD["b"].astype(np.float32))


def spoil(name, index, value):
    def change(arguments):
        arguments[name][(2, *index)] = value

    return change


SPOILERS = {
    "NaN in W": spoil("W", (3, 4), np.nan),
    "infinity in W": spoil("W", (0, 0), np.inf),
    "negative diagonal": spoil("W", (5, 5), -1.0),
    "NaN in b": spoil("b", (0,), np.nan),
    "negative mu": spoil("mu", (1,), -0.1),
    "NaN mu": spoil("mu", (0,), np.nan),
    "lo > hi": spoil("lo", (1,), 5.0),
    "NaN in lo": spoil("lo", (0,), np.nan),
    "negative R": spoil("R", (1,), -1.0),
    "NaN warm start": spoil("warm_start", (1,), np.nan),
}


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("law", ["coulomb", "convex", "box", "frictionless"])
@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_bad_environment_harms_no_other(spoiler, law, precision):
    arguments = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in GOOD.items()}
    for name in ("lo", "hi"):
        arguments[name] = np.tile(arguments[name], (5, 1))
    arguments["R"] = np.full((5, N), 0.01)
    arguments["warm_start"] = np.zeros((5, N))
    clean = stickslip.solve(**arguments, law=law, precision=precision)
    SPOILERS[spoiler](arguments)
    dirty = stickslip.solve(**arguments, law=law, precision=precision)
    others = [0, 1, 3, 4]
    assert clean.impulse[others].tobytes() == dirty.impulse[others].tobytes()
    assert clean.residual[others].tobytes() == dirty.residual[others].tobytes()
    assert dirty.status[2] == Status.bad_input
    assert not dirty.impulse[2].any()
    assert np.isinf(dirty.residual[2])
    assert stickslip.Status(dirty.status[2]).name == "bad_input"


@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
def test_convex_accepts_matrices_that_are_symmetric_up_to_the_rounding_of_float32(precision):
    """As numpy forms them: W in float32 is refused only if its asymmetry exceeds rounding."""
    generator = np.random.default_rng(5)
    for _ in range(20):
        J = generator.normal(size=(6, 6)).astype("f")
        W = J @ np.diag(generator.uniform(0.5, 2, 6).astype("f")) @ J.T
        W[0, 1] = np.nextafter(W[0, 1], np.float32(9))
        args = (W, np.array([-1, 0.5, 0, -1, 0, 0.3], "f"), 0.5)
        solution = stickslip.solve(*args, law="convex", precision=precision)
        assert solution.status != stickslip.Status.bad_input
        W[0, 1] += np.float32(0.01) * W[0, 0]
        solution = stickslip.solve(*args, law="convex", precision=precision)
        assert solution.status == stickslip.Status.bad_input


def test_convex_refuses_asymmetry_and_coulomb_uses_W_as_given():
    arguments = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in GOOD.items()}
    arguments["W"][2, 3, 4] += 0.05
    assert stickslip.solve(**arguments, law="convex").status[2] == Status.bad_input
    assert stickslip.solve(**arguments, law="coulomb").ok.all()


def test_over_capacity_harms_no_other():
    arguments = random_batch(1, num_envs=4)  # n = 9
    clean = stickslip.solve(**arguments, counts=[3, 3, 0, 2])
    over = stickslip.solve(**arguments, counts=[3, 3, 2**40, 2])
    assert over.status[2] == Status.over_capacity
    assert over.rows_needed[2] == 2**31 - 1  # as many as there may be
    assert stickslip.solve(**arguments, counts=[3, 3, 10**8, 2]).rows_needed[2] == 3 * 10**8
    others = [0, 1, 3]
    assert clean.impulse[others].tobytes() == over.impulse[others].tobytes()
    assert not over.impulse[2].any()
