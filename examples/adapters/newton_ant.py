"""Newton's ant and quadruped, stepped by SolverStickslip. The assets are those that Newton brings.

    pip install "stickslip[newton]"
    python examples/adapters/newton_ant.py    # CPU; about half a minute, more at the first run

Prints for each robot how many of its steps were solved, and how much of its weight the floor
carries at the end.
"""

from __future__ import annotations

import sys
from typing import Any

import newton
import newton.examples
import numpy as np
import warp as wp
from newton.solvers import SolverMuJoCo

from stickslip import Status
from stickslip.newton import SolverStickslip

STEP = 0.005  # s


def ant() -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    SolverMuJoCo.register_custom_attributes(builder)
    path = newton.examples.get_asset("nv_ant.xml")
    builder.add_mjcf(path, ignore_names=["floor", "ground"])
    builder.joint_q[2] = 0.9
    return builder


def quadruped() -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    SolverMuJoCo.register_custom_attributes(builder)
    builder.default_joint_cfg.armature = 0.01
    builder.default_joint_cfg.target_ke, builder.default_joint_cfg.target_kd = 200.0, 10.0
    builder.add_urdf(
        newton.examples.get_asset("quadruped.urdf"),
        xform=wp.transform(wp.vec3(0.0, 0.0, 0.7), wp.quat_identity()),
        floating=True,
        enable_self_collisions=False,
        ignore_inertial_definitions=True,
    )
    legs = [0.2, 0.4, -0.6, -0.2, -0.4, 0.6, -0.2, 0.4, -0.6, 0.2, -0.4, 0.6]
    builder.joint_q[-12:] = legs
    builder.joint_target_q[-12:] = legs
    return builder


def worlds(builder: newton.ModelBuilder, count: int) -> newton.Model:
    scene = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scene.replicate(builder, count)
    scene.add_ground_plane()
    return scene.finalize()


class Run:
    """Steps of a model. `contacts` are the contact points that MuJoCo's collision detection finds,
    or Newton's with `own_contacts`."""

    def __init__(self, model: newton.Model, own_contacts: bool = False, **options: Any) -> None:
        self.model = model
        self.solver = SolverStickslip(
            model, njmax=120, nconmax=64, use_mujoco_contacts=not own_contacts, **options
        )
        room = None if own_contacts else self.solver.get_max_contact_count()
        self.pipeline = newton.CollisionPipeline(model, rigid_contact_max=room)
        self.own_contacts, self.contacts = own_contacts, self.pipeline.contacts()
        kinds = self.solver.ObservableKind
        self.observables = self.solver.observables(
            {kinds.STATUS, kinds.RESIDUAL, kinds.OVERFLOW, kinds.CONTACT_F}, contacts=self.contacts
        )
        self.state, self.next, self.control = model.state(), model.state(), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, self.state)

    def step(self) -> np.ndarray[Any, Any]:
        """One step. Returns the status of each world."""
        self.state.clear_forces()
        if self.own_contacts:
            self.pipeline.collide(self.state, self.contacts)
        self.solver.step(
            self.state, self.next, self.control, self.contacts, STEP, observables=self.observables
        )
        self.state, self.next = self.next, self.state
        return self.observables.stickslip_status.numpy()

    def carried(self) -> float:
        """Vertical force of the floor on all worlds, relative to their weight."""
        count = self.contacts.rigid_contact_count.numpy()[0]
        force = self.observables.contact_f.numpy()[:count, 2]  # on the first shape, in N
        on_floor = [
            self.model.shape_body.numpy()[shapes.numpy()[:count]] < 0
            for shapes in (self.contacts.rigid_contact_shape0, self.contacts.rigid_contact_shape1)
        ]
        weight = 9.81 * self.model.body_mass.numpy().sum()
        return float(force[on_floor[1]].sum() - force[on_floor[0]].sum()) / weight


def main(steps: int = 600, count: int = 4) -> None:
    for name, builder in (("ant", ant()), ("quadruped", quadruped())):
        run = Run(worlds(builder, count))
        solved = sum(int((run.step() == Status.solved).sum()) for _ in range(steps))
        print(
            f"{name}: {solved} of {steps * count} steps solved, {run.carried():.4f} of the weight"
        )


if __name__ == "__main__":
    with wp.ScopedDevice("cpu"):
        main(*(int(argument) for argument in sys.argv[1:]))
