"""Arrays of integers, bool and float16 are converted; tensors that require grad are refused."""

import numpy as np
import pytest
from sim_models import FALLING

import stickslip
from stickslip import BatchSim, BoundSolver

# Two boxes on the floor; every number is an integer, so that each type holds it.
W = np.tile(np.eye(3), (2, 1, 1))
B = np.array([[-1.0, 0, 0], [-2, 1, 0]])
PROBLEM = {"W": W, "b": B, "mu": np.ones((2, 1))}
SMALL_TYPES = (np.int8, np.int64, np.float16, ">i4")


def solve(**changes):
    return stickslip.solve(**(PROBLEM | changes))


@pytest.mark.parametrize("dtype", SMALL_TYPES)
@pytest.mark.parametrize("name", ["W", "b", "mu", "R", "lo", "hi", "warm_start"])
def test_arguments_of_solve(name, dtype):
    problem = PROBLEM | {"R": np.ones((2, 3)), "warm_start": np.ones((2, 3))}
    if name in ("lo", "hi"):
        problem |= {
            "n_free": 0,
            "lo": -np.ones((2, 3)),
            "hi": np.ones((2, 3)),
            "mu": np.ones((2, 0)),
        }
    expected = stickslip.solve(**problem)
    found = stickslip.solve(**problem | {name: problem[name].astype(dtype)})
    assert found.impulse.dtype == np.float64
    assert (found.impulse == expected.impulse).all()
    assert found.ok.all()


def test_bool():
    assert (solve(W=W.astype(bool)).impulse == solve().impulse).all()
    with pytest.raises(TypeError, match="mu: expected float64, as W has, got bool"):
        solve(mu=True)


def test_the_type_is_that_of_the_problem():
    single = {name: array.astype(np.float32) for name, array in PROBLEM.items()}
    given = single | {"b": B.astype(np.int32)}
    assert stickslip.solve(**given, precision="float32").impulse.dtype == np.float32
    integers = {name: array.astype(int) for name, array in PROBLEM.items()}
    assert stickslip.solve(**integers, precision="float32").impulse.dtype == np.float64
    with pytest.raises(TypeError, match="b: expected float64, as W has, got float32"):
        solve(b=single["b"])


@pytest.mark.parametrize(
    ("dtype", "largest", "given"),
    [
        (np.float64, "2\\*\\*53", np.int64(2**53)),
        (np.float64, "2\\*\\*53", np.int64(-(2**53))),
        (np.float64, "2\\*\\*53", np.uint64(2**53)),
        (np.float32, "2\\*\\*24", np.int32(2**24)),
    ],
)
def test_integers_that_a_float_cannot_hold_are_refused(dtype, largest, given):
    problem = {name: array.astype(dtype) for name, array in PROBLEM.items()}
    precision = "float32" if dtype == np.float32 else "float64"
    b = np.zeros((2, 3), given.dtype)
    b[1, 0] = given
    stickslip.solve(**problem | {"b": b}, precision=precision)
    b[1, 0] += np.sign(given.astype(float)).astype(b.dtype)
    message = f"b: expected integers from -{largest} to {largest}, .*, got {b[1, 0]}"
    with pytest.raises(ValueError, match=message):
        stickslip.solve(**problem | {"b": b}, precision=precision)


def integers(*arrays):
    return [np.array(array, int) for array in arrays]


M, J = np.eye(2), np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
R, V = np.ones(3), np.ones(2)
Q = -np.ones(2)
# Each is called with arrays of floats and with the same numbers as integers.
CALLS = {
    "residual": (lambda *a: stickslip.residual(*a), (*PROBLEM.values(), np.ones((2, 3)))),
    "certificate_holds": (
        lambda *a: stickslip.certificate_holds(*a),
        (*PROBLEM.values(), np.ones((2, 3))),
    ),
    "delassus": (stickslip.delassus, (M, J)),
    "apply_impulse": (stickslip.apply_impulse, (M, J, R, V)),
    "solve_lcp": (lambda *a: stickslip.solve_lcp(*a).z, (M, Q)),
    "bounds of solve_lcp": (
        lambda lo, hi, start: stickslip.solve_lcp(M, Q, lo=lo, hi=hi, start=start).z,
        (np.zeros(2), np.ones(2), np.ones(2)),
    ),
    "standard_form": (lambda *a: stickslip.standard_form(*a, n_free=1).A, (M, Q)),
    "stewart_trinkle": (
        lambda *a: stickslip.stewart_trinkle(*a, dt=0.5).M,
        (M[None], V[None], np.ones((1, 2, 1)), np.ones((1, 2, 4)), np.ones((1, 1))),
    ),
    "contact_columns": (lambda a: stickslip.contact_columns(a)[1], (J[None],)),
    "solve_mncp": (
        lambda w: stickslip.solve_mncp(lambda x, w, _: ([], w - 1), lambda *_: [[1]], w=w).w,
        (np.array([3.0]),),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_functions(name):
    call, arrays = CALLS[name]
    assert (call(*integers(*arrays)) == call(*arrays)).all()


def test_simulations():
    sim = BatchSim(FALLING, num_envs=2)
    field = sim.model.body_mass.round() + 1
    sim.vary("body_mass", np.tile(field, (2, 1)).astype(np.int32))
    assert (sim.data(0).model.body_mass == field).all()
    sim.vary("body_mass", np.tile(field, (2, 1)).astype(np.float32))
    sim.step(np.zeros((2, 0), bool))
    with pytest.raises(ValueError, match=r"values: expected integers .* got 9007199254740993"):
        sim.vary("body_mass", np.full((2, sim.model.nbody), 2**53 + 1))
    with pytest.raises(TypeError, match="values: expected float32 or float64, got <U1"):
        sim.vary("body_mass", np.full((2, sim.model.nbody), "1"))


IN_PLACE = "a BoundSolver reads the given array at each call, so convert it before"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": W.astype(int)}, "W: expected float32 or float64, got int64"),
        ({"b": B.astype(int)}, "b: expected float64, as W has, got int64"),
        ({"mu": np.ones((2, 2), np.float16)}, "mu: expected float64, as W has, got float16"),
        ({"counts": np.ones((2, 4))}, "counts: expected int32, got float64"),
    ],
)
def test_a_bound_solver_says_what_to_do(change, message):
    bound = PROBLEM | {"mu": np.ones((2, 2))}
    BoundSolver(**bound)
    with pytest.raises(TypeError, match=f"{message}: {IN_PLACE}"):
        BoundSolver(**bound | change)


class Tensor:
    """Of torch, where a gradient is wanted, as this library sees it."""

    requires_grad = True

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


def tensors():
    yield Tensor()
    try:
        import torch
    except ModuleNotFoundError:
        return
    yield torch.ones((2, 3), dtype=torch.float64, requires_grad=True)


DETACH = "expected an array without a gradient, got a Tensor that requires grad: .*detach"
TAKERS = {
    **{
        name: lambda tensor, name=name: solve(**{name: tensor})
        for name in ("W", "b", "mu", "R", "warm_start", "dims", "counts")
    },
    "M": lambda tensor: stickslip.delassus(tensor, J),
    "impulse": lambda tensor: stickslip.apply_impulse(M, J, tensor, V),
    "q": lambda tensor: stickslip.solve_lcp(M, tensor),
    "certificate": lambda tensor: stickslip.certificate_holds(**PROBLEM, certificate=tensor),
    "ctrl": lambda tensor: BatchSim(FALLING).step(tensor),
    "mask": lambda tensor: BatchSim(FALLING).reset(tensor),
    "values": lambda tensor: BatchSim(FALLING).vary("body_mass", tensor),
    "x": lambda tensor: stickslip.solve_mncp(None, None, x=tensor),
}


@pytest.mark.parametrize("name", TAKERS)
def test_tensors_that_require_grad(name):
    for tensor in tensors():
        with pytest.raises(TypeError, match=f"^{name}: {DETACH}"):
            TAKERS[name](tensor)


@pytest.mark.parametrize("name", ["W", "b", "mu", "R", "lo", "warm_start", "counts", "out"])
def test_tensors_that_require_grad_in_a_bound_solver(name):
    for tensor in tensors():
        given = {"impulse": tensor} if name == "out" else tensor
        bounds = {"lo": tensor, "hi": tensor} if name == "lo" else {}
        shown = r"out\['impulse'\]" if name == "out" else name
        with pytest.raises(TypeError, match=f"^{shown}: {DETACH}"):
            BoundSolver(**PROBLEM | {"mu": np.ones((2, 2))} | {name: given} | bounds)


def test_detached_tensors_of_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(B, requires_grad=True)
    assert (solve(b=tensor.detach()).impulse == solve().impulse).all()
    bound = BoundSolver(**PROBLEM | {"mu": np.ones((2, 2)), "b": tensor.detach()})
    assert (bound().impulse == solve().impulse).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mu": None}, "mu: expected an array of numbers, got None"),
        ({"mu": "rough"}, "mu: expected an array of numbers, got 'rough'"),
        ({"W": None}, "W: expected an array of numbers, got None"),
    ],
)
def test_what_is_no_array_is_named(changes, message):
    given = {"W": np.eye(3), "b": np.ones(3), "mu": 0.5} | changes
    with pytest.raises(TypeError, match=message):
        stickslip.solve(**given)


def test_details_are_a_bool():
    with pytest.raises(TypeError, match="details: expected a bool, got str"):
        stickslip.residual(np.eye(3), np.ones(3), 0.5, np.zeros(3), details="all")


def test_fixed_pivots_are_for_four_directions():
    options = stickslip.SolveOptions(fixed_pivots=True, directions=8)
    message = "options.directions: expected 4 because fixed_pivots is True, got 8"
    with pytest.raises(ValueError, match=message):
        stickslip.solve(np.eye(3), np.ones(3), 0.5, law="pyramid", solver="lemke", options=options)


def test_memory_that_is_not_aligned_is_copied():
    b = np.arange(6.0).reshape(2, 3)
    raw = np.zeros(b.nbytes + 16, np.uint8)
    shifted = raw[1 : 1 + b.nbytes].view("f8").reshape(b.shape)
    shifted[...] = b
    W = np.tile(np.eye(3), (2, 1, 1))
    got, expected = stickslip.solve(W, shifted, 0.5), stickslip.solve(W, b, 0.5)
    assert np.array_equal(got.impulse, expected.impulse)


def test_dims_in_any_order_of_memory():
    W, b = np.tile(np.eye(12), (2, 1, 1)), -np.ones((2, 12))
    dims = np.array([[3, 6], [4, 3]])
    got = stickslip.solve(W, b, 0.5, counts=[2, 2], dims=np.asfortranarray(dims))
    assert np.array_equal(got.impulse, stickslip.solve(W, b, 0.5, counts=[2, 2], dims=dims).impulse)


@pytest.mark.parametrize("mu", [["0.5"], [None], [0.5, "x"], [2**53 + 1], [1j]])
def test_lists_of_other_things_than_numbers_are_refused(mu):
    with pytest.raises((TypeError, ValueError), match="mu: expected"):
        stickslip.solve(np.eye(3), np.ones(3), mu)
