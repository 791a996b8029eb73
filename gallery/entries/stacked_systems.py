"""Three articulated systems in contact, stacked in one problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import stickslip
from gallery import stacked
from gallery.record import Check, Record
from gallery.stacked import DT, Family
from stickslip._src.aliases import Directions

TITLE = "Stacked articulated systems"
DOCUMENT = "000"

D: Directions = 8  # directions, as in the document's figure 1(a)
TOLERANCE, BOUND = 1e-10, 4e-9  # of solves, of checks
EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5)  # CFM
POLYGONS = (4, 8, 16, 32)  # directions


@dataclass(frozen=True)
class Step:
    """Solutions of a family: qdot+ (E, nv), impulses dt (f_n, D f_d) (E, p, 3), lambda (E, p)."""

    qdot: np.ndarray
    impulse: np.ndarray
    slip: np.ndarray
    violation: float  # of expressions 1 to 9, forces as impulses
    unsolved: float
    mixing: np.ndarray  # (E,) largest |epsilon A_ii z_i|, what CFM adds to the rows


def _equation_12(family: Family, d: int, scaled: bool = False) -> stickslip.ContactLcp:
    N, B = stickslip.contact_columns(family.J, d)
    return stickslip.stewart_trinkle(
        family.M, family.tau, N, B, family.mu, dt=DT, directions=d, scaled=scaled
    )


def _solve(
    family: Family, *, mixed: bool = False, scaled: bool = False, cfm: float = 0.0, d: int = D
) -> Step:
    lcp = _equation_12(family, d, scaled)
    if mixed:  # eq. 12
        solution = stickslip.solve_lcp(lcp.M, lcp.q, n_free=lcp.n_free, tol=TOLERANCE)
        z, mixing = solution.z, np.zeros(len(lcp.q))
    else:  # eq. 14, and back into the equations of motion
        form = stickslip.standard_form(lcp.M, lcp.q, n_free=lcp.n_free)
        solution = stickslip.solve_lcp(form.A, form.q, cfm=cfm, tol=TOLERANCE)
        z = form.restore(solution.z)
        mixing = cfm * abs(np.einsum("eii->ei", form.A) * solution.z).max(axis=1)
    p, nv = family.mu.shape[1], lcp.n_free
    qdot, f_n, f_d, slip = np.split(z, np.cumsum([nv, p, p * d]), axis=1)
    f_d = f_d.reshape(-1, p, d)
    slip = slip * (DT if scaled else 1.0)
    angles = 2 * np.pi * np.arange(d) / d
    impulse = DT * np.stack([f_n, f_d @ np.cos(angles), f_d @ np.sin(angles)], axis=2)
    N, B = stickslip.contact_columns(family.J, d)
    conditions = [
        (np.einsum("eji,ej->ei", N, qdot), DT * f_n),
        (np.einsum("eji,ej->ei", B, qdot).reshape(f_d.shape) + slip[..., None], DT * f_d),
        (DT * (family.mu * f_n - f_d.sum(axis=2)), slip),
    ]
    violation = max(abs(np.minimum(*pair)).max() for pair in conditions)
    return Step(qdot, impulse, slip, violation, float((~solution.ok).sum()), mixing)


def run(variations: int) -> Record:
    """A time step of `variations` stacks."""
    family = stacked.family(variations)
    mixed, reduced, scaled = _solve(family, mixed=True), _solve(family), _solve(family, scaled=True)
    soft = [_solve(family, cfm=epsilon) for epsilon in EPSILONS]
    errors = np.array([_apart(step.qdot, reduced.qdot) for step in soft])
    order = np.diff(np.log(np.sqrt((errors**2).mean(axis=1)))) / np.diff(np.log(EPSILONS))
    law, exact, failed = _other_laws(family, reduced)
    polygons = np.array([_apart(_solve(family, d=d).qdot, exact) for d in POLYGONS])
    steps = [mixed, reduced, scaled, *soft]
    checks = [
        Check("stacked M, tau*, J against MuJoCo's of one model", family.apart, 1e-13),
        Check("steps not solved", sum(step.unsolved for step in steps) + failed, 0.0),
        Check("expressions 1 to 9, m/s or N s", max(s.violation for s in steps[:3]), BOUND),
        *_same("mixed against reduced", mixed, reduced),
        *_same("scaled by dt against not", scaled, reduced),
        Check("residual by the law pyramid, m/s", law, BOUND),
        Check("order of convergence in epsilon, from 1", abs(order[-1] - 1), 0.01),
    ]
    numbers = {f"order, epsilon from {e:g} on": o for e, o in zip(EPSILONS, order, strict=False)}
    last = soft[-1]
    impulses = _apart(last.impulse, reduced.impulse)
    numbers["kappa: change of qdot over that of the rows, largest"] = max(errors[-1] / last.mixing)
    numbers["the same of the impulses, largest"] = max(impulses / last.mixing)
    numbers["contacts that slide, share"] = (reduced.slip > 1e-9).mean()
    series = {
        "mixed": mixed.impulse,
        "reduced": reduced.impulse,
        "slip": reduced.slip,
        "mu": family.mu,
        "errors": errors,
        "polygons": polygons,
        "equation 12": _equation_12(family, D).M[0],
    }
    return Record(checks, numbers, series)


def _other_laws(family: Family, step: Step) -> tuple[float, np.ndarray, float]:
    """The step's residual by the law `pyramid`, qdot+ of the circular cone, and failures there."""
    v_free = np.linalg.solve(family.M, family.tau[..., None])[..., 0]
    W, b = stickslip.delassus(family.M, family.J), np.einsum("eij,ej->ei", family.J, v_free)
    mu, impulse = np.repeat(family.mu, 2, axis=1), step.impulse.reshape(b.shape)
    residual = stickslip.residual(W, b, mu, impulse, law="pyramid", directions=D)
    coulomb = stickslip.solve(W, b, mu, law="coulomb")
    qdot = stickslip.apply_impulse(family.M, family.J, coulomb.impulse, v_free)
    return residual.max(), qdot, float((~coulomb.ok).sum())


def _same(name: str, one: Step, other: Step) -> list[Check]:
    qdot, impulse = _apart(one.qdot, other.qdot).max(), _apart(one.impulse, other.impulse).max()
    return [Check(f"qdot: {name}", qdot, BOUND), Check(f"impulses: {name}, N s", impulse, BOUND)]


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Largest difference per variation."""
    return abs(one - other).reshape(len(one), -1).max(axis=1)


def draw(record: Record) -> Figure:
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3)
    _scene(axes[0, 0])
    _matrix(axes[0, 1], record)
    _agreement(axes[0, 2], record)
    _cones(axes[1, 0], record)
    _mixing(axes[1, 1], record)
    _polygons(axes[1, 2], record)
    return figure


def _oblique(points: np.ndarray) -> np.ndarray:
    """Points (n, 3) seen from the side and slightly from above."""
    return points[:, [0, 2]] + points[:, [1]] * [0.9, 0.5]


def _scene(axes: Any) -> None:
    """Tips, links, and the contacts by their numbers."""
    whole = stacked.whole()
    whole.move(np.ones(3), np.zeros(whole.model.nv))
    for geom in range(1, whole.model.ngeom):
        colour = f"C{int(whole.names[whole.model.geom_bodyid[geom]][0]) - 1}"
        centre = whole.data.geom_xpos[geom]
        if whole.model.geom_contype[geom]:
            axes.add_patch(Circle(_oblique(centre[None])[0], 0.05, color=colour, alpha=0.5))
        else:
            half = whole.model.geom_size[geom, 1] * whole.data.geom_xmat[geom].reshape(3, 3)[:, 2]
            axes.plot(*_oblique(centre + np.array([-half, half])).T, colour, linewidth=5, alpha=0.5)
    points = np.array([contact.point for contact in whole.contacts()])
    for number, place in enumerate(_oblique(points), 1):
        axes.plot(*place, "k.", markersize=4)
        axes.annotate(str(number), place, textcoords="offset points", xytext=(4, -9))
    axes.set(xlabel="x [m]", ylabel="z [m]", title="three systems, six contacts", aspect="equal")


def _matrix(axes: Any, record: Record) -> None:
    """The positions and sizes of the entries of eq. 12."""
    matrix = record.series["equation 12"]
    shown = np.full(matrix.shape, np.nan)
    np.log10(abs(matrix), where=matrix != 0, out=shown)
    image = axes.imshow(shown, cmap="viridis", vmin=-6)
    axes.figure.colorbar(image, ax=axes, label="log10 |entry|")
    p = record.series["slip"].shape[1]
    blocks = np.cumsum([0, len(matrix) - p * (D + 2), p, p * D, p])
    for block in blocks[1:-1]:
        axes.axhline(block - 0.5, color="r", linewidth=0.5)
        axes.axvline(block - 0.5, color="r", linewidth=0.5)
    labels = ("q̇", "$f_n$", "$f_d$", "λ")
    axes.set_xticks((blocks[1:] + blocks[:-1]) / 2, labels)
    axes.set_yticks((blocks[1:] + blocks[:-1]) / 2, ("0", "a", "b", "c"))
    axes.set_title("the matrix of eq. 12")


def _agreement(axes: Any, record: Record) -> None:
    mixed, reduced = record.series["mixed"], record.series["reduced"]
    axes.plot(mixed.ravel(), reduced.ravel(), ".", markersize=1)
    axes.axline((0, 0), slope=1, color="r", linewidth=0.4)
    axes.set(xlabel="impulse, eq. 12 [N s]", ylabel="impulse, eq. 14 [N s]")
    axes.set_title(f"{mixed.size:,} impulses, at most {abs(mixed - reduced).max():.0e} apart")


def _cones(axes: Any, record: Record) -> None:
    """Friction over normal impulse of every contact: on the line it slides, below it sticks."""
    impulse, slip, mu = (record.series[name] for name in ("reduced", "slip", "mu"))
    presses = impulse[..., 0] > 1e-9
    ratio = np.linalg.norm(impulse[..., 1:], axis=2)[presses] / impulse[..., 0][presses]
    slides = slip[presses] > 1e-9
    for label, which, colour in (("slides", slides, "C0"), ("sticks", ~slides, "C1")):
        axes.plot(mu[presses][which], ratio[which], f"{colour}.", markersize=2, label=label)
    axes.axline((0, 0), slope=1, color="r", linewidth=0.6)
    axes.set(xlabel="μ", ylabel="friction / normal force", title="the family: stick and slip")
    axes.legend(markerscale=5)


def _mixing(axes: Any, record: Record) -> None:
    errors = record.series["errors"]
    axes.loglog(EPSILONS, errors[:, :: max(1, errors.shape[1] // 100)], "C0", linewidth=0.3)
    axes.loglog(EPSILONS, np.sqrt((errors**2).mean(axis=1)), "ko-", label="root mean square")
    axes.loglog(EPSILONS, EPSILONS, "r", linewidth=0.6, label="slope 1")
    axes.set(xlabel="ε", ylabel="|q̇(ε) - q̇(0)|", title="constraint force mixing")
    axes.legend()


def _polygons(axes: Any, record: Record) -> None:
    errors = record.series["polygons"]
    axes.loglog(POLYGONS, errors[:, :: max(1, errors.shape[1] // 100)], "C0", linewidth=0.3)
    axes.loglog(POLYGONS, np.sqrt((errors**2).mean(axis=1)), "ko-", label="root mean square")
    axes.loglog(POLYGONS, 1 / np.array(POLYGONS), "r", linewidth=0.6, label="slope -1")
    axes.set(xlabel="directions d", ylabel="|q̇ - q̇ of the circular cone|", title="the pyramid")
    axes.set_xticks(POLYGONS, POLYGONS)
    axes.minorticks_off()
    axes.legend()
