"""How `stickslip view` draws contacts: arrows for the forces, cones that contain them."""

from __future__ import annotations

import numpy as np
import pytest
from sim_models import slope

from stickslip import BatchSim
from stickslip.cli.view import arrow, cone

GRAVITY, MASS = 9.81, 4.0  # m/s², kg


@pytest.mark.parametrize(("angle", "slides"), [(0.2, False), (0.7, True)])
def test_a_force_that_slides_ends_on_the_rim(angle, slides):
    sim = BatchSim(slope(angle, mu=0.5), 1, law="coulomb")
    for _ in range(50):
        sim.step()
    contacts = sim.contacts(0)
    assert contacts
    on_rim = []
    for contact in contacts:
        length = 0.01
        start, end = arrow(contact, length)
        lines = cone(contact, length)
        np.testing.assert_array_equal(start, contact["position"])
        normal = contact["frame"][0]
        height = (end - start) @ normal
        assert height == pytest.approx(length * contact["force"][0])
        rim = lines[:24, 0]
        np.testing.assert_allclose((rim - start) @ normal, height)
        radius = np.linalg.norm(rim - start - np.outer((rim - start) @ normal, normal), axis=1)
        np.testing.assert_allclose(radius, contact["friction"][0] * height)
        reach = np.linalg.norm(end - start - height * normal)
        assert reach <= radius[0] * (1 + 1e-6)
        on_rim.append(reach > radius[0] * (1 - 1e-6))
    assert all(on_rim) == slides  # at rest, forces are not unique: some may reach the rim
    total = sum(np.diff(arrow(c, 1.0), axis=0)[0] for c in contacts)
    assert total[2] == pytest.approx(MASS * GRAVITY * np.cos(angle), rel=1e-3)
    if not slides:
        assert total[0] == pytest.approx(-MASS * GRAVITY * np.sin(angle), rel=1e-3)
