"""step_vjp against central differences of delassus, solve and apply_impulse (docs/gradients.md)."""

import numpy as np
import pytest
from gradient_problems import LAWS, TIGHT

import stickslip
from stickslip import GradientStatus

FIXED = ("dims", "n_free", "n_nonneg")
CHANGED = ("M", "J", "v_free", "mu", "c", "R")


def mechanisms(kind, seed, envs=8):
    """Mechanisms of 14 degrees of freedom with up to 16 rows of every kind: M, J, v_free, c and the
    rest of the problem."""
    rng = np.random.default_rng(seed)
    rows = {"contacts": (0, 0, 0), "dims": (1, 1, 1)}[kind]
    dims = {"contacts": [3, 3, 3], "dims": [3, 4, 6]}[kind]
    first, n, nv = sum(rows), sum(rows) + sum(dims), 14
    root = rng.normal(size=(envs, nv, nv))
    M = np.eye(nv) + root @ root.transpose(0, 2, 1) / nv
    J = rng.normal(size=(envs, n, nv))
    c = 0.1 * rng.normal(size=(envs, n))
    c[:, first + np.cumsum([0, *dims[:-1]])] -= 1.5
    args = {"M": M, "J": J, "v_free": 0.3 * rng.normal(size=(envs, nv)), "c": c,
            "mu": rng.uniform(0.2, 0.9, (envs, sum(dims) - len(dims))),
            "R": 1e-2 * np.einsum("eik,ekl,eil->ei", J, np.linalg.inv(M), J),
            "dims": dims, "n_free": rows[0], "n_nonneg": rows[1]}  # fmt: skip
    if rows[2]:
        args |= {"lo": np.full((envs, 1), -0.3), "hi": np.full((envs, 1), 0.4)}
    return args


def others(args):
    return {k: args[k] for k in (*FIXED, "R", "lo", "hi") if k in args}


def step(args, law, warm=None):
    """v_next, the velocities of the rows, the solution and b."""
    W = stickslip.delassus(args["M"], args["J"])
    b = np.einsum("eik,ek->ei", args["J"], args["v_free"]) + args["c"]
    found = stickslip.solve(
        W, b, args["mu"], law=law, options=TIGHT, warm_start=warm, **others(args)
    )
    v_next = stickslip.apply_impulse(args["M"], args["J"], found.impulse, args["v_free"])
    u = np.einsum("eij,ej->ei", W, found.impulse) + b + args["R"] * found.impulse
    return v_next, u, found, b


def is_solved(found):
    status = np.where(found.residual < 1e-11, 0, 1).astype(np.int32)
    return type(found)(**(vars(found) | {"status": status}))


def directions(args, seed):
    rng = np.random.default_rng(seed)
    found = {k: 0.1 * rng.normal(size=args[k].shape) * np.abs(args[k]).max() for k in CHANGED}
    found["M"] = found["M"] + found["M"].transpose(0, 2, 1)
    found["R"] = args["R"] * rng.uniform(-1, 1, args["R"].shape)
    return found


def loss(args, v_next, found, u, g):
    parts = (v_next, g["d_v_next"]), (found.impulse, g["d_impulse"]), (u, g["d_velocity"])
    return sum((x * y).sum(axis=1) for x, y in parts)


def losses(args, seed):
    rng = np.random.default_rng(seed)
    n, nv = args["J"].shape[1:]
    shapes = {"d_v_next": nv, "d_impulse": n, "d_velocity": n}
    return {name: rng.normal(size=(len(args["M"]), width)) for name, width in shapes.items()}


def gradient(args, law, g, **keywords):
    _, _, found, b = step(args, law)
    return stickslip.step_vjp(args["M"], args["J"], b, args["mu"], args["v_free"], is_solved(found),
                              law=law, **g, **others(args), **keywords)  # fmt: skip


@pytest.mark.parametrize("kind", ["contacts", "dims"])
@pytest.mark.parametrize("law", LAWS)
def test_a_step_has_the_derivatives_of_central_differences(law, kind):
    args = mechanisms(kind, 1)
    g = losses(args, 2)
    found = gradient(args, law, g)
    assert found.ok.mean() >= 0.8
    _, _, at, _ = step(args, law)
    for name, direction in directions(args, 3).items():
        h, ends = 1e-6, []
        for sign in (1, -1):
            moved = args | {name: args[name] + sign * h * direction}
            v_next, u, solution, _ = step(moved, law, at.impulse)
            assert np.all(solution.residual[found.ok] < 1e-11)
            ends.append(loss(moved, v_next, solution, u, g))
        numeric = (ends[0] - ends[1]) / (2 * h)
        own = getattr(found, "b" if name == "c" else name) * direction
        exact = own.reshape(len(own), -1).sum(axis=1)
        use = found.ok & (found.kink_distance > 1e-4)
        assert use.mean() >= 0.7
        error = np.abs(exact - numeric)[use] / (1e-2 + np.abs(numeric[use]))
        assert np.median(error) <= 1e-7, name
        assert error.max() <= 1e-4, name


def test_the_adjoint_velocity_is_the_derivative_by_momentum():
    args = mechanisms("dims", 4)
    found = gradient(args, "coulomb", losses(args, 5))
    wanted = np.linalg.solve(args["M"], found.v_free[..., None])[..., 0]
    np.testing.assert_allclose(found.adjoint, wanted, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(found.M, found.M.transpose(0, 2, 1))
    np.testing.assert_array_equal(found.W, found.b[:, :, None] * found.impulse[:, None, :])


def test_without_contacts_a_step_passes_its_loss_through():
    args = mechanisms("contacts", 6)
    args["c"][:, ::3] += 100
    g = losses(args, 7) | {"d_impulse": None, "d_velocity": None}
    found = gradient(args, "coulomb", g)
    assert found.ok.all()
    np.testing.assert_array_equal(found.v_free, g["d_v_next"])
    for name in ("M", "J", "mu", "b"):
        assert np.all(getattr(found, name) == 0)


def test_a_step_and_vjp_agree_on_a_loss_of_contacts():
    args = mechanisms("dims", 8)
    g = losses(args, 9)
    _, _, found, b = step(args, "coulomb")
    whole = gradient(args, "coulomb", g | {"d_v_next": None})
    W = stickslip.delassus(args["M"], args["J"])
    alone = stickslip.vjp(W, b, args["mu"], is_solved(found), d_impulse=g["d_impulse"],
                          d_velocity=g["d_velocity"], **others(args))  # fmt: skip
    for name in ("b", "mu", "R", "lo", "hi"):
        wanted = getattr(alone, name)
        atol = 1e-12 * np.abs(wanted).max()
        np.testing.assert_allclose(getattr(whole, name), wanted, atol=atol)


@pytest.mark.parametrize("where", ["M", "J", "v_free", "d_v_next"])
def test_what_is_not_finite_in_one_step_stays_there(where):
    args, g = mechanisms("dims", 10), None
    g = losses(args, 11)
    _, _, found, b = step(args, "coulomb")
    found = is_solved(found)

    def call(args, g):
        first = (args["M"], args["J"], b, args["mu"], args["v_free"], found)
        return stickslip.step_vjp(*first, **g, **others(args))

    good = call(args, g)
    target = (g if where == "d_v_next" else args)[where].copy()
    target[2].flat[0] = np.nan
    bad = (
        call(args, g | {where: target}) if where == "d_v_next" else call(args | {where: target}, g)
    )
    rest = np.arange(8) != 2
    for name in (
        "b",
        "mu",
        "R",
        "lo",
        "hi",
        "M",
        "J",
        "v_free",
        "adjoint",
        "kink_distance",
        "status",
    ):
        np.testing.assert_array_equal(getattr(bad, name)[rest], getattr(good, name)[rest])
        if name != "status":
            assert np.all(getattr(bad, name)[2] == 0), name
    assert bad.status[2] == GradientStatus.unsolved


def test_a_step_has_the_same_bits_for_any_threads_and_position():
    args = mechanisms("dims", 12)
    g = losses(args, 13)
    whole = gradient(args, "coulomb", g, threads=1)
    again = gradient(args, "coulomb", g, threads=3)
    turned = {k: v if k in FIXED else v[::-1] for k, v in args.items()}
    back = gradient(turned, "coulomb", {k: v[::-1] for k, v in g.items()})
    for name in ("b", "mu", "R", "lo", "hi", "M", "J", "v_free", "adjoint"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
        np.testing.assert_array_equal(getattr(back, name)[::-1], getattr(whole, name))


def test_a_step_in_float32():
    args = mechanisms("dims", 14)
    g = losses(args, 15)
    exact = gradient(args, "coulomb", g)
    small = {k: v if k in FIXED else v.astype(np.float32) for k, v in args.items()}
    _, _, found, b = step(small, "coulomb")
    found = type(found)(**(vars(found) | {"status": np.zeros(8, np.int32)}))
    rounded = stickslip.step_vjp(
        small["M"], small["J"], b, small["mu"], small["v_free"], found,
        **{k: v.astype(np.float32) for k, v in g.items()}, **others(small),
    )  # fmt: skip
    use = exact.ok & (exact.kink_distance > 1e-3)
    assert use.mean() >= 0.7
    for name in ("b", "mu", "M", "J", "v_free", "adjoint"):
        value, wanted = getattr(rounded, name), getattr(exact, name)
        assert value.dtype == np.float32
        assert np.abs(value - wanted)[use].max() <= 1e-3 * np.abs(wanted).max(), name


def test_misuse_of_a_step_is_refused_by_name():
    args = mechanisms("contacts", 16, envs=3)
    _, _, found, b = step(args, "coulomb")
    first = {"M": args["M"], "J": args["J"], "b": b, "mu": args["mu"], "v_free": args["v_free"]}
    for message, wrong in {
        "v_free: expected an array": {"v_free": None},
        "v_free: expected shape": {"v_free": np.zeros((3, 5))},
        "d_v_next: expected shape": {"d_v_next": np.zeros((3, 5))},
        "b: expected shape": {"b": np.zeros((3, 4))},
        "M: expected shape|J: expected shape": {"M": np.zeros((3, 5, 5))},
        "solution: expected a Solution": {"solution": found.impulse},
    }.items():
        with pytest.raises((TypeError, ValueError), match=message):
            stickslip.step_vjp(**(first | {"solution": found} | wrong))
