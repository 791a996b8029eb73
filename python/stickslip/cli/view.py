"""`stickslip view`: a batch in the browser, its contact forces inside their friction cones."""

from __future__ import annotations

import socket
import webbrowser
from typing import Annotated, Any

import numpy as np
import typer

from stickslip import models, picture
from stickslip._core import Status
from stickslip.cli import options as choice
from stickslip.cli.options import SimLawName, fail
from stickslip.run import Controller
from stickslip.sim import BatchSim

_SIDES = 24  # of a friction cone


def view(
    model: choice.Model,
    envs: choice.Envs = 16,
    law: choice.SimLaw = SimLawName.coulomb,
    control: choice.Control = choice.ControlName.random,
    seed: choice.Seed = 0,
    threads: choice.Threads = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where to serve the page.")] = 8080,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0: other machines may look, too.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page.")] = True,
) -> None:
    """Show a batch in the browser: robots, contact forces, friction cones, colour by status."""
    try:
        import mjviser
        import viser
    except ModuleNotFoundError as error:
        fail(f'{error.name} is not installed: pip install "stickslip[view]"')
    try:
        file = models.find(model)
        sim = BatchSim(file, envs, law=str(law), threads=threads)
        plain = models.load(file)
    except (ValueError, TypeError, RuntimeError) as error:
        fail(str(error))
    _check_address(host, port)
    show = Show(sim, plain, Controller(plain, envs, str(control), seed))
    server = viser.ViserServer(host=host, port=port, label=f"stickslip: {file.stem}")
    viewer = mjviser.Viewer(
        plain,
        show.data,
        step_fn=lambda *_: show.step(),
        render_fn=show.render,
        reset_fn=lambda *_: show.reset(),
        num_envs=envs,
        server=server,
    )
    show.add_controls(server)
    if browser:
        webbrowser.open(f"http://{'localhost' if host == '0.0.0.0' else host}:{port}")
    viewer.run()


def _check_address(host: str, port: int) -> None:
    """viser does not report an address on which it cannot listen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        fail(f"--host, --port: cannot listen on {host}, port {port}: {error}")


class Show:
    """The view of a batch.

    Args:
        sim: the batch.
        model: its model, as mujoco has it.
        controller: its controls.
    """

    def __init__(self, sim: BatchSim, model: Any, controller: Controller) -> None:
        import mujoco

        self.sim, self.model, self.controller = sim, model, controller
        self.data = mujoco.MjData(model)
        self.steps = 0
        weight = -model.opt.gravity[2] * model.body_mass.sum()
        self._length = 0.3 * model.stat.extent / max(float(weight), 1e-9)  # m per N
        self._verdict: Any = None
        self.reset()

    def reset(self) -> None:
        """All environments back to the first keyframe or the initial state."""
        self.sim.reset(key=0 if self.model.nkey else None)

    def step(self) -> None:
        """One time step of all environments."""
        self.sim.step(self.controller(self.steps, self.steps * self.sim.timestep))
        self.steps += 1

    def add_controls(self, server: Any) -> None:
        """Adds the panel with the verdict."""
        with server.gui.add_folder("Contacts"):
            self._verdict = server.gui.add_html("")
            self._cones = server.gui.add_checkbox("Friction cones", initial_value=True)

    def render(self, scene: Any) -> None:
        """The environments as they are, and the contacts of the selected one."""
        import mujoco

        sim, bodies = self.sim, self.model.nbody
        positions = np.empty((sim.num_envs, bodies, 3))
        rotations = np.empty((sim.num_envs, bodies, 3, 3))
        for env in range(sim.num_envs):
            self.data.qpos[:] = sim.qpos[env]
            mujoco.mj_kinematics(self.model, self.data)
            positions[env] = self.data.xpos
            rotations[env] = self.data.xmat.reshape(-1, 3, 3)
        scene.update_from_arrays(positions, rotations, env_idx=scene.env_idx)
        self._draw_contacts(scene, scene.env_idx)

    def _draw_contacts(self, scene: Any, env: int) -> None:
        contacts = self.sim.contacts(env) if self.steps else []
        status = Status(self.sim.status[env])
        colour = picture.STATUS_COLOURS[status]
        cones = bool(contacts) and self._cones.value
        points = [arrow(c, self._length) for c in contacts]
        # Where the camera follows a robot, the world moves instead: contacts go with the floor.
        world = scene.fixed_bodies_frame.name
        scene.server.scene.add_arrows(
            f"{world}/contacts/forces",
            np.array(points, np.float32).reshape(-1, 2, 3),
            tuple(bytes.fromhex(colour[1:])),
            shaft_radius=0.004 * self.model.stat.extent,
            head_radius=0.01 * self.model.stat.extent,
            head_length=0.02 * self.model.stat.extent,
            visible=bool(contacts),
        )
        lines = [cone(c, self._length) for c in contacts] if cones else []
        scene.server.scene.add_line_segments(
            f"{world}/contacts/cones",
            np.concatenate(lines).astype(np.float32) if lines else np.zeros((1, 2, 3), np.float32),
            (90, 90, 90),
            visible=cones,
        )
        unsolved = int(np.count_nonzero(self.sim.status))
        self._verdict.content = (
            f'<p>environment {env}: <b style="color: {colour}">{status.name}</b>, '
            f"residual {self.sim.residual[env]:.1e}, {len(contacts)} contacts<br/>"
            f"{unsolved} of {self.sim.num_envs} not solved</p>"
        )


def arrow(contact: dict[str, Any], length: float) -> np.ndarray:
    """(2, 3) m: from the contact along its force, `length` metres per newton."""
    force = contact["force"][:3] @ contact["frame"]
    return np.stack([contact["position"], contact["position"] + length * force])


def cone(contact: dict[str, Any], length: float) -> np.ndarray:
    """(K, 2, 3) m: edges and rim of the friction cone at the height of the normal force, so that
    the force of a sliding contact ends on the rim and that of a sticking one within it."""
    normal, first, second = contact["frame"]
    mu = np.resize(contact["friction"], 2) if len(contact["friction"]) else np.zeros(2)
    angles = np.linspace(0, 2 * np.pi, _SIDES, endpoint=False)
    tangents = np.outer(mu[0] * np.cos(angles), first) + np.outer(mu[1] * np.sin(angles), second)
    rim = normal + tangents
    rim = contact["position"] + length * contact["force"][0] * rim
    tip = np.broadcast_to(contact["position"], rim.shape)
    edges = np.stack([tip, rim], axis=1)[:: _SIDES // 8]
    return np.concatenate([np.stack([rim, np.roll(rim, -1, axis=0)], axis=1), edges])
