"""Three articulated systems that lean on each other: their matrices, from MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import stickslip
from stickslip._gallery import vary

DT = 0.005  # s

# An arm (1) that holds down two bodies (2, 3), which lean on each other and stand on the floor.
SYSTEMS = {
    "1": """<body name="1a" pos="0.05 0.05 0.75"><joint axis="0 0 1"/><joint axis="0 1 0"/>
        <geom class="link" fromto="0 0 0 0.35 0 0.05"/>
      <body name="1b" pos="0.35 0 0.05"><joint axis="0 1 0"/>
        <geom class="link" fromto="0 0 0 0.15 0 -0.25"/>
      <body name="1c" pos="0.15 0 -0.25"><joint axis="0 1 0"/><joint axis="1 0 0"/>
        <geom class="link" fromto="0 0 0 -0.05 0 -0.2134"/>
        <geom class="tip" pos="-0.05 0 -0.2134"/></body></body></body>""",
    "2": """<body name="2a" pos="0 0 0.05"><freejoint/><geom class="tip"/>
        <geom class="link" fromto="0 0 0 0.25 0 0.15"/>
      <body name="2b" pos="0.25 0 0.15"><joint axis="0 1 0"/><joint axis="0 0 1"/>
        <geom class="tip"/><geom class="link" fromto="0 0 0 0.25 0 0.05"/>
        <geom class="tip" pos="0.25 0 0.05"/></body></body>""",
    "3": """<body name="3a" pos="0.75 0.1 0.05"><freejoint/><geom class="tip"/>
        <geom class="link" fromto="0 0 0 -0.25 0 0.2"/>
      <body name="3b" pos="-0.25 0 0.2"><joint axis="0 1 0"/><joint axis="0 0 1"/>
        <geom class="tip"/><geom class="link" fromto="0 0 0 -0.25 0 -0.05"/>
        <geom class="tip" pos="-0.25 0 -0.05"/></body></body>""",
}
FLOOR = '<geom type="plane" size="2 2 0.1" condim="3" margin="0.01"/>'
SCENE = """<mujoco>
  <option timestep="{dt}" cone="elliptic" jacobian="dense"/>
  <default>
    <geom density="500"/>
    <default class="link"><geom type="capsule" size="0.03" contype="0" conaffinity="0"/></default>
    <default class="tip"><geom size="0.05" condim="3" margin="0.01"/></default>
  </default>
  <worldbody>{world}</worldbody>
</mujoco>"""


@dataclass(frozen=True)
class Contact:
    """Its position, (n, t1, t2) as rows, and the bodies: n points from the first to the second."""

    point: np.ndarray
    frame: np.ndarray
    bodies: tuple[str, str]


class Mechanism:
    """A MuJoCo model whose bodies get `scale` (3,), one number per system, times their masses."""

    def __init__(self, world: str) -> None:
        import mujoco

        self.model = mujoco.MjModel.from_xml_string(SCENE.format(dt=DT, world=world))
        self.data = mujoco.MjData(self.model)
        self.names = [self.model.body(b).name for b in range(self.model.nbody)]
        self.first = self.model.body_mass.copy(), self.model.body_inertia.copy()

    def move(self, scale: np.ndarray, qdot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M and tau* = M qdot - dt (C - tau) (eq. 5)."""
        import mujoco

        factor = np.array(
            [scale[int(name[0]) - 1] if name[0] in SYSTEMS else 1.0 for name in self.names]
        )
        self.model.body_mass[:] = self.first[0] * factor
        self.model.body_inertia[:] = self.first[1] * factor[:, None]
        mujoco.mj_setConst(self.model, self.data)
        self.data.qvel[:] = qdot
        mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        C = self.data.qfrc_bias - self.data.qfrc_passive
        return M, M @ qdot - DT * C

    def contacts(self) -> list[Contact]:
        names = [self.names[body] for body in self.model.geom_bodyid]
        return [
            Contact(c.pos.copy(), c.frame.reshape(3, 3).copy(), (names[c.geom1], names[c.geom2]))
            for c in self.data.contact
        ]

    def jacobian(self, system: str, contacts: list[Contact]) -> np.ndarray:
        """J_ij of all contacts j (eq. 7): minus where the normal points out of the system."""
        import mujoco

        J = np.zeros((len(contacts), 3, self.model.nv))
        for rows, contact in zip(J, contacts, strict=True):
            for sign, body in zip((-1, 1), contact.bodies, strict=True):
                if body.startswith(system):
                    jac = np.zeros((3, self.model.nv))
                    index = self.names.index(body)
                    mujoco.mj_jac(self.model, self.data, jac, None, contact.point, index)
                    rows += sign * contact.frame @ jac
        return J.reshape(-1, self.model.nv)


@dataclass(frozen=True)
class Family:
    """Variations of the stack: M (E, nv, nv), tau* (E, nv), J (E, 3 p, nv), mu (E, p)."""

    M: np.ndarray
    tau: np.ndarray
    J: np.ndarray
    mu: np.ndarray
    apart: float  # largest difference from MuJoCo's M, tau*, J of all systems in one model


def whole() -> Mechanism:
    """All systems and the floor in one model."""
    return Mechanism(FLOOR + "".join(SYSTEMS.values()))


def family(variations: int) -> Family:
    """Stacks that differ in the masses of the three systems, in mu and in speed."""
    together, singles = whole(), {name: Mechanism(body) for name, body in SYSTEMS.items()}
    nv = [single.model.nv for single in singles.values()]
    direction = np.sin(np.arange(1, sum(nv) + 1) ** 2)  # of qdot, effectively random
    scales = 10 ** np.stack([vary(variations, k, -1, 1) for k in range(3)], axis=1)
    qdot = 10 ** vary(variations, 4, -2.5, 0)[:, None] * direction
    together.move(scales[0], qdot[0])
    contacts = together.contacts()
    stacks, apart = [], 0.0
    for scale, speed in zip(scales, qdot, strict=True):
        parts = np.split(speed, np.cumsum(nv)[:-1])
        systems = []
        for (name, single), part in zip(singles.items(), parts, strict=True):
            M, tau = single.move(scale, part)
            systems.append((M[None], tau[None], single.jacobian(name, contacts)[None]))
        stacks.append(stickslip.stack(systems))
        expected = *together.move(scale, speed), together.data.efc_J.reshape(-1, sum(nv))
        for found, array in zip(stacks[-1], expected, strict=True):
            apart = max(apart, float(abs(found[0] - array).max()))
    M, tau, J = (np.concatenate(arrays) for arrays in zip(*stacks, strict=True))
    mu = np.repeat(vary(variations, 3, 0.1, 1.0)[:, None], len(contacts), axis=1)
    return Family(M, tau, J, mu, apart)
