"""A box on a plane with a contact at each of its four lower corners, for examples of derivatives.

Velocities are those of the body's frame, (vx, vy, vz, wx, wy, wz), rows of a contact (normal, two
tangents). The four corners are redundant, so that rows are given compliance: `softness` times W_nn
of their contact, in the tangents `creep` times it (docs/gradients.md).
"""

from __future__ import annotations

import numpy as np

G = 9.81  # m/s²


class Box:
    """A box of 1 kg with these half sizes, m. Of another mass m: M m, W / m, R / m."""

    def __init__(self, half: tuple[float, float, float], softness: float, creep: float) -> None:
        size = np.array(half)
        corners = [np.array([x, y, -1]) * size for x in (-1, 1) for y in (-1, 1)]
        frame = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
        arms = [np.hstack([np.eye(3), np.cross(np.eye(3), p).T]) for p in corners]
        self.J = np.concatenate([frame @ arm for arm in arms])
        square = size**2
        self.M_inverse = np.r_[1, 1, 1, 3 / (square.sum() - square)]
        W = (self.J * self.M_inverse) @ self.J.T
        self.W = (W + W.T) / 2
        self.R = np.kron(np.diag(self.W)[::3], [softness, creep, creep])
