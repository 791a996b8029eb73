"""Arrays in float32 that are solved in double: those of `solve`, and a simulator's M and J."""

import numpy as np
import pytest
from problems import random_batch

import stickslip
from stickslip import BoundSolver, EngineMechanism, Status

E, N, NV = 6, 9, 8


def as_float32(arguments):
    return {
        name: value.astype(np.float32) if getattr(value, "dtype", None) == np.float64 else value
        for name, value in arguments.items()
    }


@pytest.mark.parametrize("precision", ["float64", "mixed"])
@pytest.mark.parametrize("law", [law.name for law in stickslip.Law])
def test_solve_has_the_bits_of_the_converted_arrays(law, precision):
    narrow = as_float32(random_batch(3, num_envs=40, n_free=2, n_nonneg=1, n_box=2))
    wide = {k: v.astype(float) if isinstance(v, np.ndarray) else v for k, v in narrow.items()}
    options = {"law": law, "precision": precision, "certificates": True}
    expected, got = (stickslip.solve(**arrays, **options) for arrays in (wide, narrow))
    assert got.impulse.dtype == np.float32
    np.testing.assert_array_equal(got.impulse, expected.impulse.astype(np.float32))
    for name in ("residual", "status", "iterations", "solver", "rung", "certificate"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name), name)
    bound = BoundSolver(**narrow | {"mu": np.repeat(narrow["mu"], 2, axis=1)}, **options)()
    np.testing.assert_array_equal(bound.impulse, got.impulse)


def mechanisms(rng):
    """Float32 numbers, as float64: M, J of three contacts, b, v_free."""
    A = rng.normal(size=(E, NV, NV))
    J = rng.normal(size=(E, N, NV)) * (rng.random((E, N, NV)) < 0.6)
    M = A @ A.transpose(0, 2, 1) + np.eye(NV)
    v_free = rng.normal(size=(E, NV))
    M, J = M.astype(np.float32).astype(float), J.astype(np.float32).astype(float)
    return M, J, np.einsum("enk,ek->en", J, v_free), v_free


def lower_triangle(M):
    rows, columns = np.tril_indices(NV)
    return {
        "M": np.ascontiguousarray(M[:, rows, columns], np.float32),
        "M_rownnz": np.arange(1, NV + 1, dtype=np.int32),
        "M_rowadr": np.cumsum(np.arange(NV), dtype=np.int32),
        "M_colind": columns.astype(np.int32),
    }


def dense(J, order):
    """In mujoco_warp's layout: more rows and columns than are used."""
    values = np.full((E, N + 3, NV + 4), 7, np.float32)
    values[np.arange(E)[:, None], order, :NV] = J
    return {"J": values}


def compressed(J, order):
    values, columns = np.full((E, 1, N * NV), 7.0), np.full((E, 1, N * NV), 7)
    counts, starts = np.zeros((2, E, N + 3), np.int32)
    for e in range(E):
        used = 0
        for i in reversed(range(N)):
            (k,) = np.nonzero(J[e, i])
            values[e, 0, used : used + k.size], columns[e, 0, used : used + k.size] = J[e, i, k], k
            counts[e, order[e, i]], starts[e, order[e, i]] = k.size, used
            used += k.size
    return {
        "J": values.astype(np.float32),
        "J_rownnz": counts,
        "J_rowadr": starts,
        "J_colind": columns.astype(np.int32),
    }


@pytest.mark.parametrize("layout", [dense, compressed])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_an_engines_matrices_are_read_where_they_lie(law, layout):
    rng = np.random.default_rng(5)
    M, J, b, v_free = mechanisms(rng)
    order = np.argsort(rng.random((E, N + 3)))[:, :N].astype(np.int32)
    values = layout(J, order)
    engine = EngineMechanism(NV, **lower_triangle(M), **values, row_of=order)
    options = {"b": b, "mu": 0.5, "v_free": v_free, "law": law}
    expected, got = BoundSolver(M=M, J=J, **options)(), BoundSolver(engine=engine, **options)()
    assert (got.status == Status.solved).all()
    for name in ("impulse", "v_next", "residual", "status", "iterations"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name), name)
    order[2, 4] = N + 3
    again = BoundSolver(engine=engine, **options)()
    assert again.status[2] == Status.bad_input
    np.testing.assert_array_equal(again.v_next[2], v_free[2])
    others = np.arange(E) != 2
    np.testing.assert_array_equal(again.impulse[others], expected.impulse[others])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"engine": 3}, TypeError, "engine: expected EngineMechanism, got int"),
        ({"W": np.eye(3)[None]}, ValueError, "W: expected None because engine is given"),
        ({"M_rowadr": None}, ValueError, "engine.M_rowadr: expected an array because"),
        ({"J": np.zeros((E, N, NV))}, TypeError, "engine.J: expected .* float32, got .* float64"),
        ({"b": np.zeros((E, N), np.float32)}, TypeError, "b: expected float64"),
        ({"M_colind": np.zeros(3, np.int32)}, ValueError, "engine.M_colind: expected shape"),
        ({"row_of": np.zeros((E, 2), np.int32)}, ValueError, "engine.row_of: expected shape"),
        ({"J": np.zeros((E, 2, NV), np.float32)}, ValueError, "mechanism.J_rows: expected at"),
        ({"J": np.zeros((E, N, 2), np.float32)}, ValueError, "engine.J: expected shape .* ld >= 8"),
        ({"J": None}, ValueError, "engine.J: expected an array, got None"),
        ({"nv": 1.5}, TypeError, "engine.nv: expected"),
    ],
)
def test_misuse_is_refused_by_name(change, error, message):
    M, J, b, _ = mechanisms(np.random.default_rng(5))
    fields = {**lower_triangle(M), "J": J.astype(np.float32)}
    inside = {k: v for k, v in change.items() if k in EngineMechanism.__dataclass_fields__}
    outside = {k: v for k, v in change.items() if k not in inside}
    arguments = {
        "engine": EngineMechanism(**({"nv": NV} | fields | inside)),
        "b": b,
        "mu": 0.5,
    } | outside
    with pytest.raises(error, match=message):
        BoundSolver(**arguments)()


# It was read beyond its end.
@pytest.mark.parametrize("shape", [(E, NV), (E, 1), (E, 0), (E, NV, 1), (E, NV, NV - 1), (1,)])
def test_a_dense_mass_matrix_of_another_shape_is_refused(shape):
    _, J, b, _ = mechanisms(np.random.default_rng(5))
    engine = EngineMechanism(NV, M=np.ones(shape, np.float32), J=J.astype(np.float32))
    with pytest.raises(ValueError, match=r"engine\.M: expected"):
        BoundSolver(engine=engine, b=b, mu=0.5)


def test_a_dense_mass_matrix():
    M, J, b, v_free = mechanisms(np.random.default_rng(6))
    engine = EngineMechanism(NV, M=M.astype(np.float32), J=J.astype(np.float32))
    options = {"b": b, "mu": 0.5, "v_free": v_free}
    expected, got = BoundSolver(M=M, J=J, **options)(), BoundSolver(engine=engine, **options)()
    np.testing.assert_array_equal(got.impulse, expected.impulse)
    np.testing.assert_array_equal(got.v_next, expected.v_next)
