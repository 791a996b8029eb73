"""What BoundSolver rejects; messages name argument, expectation and value."""

import ctypes
import re

import numpy as np
import pytest

from stickslip import BoundSolver, Status, _core

GOOD = {"W": np.tile(np.eye(6), (4, 1, 1)), "b": np.full((4, 6), -1.0), "mu": np.full((4, 4), 0.5)}
READ_ONLY = np.zeros((4, 6))
READ_ONLY.flags.writeable = False
BIG = np.zeros((4, 20))
ONE = np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,), writeable=True)
REFUSALS = {
    "no W": ({"W": None}, ValueError, "M: expected an array because W is None"),
    "W and J": ({"J": np.eye(6)[None]}, ValueError, "J: expected None because W is given"),
    "list": ({"W": [[1.0]]}, TypeError, "W: expected an array that DLPack can hand over, got list"),
    "one problem": ({"W": np.eye(6)}, ValueError, r"W: expected shape \(E, n, n\), got \(6, 6\)"),
    "not square": (
        {"W": np.zeros((4, 6, 5))},
        ValueError,
        r"W: expected shape \(4, 6, 6\) or .* got \(4, 6, 5\)",
    ),
    "integers": (
        {"W": np.zeros((4, 6, 6), int)},
        TypeError,
        "W: expected float32 or float64, got int64",
    ),
    "float": (
        {"W": np.zeros((4, 6, 6), np.float32)},
        TypeError,
        "b: expected float32, as W has, got float64",
    ),
    "type of b": (
        {"b": np.zeros((4, 6), np.float32)},
        TypeError,
        "b: expected float64, as W has, got float32",
    ),
    "shape of b": (
        {"b": np.zeros((5, 6))},
        ValueError,
        r"b: expected shape \(4, 6\) or \(6,\), got \(5, 6\)",
    ),
    "shape of mu": (
        {"mu": np.zeros((4, 3))},
        ValueError,
        r"mu: expected a number or shape \(4, 2\) or \(4, 4\) or \(2,\) or \(4,\), got \(4, 3\)",
    ),
    "strides of b": (
        {"b": np.zeros((6, 4)).T},
        ValueError,
        "b: expected the values of an environment side by side",
    ),
    "backwards": (
        {"out": {"impulse": np.zeros((4, 6))[::-1]}},
        ValueError,
        r"out\['impulse'\]: expected one environment after the other",
    ),
    "rows": (
        {"n_free": 1},
        ValueError,
        "dims: expected a list of numbers or an array unless .* multiple of 3, got 5",
    ),
    "lo alone": ({"lo": np.zeros(3)}, ValueError, "hi: expected an array because lo is given"),
    "dims": ({"dims": [3, 5]}, ValueError, "dims: expected 3, 4 or 6, got 5"),
    "dims as array": (
        {"dims": np.array([3, 3])},
        TypeError,
        "dims: expected a list of numbers because counts",
    ),
    "counts": (
        {"counts": np.zeros(4, np.int32)[:3]},
        ValueError,
        r"counts: expected shape \(4, 4\) or \(4,\)",
    ),
    "type of counts": (
        {"counts": np.zeros((4, 4), int)},
        TypeError,
        "counts: expected int32, got int64",
    ),
    "few mu": (
        {"counts": np.zeros((4, 4), np.int32), "mu": np.zeros((4, 3))},
        ValueError,
        r"mu: expected a number or shape .*, got \(4, 3\)",
    ),
    "out": (
        {"out": {"impulses": READ_ONLY}},
        ValueError,
        "out: expected names of impulse, .* got 'impulses'",
    ),
    "v_next": ({"out": {"v_next": BIG}}, ValueError, "out: expected names of"),
    "out is a list": ({"out": [BIG]}, TypeError, "out: expected a dict of arrays, got list"),
    "out is None": (
        {"out": {"rung": None}},
        TypeError,
        r"out\['rung'\]: expected an array, got None",
    ),
    "certificates": ({"certificates": 1}, TypeError, "certificates: expected a bool, got int"),
    "read-only": (
        {"out": {"impulse": READ_ONLY}},
        TypeError,
        r"out\['impulse'\]: expected a writable array",
    ),
    "shape of out": (
        {"out": {"impulse": np.zeros((4, 5))}},
        ValueError,
        r"out\['impulse'\]: expected shape \(4, 6\), got",
    ),
    "type of out": (
        {"out": {"status": np.zeros(4)}},
        TypeError,
        r"out\['status'\]: expected int32, got float64",
    ),
    "gaps in out": (
        {"out": {"status": np.zeros((4, 2), np.int32)[:, 0]}},
        ValueError,
        r"out\['status'\]: expected one",
    ),
    "one value for all": (
        {"out": {"residual": ONE}},
        ValueError,
        r"out\['residual'\]: expected one",
    ),
    "stream": (
        {"stream": 7},
        ValueError,
        "stream: expected None because the arrays are in host memory",
    ),
    "law": ({"law": "pyramid", "solver": "newton"}, ValueError, "law: expected one of"),
}


@pytest.mark.parametrize("change", REFUSALS)
def test_refuses_by_name(change):
    spoil, error, message = REFUSALS[change]
    with pytest.raises(error, match=message):
        BoundSolver(**(GOOD | spoil))


def test_accepts_what_the_refusals_spoil():
    assert (BoundSolver(**GOOD)().status == Status.solved).all()


def test_outputs_have_memory_of_their_own():
    warm = np.zeros((4, 6))
    with pytest.raises(
        ValueError, match=r"out\['impulse'\]: expected memory of its own, got some of warm"
    ):
        BoundSolver(**GOOD, warm_start=warm, out={"impulse": warm})
    with pytest.raises(
        ValueError, match=r"out\['impulse'\]: expected memory of its own, got some of w"
    ):
        BoundSolver(**GOOD, warm_start=BIG[:, :6], out={"impulse": BIG[:, 5:11]})
    BoundSolver(**GOOD, warm_start=BIG[:, :6], out={"impulse": BIG[:, 6:12]})
    with pytest.raises(ValueError, match=r"out\['impulse'\]: .* got some of warm_start"):
        BoundSolver(**GOOD, warm_start=BIG[:, 14:], out={"impulse": BIG[:, 9:15]})


class CudaInterface:
    """Claims to be on a GPU; its data cannot be read."""

    shape, dtype = (4, 6, 6), np.dtype(float)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": "<f8", "data": (64, False), "version": 3}


class CudaDlpack:
    """The same, by DLPack."""

    def __init__(self, kind=2):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **_):
        raise AssertionError("asked for its memory before its device was known to be of use")


class LyingDlpack:
    """A capsule whose device differs from the announced one."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        ctypes.c_int32.from_address(get(capsule, b"dltensor") + 8).value = 2
        return capsule


@pytest.mark.skipif(_core.cuda_available(), reason="there is a GPU")
@pytest.mark.parametrize(
    "fake", [CudaInterface(), CudaDlpack(), CudaDlpack(13), LyingDlpack(GOOD["W"].copy())]
)
@pytest.mark.parametrize("argument", ["W", "b", "out"])
def test_device_arrays_are_refused_without_a_gpu(fake, argument):
    bad = {"out": {"impulse": fake}} if argument == "out" else {argument: fake}
    name = "out['impulse']" if argument == "out" else argument
    why, kind = _core.cuda_why_not(), type(fake).__name__
    message = f"{name}: expected an array in host memory, because {why}, got {kind} in"
    with pytest.raises(TypeError, match=re.escape(message)):
        BoundSolver(**(GOOD | bad))


def test_other_devices_are_refused():
    with pytest.raises(
        TypeError, match="b: expected an array in host memory or on a CUDA device, got"
    ):
        BoundSolver(**(GOOD | {"b": CudaDlpack(8)}))
