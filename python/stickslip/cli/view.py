"""`stickslip view`: a batch in the browser, its contact forces inside their friction cones."""

from __future__ import annotations

import socket
import webbrowser
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer

from stickslip import models
from stickslip._core import Status
from stickslip._src import picture
from stickslip._src.run import Controller
from stickslip._src.sim import BatchSim
from stickslip.cli import cones
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word

_FROM = np.array([0.47, -0.81, 0.34])  # where mjviser's camera stands, seen from the model
_DISTANCE = 2.0  # of the camera, in radii of the model: fills its field of view of 60 degrees


def view(
    model: choice.Model,
    envs: choice.Envs = 16,
    law: choice.SimLaw = "coulomb",
    control: choice.Controls = "random",
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
        fail(f'{error.name} is not installed: pip install ".[view]"')
    try:
        file = models.find(model)
        sim = BatchSim(file, envs, law=word(law), threads=threads)
        plain = models.load(file)
    except (ValueError, TypeError, RuntimeError) as error:
        fail(str(error))
    _check_address(host, port)
    show = Show(sim, plain, Controller(plain, envs, word(control), seed))
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
    show.enter(viewer.scene)
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
        self.fixed = (model.body_weldid == 0) & (model.body_mocapid[model.body_rootid] < 0)
        self._scene: Any = None
        self.reset()
        self.place(0)
        self.radius = self._reach()
        weight = np.linalg.norm(model.opt.gravity) * model.body_mass.sum()
        self._highest = 0.35 * self.radius
        self._scale = 0.5 * self.radius / max(float(weight), 1e-9)  # m per N

    def reset(self) -> None:
        """All environments back to the first keyframe or the initial state, and the cameras."""
        self.sim.reset(key=0 if self.model.nkey else None)
        self.steps = 0
        if self._scene is not None:
            self._aim()

    def step(self) -> None:
        """One time step of all environments."""
        self.sim.step(self.controller(self.steps, self.steps * self.sim.timestep))
        self.steps += 1

    def place(self, env: int) -> None:
        """Puts the bodies of `data` where those of an environment are."""
        import mujoco

        self.data.qpos[:] = self.sim.qpos[env]
        self.data.mocap_pos[:] = self.sim.mocap_pos[env]
        self.data.mocap_quat[:] = self.sim.mocap_quat[env]
        mujoco.mj_kinematics(self.model, self.data)

    def _centre(self) -> Any:
        """Position of the body that mjviser's camera follows, the first that moves; m."""
        return self.data.xpos[np.argmin(self.fixed)] if not self.fixed.all() else np.zeros(3)

    def _reach(self) -> float:
        """Radius around the centre that holds all that moves, m."""
        moves = ~self.fixed[self.model.geom_bodyid]
        if not moves.any():
            return float(self.model.stat.extent)
        away = np.linalg.norm(self.data.geom_xpos[moves] - self._centre(), axis=1)
        return float((away + self.model.geom_rbound[moves]).max())

    def enter(self, scene: Any) -> None:
        """Adds the panel, the contacts and the camera to mjviser's scene."""
        server, away = scene.server, _DISTANCE * self.radius
        server.initial_camera.position, server.initial_camera.look_at = away * _FROM, np.zeros(3)
        scene.create_scene_gui = partial(scene.create_scene_gui, camera_distance=away)
        # Where the camera follows a robot, the world moves instead: contacts go with the floor.
        world = scene.fixed_bodies_frame.name
        pyramidal = self.model.opt.cone == 0
        order = cones.limited(self.sim.law, pyramidal)
        self._drawing = cones.Drawing(server.scene, world, self.radius, order)
        self._order, self._scene = order, scene
        with server.gui.add_folder("Contacts"):
            self._verdict = server.gui.add_html("")
            box = server.gui.add_checkbox("Friction cones", initial_value=True)
            box.on_update(lambda _: self._drawing.show_cones(box.value))

    def _aim(self) -> None:
        """Points all cameras at the model."""
        self.place(self._scene.env_idx)
        target = np.zeros(3) if self._scene.camera_tracking_enabled else self._centre()
        for client in self._scene.server.get_clients().values():
            client.camera.position = target + _DISTANCE * self.radius * _FROM
            client.camera.look_at = target

    def render(self, scene: Any) -> None:
        """The environments as they are, and the contacts of the selected one."""
        sim, bodies = self.sim, self.model.nbody
        positions = np.empty((sim.num_envs, bodies, 3))
        rotations = np.empty((sim.num_envs, bodies, 3, 3))
        for env in range(sim.num_envs):
            self.place(env)
            positions[env] = self.data.xpos
            rotations[env] = self.data.xmat.reshape(-1, 3, 3)
        mocap = sim.mocap_pos, sim.mocap_quat
        scene.update_from_arrays(positions, rotations, *mocap, env_idx=scene.env_idx)
        self._draw_contacts(scene.env_idx)

    def _draw_contacts(self, env: int) -> None:
        contacts = self.sim.contacts(env) if self.steps else []
        fixed = self.fixed[self.model.geom_bodyid]
        shown = cones.cones(contacts, self._scale, self._highest, self._order, fixed)
        status = Status(self.sim.status[env])
        colour = picture.STATUS_COLOURS[status]
        self._drawing.update(shown, tuple(bytes.fromhex(colour[1:])))
        unsolved = int(np.count_nonzero(self.sim.status))
        slide, press = int(shown.slides.sum()), len(shown.slides)
        self._verdict.content = (
            f'<p>environment {env}: <b style="color: {colour}">{status.name}</b>, '
            f"residual {self.sim.residual[env]:.1e}, {len(contacts)} contacts: "
            f'<b style="color: rgb{cones.STICKS}">{press - slide} stick</b>, '
            f'<b style="color: rgb{cones.SLIDES}">{slide} slide</b><br/>'
            f"{unsolved} of {self.sim.num_envs} not solved</p>"
        )
