"""Environments of one batch with their own values for MuJoCo's model."""

import re

import numpy as np
import pytest
from sim_models import MACHINE, slope

from stickslip._src.sim import BatchSim

ANGLE = 0.5
MU = np.array([0.1, 0.3, 0.5, 0.8])


def test_friction_of_their_own():
    sim = BatchSim(slope(ANGLE, 0.0), 4, tol=1e-12)
    sim.vary("geom_friction", MU[:, None, None] * np.ones((2, 3)))
    for _ in range(100):
        sim.step()
    slides = np.maximum(0.0, 9.81 * (np.sin(ANGLE) - MU * np.cos(ANGLE)))
    np.testing.assert_allclose(sim.qvel[:, 0], 100 * sim.timestep * slides, atol=1e-10)


def test_derived_constants_follow():
    """MuJoCo's own steps of a varied batch equal those of models compiled with these values."""
    varied = BatchSim(slope(ANGLE, 0.3), 2, law="mujoco")
    varied.vary("body_mass", [[0.0, 3.0], [0.0, 9.0]])
    varied.vary("body_inertia", [[0.0] * 3 + [0.02] * 3, [0.0] * 3 + [0.06] * 3])
    for env, mass in enumerate((3.0, 9.0)):
        inertia = f'<inertial pos="0 0 0" mass="{mass}" diaginertia="{(f"{mass / 150} " * 3)}"/>'
        text = slope(ANGLE, 0.3).replace("<freejoint/>", "<freejoint/>" + inertia)
        one = BatchSim(text, law="mujoco")
        for _ in range(50):
            one.step()
        if env == 0:
            for _ in range(50):
                varied.step()
        np.testing.assert_allclose(varied.qpos[env], one.qpos[0], atol=1e-12)


def test_wrong_values():
    sim = BatchSim(MACHINE, 3)
    with pytest.raises(ValueError, match=r"field: expected an array of real numbers .* got mass"):
        sim.vary("mass", np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"got opt_gravity \(write opt.gravity\)$"):
        sim.vary("opt_gravity", np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"field: expected .* got geom_type"):
        sim.vary("geom_type", np.ones((3, 6)))
    with pytest.raises(
        ValueError, match="values: expected 5 numbers per environment for body_mass"
    ):
        sim.vary("body_mass", np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"values: expected shape \(3, ...\), got \(2, 5\)"):
        sim.vary("body_mass", np.ones((2, 5)))
    with pytest.raises(ValueError, match="values: expected finite"):
        sim.vary("body_mass", np.full((3, 5), np.nan))


def test_masses_are_positive_and_pictures_vary():
    sim = BatchSim(slope(ANGLE, 0.0), 3)
    nbody = sim.model.nbody
    masses = np.tile(sim.model.body_mass, (3, 1))
    sim.vary("body_mass", masses)  # of the world: 0
    masses[2, nbody - 1] = 0.0
    with pytest.raises(ValueError, match=r"values: expected numbers > 0 for body_mass.*ment 2"):
        sim.vary("body_mass", masses)
    colours = np.random.default_rng(0).uniform(size=(3, sim.model.ngeom, 4))
    sim.vary("geom_rgba", colours)
    assert np.allclose(sim.data(1).model.geom_rgba, colours[1], atol=1e-7)
    with pytest.raises(ValueError, match="nonsense"):
        sim.vary("nonsense", np.zeros((3, 1)))


def test_values_that_no_model_has_are_refused():
    sim = BatchSim(slope(ANGLE, 0.0), 3)
    for field, bad, expected in (
        ("geom_friction", -0.5, "numbers >= 0"),
        ("geom_size", 0.0, "numbers > 0"),
        ("geom_margin", -1.0, "numbers >= 0"),
        ("dof_armature", -1.0, "numbers >= 0"),
        ("body_inertia", 1e3, "A + B >= C"),
        ("body_quat", 0.0, "quaternions other than 0"),
        ("jnt_range", np.nan, "finite numbers"),
    ):
        own = getattr(sim.model, field)
        values = np.tile(own, (3, *[1] * own.ndim))
        values[1].flat[-1] = bad
        if field == "geom_size":
            values[1] = np.where(own > 0, bad, own)
        elif field == "body_quat":
            values[1] = bad
        with pytest.raises(
            ValueError, match=f"values: expected {re.escape(expected)} for {field}.*ment 1"
        ):
            sim.vary(field, values)
