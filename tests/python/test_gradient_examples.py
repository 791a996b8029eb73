"""examples/gradients: smaller runs reach what docs/gradients.md says of them."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "gradients"


@pytest.fixture
def example(monkeypatch):
    """The examples as modules."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def test_corners_of_the_box_move_with_it(example):
    box = example("box").Box((0.2, 0.15, 0.1), softness=1e-3, creep=1e-4)
    velocity, spin = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    rows = (box.J @ np.r_[velocity, spin]).reshape(4, 3)
    corners = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    for (up, along, across), corner in zip(rows, corners, strict=True):
        at_corner = velocity + np.cross(spin, corner)
        np.testing.assert_allclose([along, across, up], at_corner, atol=1e-15)
    np.testing.assert_allclose(box.R[:3], box.W[0, 0] * np.array([1e-3, 1e-4, 1e-4]))


@pytest.mark.parametrize(("noise", "most"), [(0.0, 1e-7), (0.01, 1e-3)])
def test_friction_and_mass_of_boxes_are_identified(example, noise, most, tmp_path, capsys):
    figure = tmp_path / "identify.png"
    history = example("identify_boxes").main(200, 6, noise, str(figure))
    assert np.median(history[0]["mu"]) > 0.02
    assert np.median(history[-1]["mu"]) < most
    assert np.median(history[-1]["mass"]) < 3 * most
    assert history[-1]["valid"] == 1
    assert figure.stat().st_size > 10_000
    assert "200 boxes" in capsys.readouterr().out


def test_sensitivities_of_a_trajectory_are_those_of_differences(example):
    module = example("identify_boxes")
    experiment = module.Experiment(20, seed=3)
    at = experiment.run(experiment.mu, experiment.mass)
    for j, name in enumerate(("mu", "mass")):
        ends = []
        for sign in (1, -1):
            values = {"mu": experiment.mu, "mass": experiment.mass}
            values[name] = values[name] * np.exp(sign * 1e-5)
            ends.append(experiment.run(**values).velocity)
        numeric = (ends[0] - ends[1]) / 2e-5
        error = np.abs(at.sensitivity[..., j] - numeric).max(axis=(0, 2))
        assert np.median(error / np.abs(numeric).max(axis=(0, 2))) < 1e-6


def test_the_gradient_of_a_push_is_that_of_differences_where_boxes_slide(example):
    module = example("push_box")
    target, force = module.tasks(20)
    force = 2.5 * module.MU * module.G * force / np.linalg.norm(force, axis=1)[:, None]
    problem = module.Push(target, 1e-3)
    exact = problem.gradient(force)
    for j in (0, 1):
        step = 1e-6 * np.eye(2)[j]
        numeric = (problem.run(force + step)[0] - problem.run(force - step)[0]) / 2e-6
        assert np.abs(exact[:, j] - numeric).max() <= 1e-6 * np.abs(numeric).max()


def test_a_push_from_inside_the_cone_needs_compliance(example):
    module = example("push_box")
    target, force = module.tasks(20)
    rigid, soft = module.Push(target, 0.0), module.Push(target, 1e-3)
    distances = module.descend(rigid, force, lambda force, k: rigid.gradient(force), 5)
    assert np.abs(distances - np.linalg.norm(target, axis=1)).max() < 1e-6
    assert np.abs(rigid.gradient(force)).max() < 1e-10
    assert 1e-6 < np.abs(soft.gradient(force)).max() < 1e-3
    distances = module.descend(soft, force, lambda force, k: soft.gradient(force), 25)
    assert (distances[0] < 0.02).mean() == 0
    assert (distances[-1] < 0.02).mean() >= 0.9


def test_sampled_gradients_of_a_push_take_more_solves(example, tmp_path):
    figure = tmp_path / "push.png"
    results = example("push_box").main(4, 5, str(figure))
    _, exact, mean, losses = results.values()
    assert mean["solves"] == losses["solves"] == 16 * exact["solves"]
    for found in (mean, losses):
        start, end = np.median(found["distances"][[0, -1]], axis=1)
        assert end < 0.6 * start
    assert figure.stat().st_size > 10_000


def test_torques_of_ants_are_found_with_few_solves(example, tmp_path, capsys):
    pytest.importorskip("mujoco")
    models = pytest.importorskip("stickslip.models")
    if "ant" not in models.available():
        pytest.skip("gymnasium's models are not installed")
    figure = tmp_path / "torques.png"
    module = example("robot_torques")
    results = module.main(24, str(figure))
    exact, differences, sampled = (
        results[name]["needed"]
        for name in ("gradients (step_vjp)", "finite differences", "sampling")
    )
    assert np.isfinite(exact).mean() >= 0.85
    assert np.median(exact) <= 5
    assert np.median(differences) >= 8 * np.median(exact)
    assert np.median(sampled) >= 50 * np.median(exact)
    assert np.median(results["simulated"]) < 1e-6  # BatchSim's step is the one that was solved
    assert figure.stat().st_size > 10_000


def test_the_gradients_of_torques_are_those_of_differences(example):
    pytest.importorskip("mujoco")
    models = pytest.importorskip("stickslip.models")
    if "ant" not in models.available():
        pytest.skip("gymnasium's models are not installed")
    module = example("robot_torques")
    robots = module.Robots(module.standing(16, seed=2))
    torque = np.random.default_rng(0).uniform(-0.5, 0.5, (16, robots.B.shape[1]))
    _, exact, ok = robots.exact(torque)
    _, numeric, _ = robots.differences(torque, 1e-5)
    assert ok.mean() >= 0.8
    error = np.abs(exact - numeric).max(axis=(1, 2)) / np.abs(numeric).max(axis=(1, 2))
    assert np.median(error[ok]) < 1e-4
