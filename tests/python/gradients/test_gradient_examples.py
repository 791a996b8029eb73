"""The gallery's examples of derivatives: what their checks do not say (test_gallery.py)."""

import numpy as np
import pytest

from gallery.box import Box
from gallery.entries import identify_boxes, push_box, robot_torques


def test_corners_of_the_box_move_with_it():
    box = Box((0.2, 0.15, 0.1), softness=1e-3, creep=1e-4)
    velocity, spin = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    rows = (box.J @ np.r_[velocity, spin]).reshape(4, 3)
    corners = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    for (up, along, across), corner in zip(rows, corners, strict=True):
        at_corner = velocity + np.cross(spin, corner)
        np.testing.assert_allclose([along, across, up], at_corner, atol=1e-15)
    np.testing.assert_allclose(box.R[:3], box.W[0, 0] * np.array([1e-3, 1e-4, 1e-4]))


@pytest.fixture(scope="module")
def identified():
    return identify_boxes.run(200)


@pytest.mark.parametrize(("kind", "most"), [("exact", 1e-7), ("observed", 1e-3)])
def test_friction_and_mass_of_boxes_are_identified(identified, kind, most):
    errors = np.median(identified.series[f"{kind}: errors"], axis=1)
    assert errors[1, 0] > 0.02  # it is not the first step that does it
    assert errors[identify_boxes.ITERATIONS, 0] < most
    assert errors[identify_boxes.ITERATIONS, 1] < 3 * most


def test_errors_of_friction_are_those_that_the_noise_predicts(identified):
    predicted, actual = identified.series["predicted, actual error of mu"]
    assert 0.6 < np.median(actual / predicted) < 0.75  # 0.674 of a normal distribution


def test_a_wrong_sensitivity_is_noticed(monkeypatch):
    turn = identify_boxes.turn
    monkeypatch.setattr(identify_boxes, "turn", lambda v, S: (turn(v, S)[0], S))
    check = identify_boxes.run(8).checks[0]
    assert check.name.startswith("sensitivities")
    assert not check.holds


@pytest.fixture(scope="module")
def pushed():
    return push_box.run(20)


def test_boxes_are_at_rest_until_compliance_moves_them(pushed):
    away = np.linalg.norm(pushed.series["target"], axis=1)
    assert np.abs(pushed.series[f"{push_box.EXACT}: distances"] - away).max() < 1e-6
    soft = pushed.series[f"{push_box.SOFT}: distances"]
    assert (soft[0] < push_box.NEAR).mean() == 0
    assert (soft[-1] < push_box.NEAR).mean() >= 0.9


def test_sampled_gradients_of_a_push_take_more_solves(pushed):
    solves = {name: pushed.numbers[f"{name}: solves of a box"] for name in push_box.COLOURS}
    for name in (push_box.OF_GRADIENTS, push_box.OF_LOSSES):
        assert solves[name] == 16 * solves[push_box.SOFT]
        start, end = np.median(pushed.series[f"{name}: distances"][[0, -1]], axis=1)
        assert end < 0.6 * start


def test_the_closed_form_of_a_push_depends_on_the_compliance():
    rigid, soft, softer = (
        push_box.travel(Box(push_box.HALF, softness, 0.0)) for softness in (1e-9, 1e-3, 2e-3)
    )
    assert (rigid < 1e-12).all()
    np.testing.assert_allclose(softer / soft, 2, rtol=1e-2)


def test_the_gradients_of_torques_are_those_of_differences():
    robots = robot_torques.Robots(robot_torques.standing(16, seed=2))
    torque = np.random.default_rng(0).uniform(-0.5, 0.5, (16, robots.B.shape[1]))
    exact = robots.exact(torque)[1]
    ok = robots.valid
    numeric = robots.differences(torque, 1e-5)[1]
    assert ok.mean() >= 0.8
    error = np.abs(exact - numeric).max(axis=(1, 2)) / np.abs(numeric).max(axis=(1, 2))
    assert np.median(error[ok]) < 1e-4


def test_solves_are_counted_until_the_goal():
    errors = [(1, np.array([1.0, 1.0, 0.0])), (3, np.array([1e-4, 1.0, 0.0]))]
    assert robot_torques.solves_needed(errors).tolist() == [3, np.inf, 1]
