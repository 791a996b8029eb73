"""Derivatives of batches: the same bits wherever an environment lies, failures that stay where they
are, every form of the arguments, refusals."""

import numpy as np
import pytest
from gradient_problems import LAWS, change, problems, solved, split

import stickslip
from stickslip import GradientStatus, SolveOptions

PARTS = ("b", "mu", "R", "lo", "hi", "status", "kink_distance", "inconsistency", "redundant")
FIXED = ("dims", "n_free", "n_nonneg")


def losses(args, seed=0):
    g_r, g_u = np.random.default_rng(seed).normal(size=(2, *args["b"].shape))
    return {"d_impulse": g_r.astype(args["b"].dtype), "d_velocity": g_u.astype(args["b"].dtype)}


def back(args, solution, loss, **keywords):
    first, others = split(args)
    return stickslip.vjp(*first, solution, **loss, **others, **keywords)


def ahead(args, solution, step, **keywords):
    first, others = split(args)
    steps = {f"d{name}": value for name, value in step.items()}
    return stickslip.jvp(*first, solution, **steps, **others, **keywords)


def chosen(args, which):
    return {k: v if k in FIXED else v[which] for k, v in args.items()}


def of(solution, which):
    return type(solution)(**{k: None if v is None else v[which] for k, v in vars(solution).items()})


@pytest.mark.parametrize("law", LAWS)
def test_bits_are_the_same_for_any_threads_batch_and_position(law):
    args = problems("dims", 1, envs=17, compliance=0.01)
    solution, loss, step = solved(args, law), losses(args), change(args, 2)
    whole = back(args, solution, loss, law=law, threads=1)
    tangent = ahead(args, solution, step, law=law, threads=1)
    for threads in (2, 3, 8):
        again = back(args, solution, loss, law=law, threads=threads)
        other = ahead(args, solution, step, law=law, threads=threads)
        for part in PARTS:
            np.testing.assert_array_equal(getattr(again, part), getattr(whole, part))
        np.testing.assert_array_equal(other.impulse, tangent.impulse)
        np.testing.assert_array_equal(other.velocity, tangent.velocity)
    for which in (np.arange(17)[::-1], np.array([3]), np.array([5, 5, 16, 0])):
        some = {k: v[which] for k, v in loss.items()}
        again = back(chosen(args, which), of(solution, which), some, law=law)
        for part in PARTS:
            np.testing.assert_array_equal(getattr(again, part), getattr(whole, part)[which])
        moved = {k: v[which] for k, v in step.items()}
        other = ahead(chosen(args, which), of(solution, which), moved, law=law)
        np.testing.assert_array_equal(other.impulse, tangent.impulse[which])


ARRAYS = ("W", "b", "mu", "R", "lo", "hi", "d_impulse", "d_velocity", "r")


@pytest.mark.parametrize(
    ("where", "bad"),
    [(where, np.nan) for where in ARRAYS]
    + [(where, bad) for where in ARRAYS if where not in ("lo", "hi") for bad in (np.inf, -np.inf)],
)
def test_what_is_not_finite_in_one_environment_stays_there(where, bad):
    args = problems("rows", 3, envs=5, compliance=0.01)
    solution, loss = solved(args, "coulomb"), losses(args)
    good = back(args, solution, loss)
    impulse = solution.impulse.copy()
    arrays = {k: np.array(v) for k, v in args.items() if k not in FIXED}
    target = ({"r": impulse} | arrays | {k: v.copy() for k, v in loss.items()})[where]
    target[2].flat[0] = bad
    if where == "r":
        solution = type(solution)(**(vars(solution) | {"impulse": target}))
    elif where in loss:
        loss = loss | {where: target}
    else:
        args = args | {where: target}
    found = back(args, solution, loss)
    rest = [0, 1, 3, 4]
    for part in PARTS:
        np.testing.assert_array_equal(getattr(found, part)[rest], getattr(good, part)[rest])
        if part not in ("status", "inconsistency"):
            assert np.all(getattr(found, part)[2] == 0), part
    assert found.status[2] == GradientStatus.unsolved


@pytest.mark.parametrize("where", ["b", "W", "mu", "R", "lo", "hi"])
def test_a_change_that_is_not_finite_stays_where_it_is(where):
    args = problems("rows", 3, envs=5, compliance=0.01)
    args["b"][2, 4:7] = [-9, 9, 0]  # box rows at their bounds
    solution, step = solved(args, "coulomb"), change(args, 4)
    good = ahead(args, solution, step)
    step[where] = step[where].copy()
    step[where][2] = np.nan
    found = ahead(args, solution, step)
    rest = [0, 1, 3, 4]
    np.testing.assert_array_equal(found.impulse[rest], good.impulse[rest])
    np.testing.assert_array_equal(found.velocity[rest], good.velocity[rest])
    assert found.status[2] == GradientStatus.unsolved
    assert np.all(found.impulse[2] == 0)
    assert np.all(found.velocity[2] == 0)


@pytest.mark.parametrize("law", LAWS)
def test_arrays_of_float32(law):
    args = problems("dims", 5, envs=12, compliance=0.01)
    small = {k: v if k in FIXED else v.astype(np.float32) for k, v in args.items()}
    exact = {k: v if k in FIXED else v.astype(np.float64) for k, v in small.items()}
    rounded = stickslip.solve(**small, law=law)
    solution = solved(exact, law)
    loss = losses(small)
    found = back(small, rounded, loss, law=law)
    wanted = back(exact, solution, {k: v.astype(float) for k, v in loss.items()}, law=law)
    use = found.ok & wanted.ok & (wanted.kink_distance > 1e-4)
    assert use.mean() >= 0.7
    for part in ("b", "mu", "R", "lo", "hi", "W"):
        value = getattr(found, part)
        assert value.dtype == np.float32
        size = 1e-3 + np.abs(getattr(wanted, part)).reshape(12, -1).max(axis=1)
        error = np.abs(value - getattr(wanted, part)).reshape(12, -1).max(axis=1)
        assert np.all(error[use] <= 2e-4 * size[use]), part


def test_ragged_batches_are_their_environments():
    """Another number of rows and other dimensions in each slot; what lies beyond is 0."""
    kinds = [problems(kind, 6, envs=1, compliance=0.01) for kind in ("dims", "rows", "contacts")]
    counts = np.array([[1, 1, 1, 3], [2, 2, 3, 2], [0, 0, 0, 3], [0, 0, 0, 0]])
    n, t, p, box = 16, 10, 3, 3
    wide = {"W": np.zeros((4, n, n)), "b": np.full((4, n), 7.0), "mu": np.zeros((4, t)),
            "R": np.zeros((4, n)), "lo": np.zeros((4, box)), "hi": np.zeros((4, box))}  # fmt: skip
    dims = np.full((4, p), 3)
    for e, one in enumerate(kinds):
        rows = one["b"].shape[1]
        one["mu"] = np.repeat(one["mu"], 2, axis=1) if e == 2 else one["mu"]
        for name in wide:
            if name in one:
                value = one[name][0]
                wide[name][(e, *(slice(s) for s in value.shape))] = value
        dims[e, : len(one["dims"])] = one["dims"]
        assert rows <= n
    solution = stickslip.solve(**wide, dims=dims, counts=counts)
    loss = losses(wide)
    found = back(wide | {"dims": dims, "counts": counts}, solution, loss)
    for e, one in enumerate(kinds):
        rows = one["b"].shape[1]
        own = stickslip.solve(**one)
        np.testing.assert_array_equal(own.impulse[0], solution.impulse[e, :rows])
        alone = back(one, own, {k: v[e : e + 1, :rows] for k, v in loss.items()})
        for name in ("b", "mu", "R", "lo", "hi"):
            value, wanted = getattr(found, name)[e], getattr(alone, name)
            if wanted is not None:
                np.testing.assert_array_equal(value[: wanted.shape[1]], wanted[0])
                assert np.all(value[wanted.shape[1] :] == 0), name
    assert found.status[3] == GradientStatus.valid
    assert np.all(found.b[3] == 0)


def test_shared_arguments_and_single_problems_have_the_same_derivatives():
    args = problems("rows", 7, envs=4, compliance=0.01)
    shared = {k: v if k in FIXED else v[0] if k in ("mu", "R", "lo", "hi") else v
              for k, v in args.items()}  # fmt: skip
    full = args | {k: np.tile(args[k][0], (4, 1)) for k in ("mu", "R", "lo", "hi")}
    solution, loss = solved(full, "coulomb"), losses(args)
    one, other = back(shared, solution, loss), back(full, solution, loss)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
        assert len(getattr(one, part)) == 4
    single = back(chosen(full, 1), of(solution, 1), {k: v[1] for k, v in loss.items()})
    for part in PARTS:
        np.testing.assert_array_equal(getattr(single, part), getattr(other, part)[1])
    assert single.W.shape == full["W"][1].shape
    assert "Gradient(valid" in repr(single) or "Gradient(kink" in repr(single)


def test_friction_comes_back_in_the_form_it_was_given_in():
    args = problems("contacts", 8, envs=3, compliance=0.01)
    rows = args | {"mu": np.repeat(args["mu"], 2, axis=1)}
    number = args | {"mu": 0.4}
    solution, loss = solved(args, "coulomb"), losses(args)
    per_contact, per_row = back(args, solution, loss).mu, back(rows, solution, loss).mu
    np.testing.assert_allclose(per_contact, per_row.reshape(3, 3, 2).sum(axis=2), rtol=1e-14)
    assert np.any(per_contact != 0)
    of_number = back(number, solved(number, "coulomb"), loss)
    assert of_number.mu.shape == (3, 3)
    empty = np.zeros((0, 9, 9)), np.zeros((0, 9)), np.zeros((0, 3))
    none = stickslip.vjp(*empty, stickslip.solve(*empty), d_impulse=np.zeros((0, 9)))
    assert none.mu.shape == (0, 3)
    assert none.status_counts == {}


WRONG = {
    "d_impulse: expected shape": {"d_impulse": np.zeros((4, 9))},
    "d_velocity: expected shape": {"d_velocity": np.zeros((2, 9))},
    "solution: expected a Solution": {"solution": 3},
    "solution.impulse": {"solution": "other"},
    "law": {"law": "newton"},
    "tol": {"tol": -1.0},
    "options": {"options": 3},
}


@pytest.mark.parametrize("message", WRONG)
def test_misuse_is_refused_by_name(message):
    args = problems("contacts", 9, envs=3)
    wrong = dict(WRONG[message])
    solution = wrong.pop("solution", solved(args, "coulomb"))
    if solution == "other":
        solution = stickslip.solve(np.eye(6)[None], np.zeros((1, 6)), 0.5)
    with pytest.raises((TypeError, ValueError), match=message):
        back(args, solution, {}, **wrong)


def test_misuse_of_jvp_is_refused_by_name():
    args = problems("contacts", 9, envs=3)
    solution = solved(args, "coulomb")
    for message, step in {
        "db: expected shape": {"b": np.zeros((3, 8))},
        "dW: expected shape": {"W": np.zeros((3, 9, 8))},
        "dmu: expected": {"mu": np.zeros((3, 7))},
        "dR: expected shape": {"R": np.zeros((3, 2))},
        "dlo: expected None because the problem has no bounds": {"lo": np.zeros((3, 1))},
    }.items():
        with pytest.raises(ValueError, match=message):
            ahead(args, solution, step)


def test_a_loose_tolerance_is_the_one_that_tells_kinks():
    """`kink` means a kink_distance below 10 tolerances of the options."""
    args = {"W": np.eye(3)[None], "b": np.array([[-1.0, 0.51, 0.0]]), "mu": 0.5}
    solution = stickslip.solve(**args)
    for tol, wanted in ((1e-9, GradientStatus.valid), (1e-2, GradientStatus.kink)):
        options = SolveOptions(atol=tol, rtol=0.0)
        assert back(args, solution, losses(args), options=options).status[0] == wanted


def test_coefficients_per_contact_where_as_many_tangential_rows_are_in_use():
    """Two slots for contacts, of which one is in use: its two tangential rows are as many as mu."""
    W, b, mu = np.eye(6)[None], np.array([[-1.0, 2, 1, -1, 0, 0]]), np.array([[0.5, 0.4]])
    by = np.array([[0.0, 1, 1, 0, 0, 0]])

    def loss(mu):
        r = stickslip.solve(W, b, mu, counts=[1]).impulse
        return float((by * (np.einsum("eij,ej->ei", W, r) + b)).sum())

    solution = stickslip.solve(W, b, mu, counts=[1])
    gradient = stickslip.vjp(W, b, mu, solution, counts=[1], d_velocity=by)
    h = 1e-6
    differences = [(loss(mu + h * e) - loss(mu - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(gradient.mu[0], differences, atol=1e-7)
