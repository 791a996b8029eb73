"""`stickslip view`: a batch in the browser, its contact forces inside their friction cones."""

from __future__ import annotations

import copy
import socket
import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import typer

from stickslip import models
from stickslip._core import Status
from stickslip._src import picture
from stickslip._src.aliases import Control
from stickslip._src.run import Controller
from stickslip._src.sim import BatchSim
from stickslip._src.stage import moving
from stickslip.cli import cones, grid
from stickslip.cli import options as choice
from stickslip.cli.options import fail, word
from stickslip.cli.training import import_rl, require_env

_FROM = np.array([0.47, -0.81, 0.34])  # where mjviser's camera stands, seen from the model
_DISTANCE = 2.0  # of the camera, in radii of the model: fills its field of view of 60 degrees


def view(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="An MJCF, URDF or .mjb file, a short name, or the folder of `stickslip train`.",
        ),
    ],
    envs: choice.Envs = 16,
    law: choice.RunLaw = None,
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
    _check_address(host, port)
    options: dict[str, Any] = {"threads": threads} | ({"law": word(law)} if law else {})
    trained = (Path(model) / "settings.json").is_file()
    if trained:
        require_env(import_rl("runs").load(Path(model)).env)
    try:
        if trained:
            driver: Driver = Replay(Path(model), envs, seed, **options)
        else:
            driver = Controlled(models.find(model), envs, word(control), seed, **options)
    except (ValueError, TypeError, RuntimeError, FileNotFoundError) as error:
        fail(str(error))
    show = Show(driver)
    server = viser.ViserServer(host=host, port=port, label=f"stickslip: {Path(model).stem}")
    viewer = mjviser.Viewer(
        show.model,
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


class Driver(Protocol):
    """What moves a batch."""

    sim: BatchSim
    model: Any  #: as mujoco has it; its time step is that of `step`

    def reset(self) -> None:
        """All environments back to their start."""

    def step(self) -> None:
        """One step of all environments."""


class Controlled:
    """A model whose actuators get controls. Arguments as those of `view`."""

    def __init__(self, file: Any, envs: int, control: Control, seed: int, **options: Any) -> None:
        self.sim, self.model = BatchSim(file, envs, **options), models.load(file)
        self._controller = Controller(self.model, envs, control, seed)
        self._steps = 0

    def reset(self) -> None:
        """To the first keyframe or the initial state."""
        self.sim.reset(key=0 if self.model.nkey else None)
        self._steps = 0

    def step(self) -> None:
        """One time step."""
        self.sim.step(self._controller(self._steps, self._steps * self.sim.timestep))
        self._steps += 1


class Replay:
    """A trained policy in its environments; episodes that end begin again. Arguments as those of
    `view`, `run` the folder of the training."""

    def __init__(self, run: Path, envs: int, seed: int, **options: Any) -> None:
        self._player = import_rl("play").Player(run, envs, seed, **options)
        self.sim, self.model = self._player.envs.sim, copy.copy(self._player.envs.model)
        self.model.opt.timestep = self._player.envs.dt

    def reset(self) -> None:
        """To the start of the first episodes."""
        self._player.reset()

    def step(self) -> None:
        """One step of the policy."""
        self._player.step()


class Show:
    """The view of a batch: what its driver moves."""

    def __init__(self, driver: Driver) -> None:
        import mujoco

        self.driver, self.sim, self.model = driver, driver.sim, driver.model
        model = self.model
        self.data = mujoco.MjData(model)
        self.fixed = ~moving(model)
        self._scene: Any = None
        self._copies: grid.FixedCopies | None = None
        self.reset()
        self.place(0)
        self.radius = self._reach()
        self.spacing = grid.spacing(model, self.data)
        self._places = grid.places(self.sim.num_envs)
        weight = np.linalg.norm(model.opt.gravity) * model.body_mass.sum()
        self._highest = 0.35 * self.radius
        self._scale = 0.5 * self.radius / max(float(weight), 1e-9)  # m per N

    def reset(self) -> None:
        """All environments back to their start, and the cameras."""
        self.driver.reset()
        self.steps = 0
        if self._scene is not None:
            self.aim(self._scene.num_envs > 1)

    def step(self) -> None:
        """One step of all environments."""
        self.driver.step()
        self.steps += 1

    def place(self, env: int) -> None:
        """Puts the bodies of `data` where those of an environment are."""
        import mujoco

        self.data.qpos[:], self.data.qvel[:] = self.sim.qpos[env], self.sim.qvel[env]
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

    def _distance(self, everything: bool) -> float:
        """Of a camera that sees the selected environment, or all of the grid; m."""
        away = np.linalg.norm(self._places, axis=1).max() * self.spacing if everything else 0.0
        return _DISTANCE * float(self.radius + away)

    def enter(self, scene: Any) -> None:
        """Adds the panel, the contacts and the camera to mjviser's scene."""
        server, away = scene.server, self._distance(scene.num_envs > 1)
        server.initial_camera.position, server.initial_camera.look_at = away * _FROM, np.zeros(3)
        scene.create_scene_gui = partial(scene.create_scene_gui, camera_distance=away)
        # Where the camera follows a robot, the world moves instead: contacts go with the floor.
        world = scene.fixed_bodies_frame.name
        pyramidal = self.model.opt.cone == 0
        order = cones.limited(self.sim.law, pyramidal)
        self._drawing = cones.Drawing(server.scene, world, self.radius, order)
        self._order, self._scene = order, scene
        self._copies = grid.FixedCopies(scene, self.model, self.data, self.fixed)
        with server.gui.add_folder("Contacts"):
            self._verdict = server.gui.add_html("")
            box = server.gui.add_checkbox("Friction cones", initial_value=True)
            box.on_update(lambda _: self._drawing.show_cones(box.value))
        if scene.num_envs > 1:
            self._add_grid_panel(server.gui)

    def _add_grid_panel(self, gui: Any) -> None:
        with gui.add_folder("Grid"):
            space = gui.add_number("Spacing (m)", self.spacing, min=0.0, step=0.1)
            gui.add_button("See all").on_click(lambda _: self.aim(True))
            gui.add_button("See selected").on_click(lambda _: self.aim(False))
            space.on_update(lambda _: self.space(space.value))

    def space(self, spacing: float) -> None:
        """Puts environments so far apart, m."""
        self.spacing = float(spacing)
        self.render(self._scene)

    def aim(self, everything: bool) -> None:
        """Points all cameras at the selected environment, or at all."""
        self.place(self._scene.env_idx)
        target = np.zeros(3) if self._scene.camera_tracking_enabled else self._centre()
        if everything:
            target = target - self.spacing * self._places[self._scene.env_idx]
        for client in self._scene.server.get_clients().values():
            client.camera.position = target + self._distance(everything) * _FROM
            client.camera.look_at = target

    def render(self, scene: Any) -> None:
        """The environments as they are, on a grid, and the contacts of the selected one. The
        selected one is where it is, the others beside it."""
        sim, bodies = self.sim, self.model.nbody
        positions = np.empty((sim.num_envs, bodies, 3))
        rotations = np.empty((sim.num_envs, bodies, 3, 3))
        for env in range(sim.num_envs):
            self.place(env)
            positions[env] = self.data.xpos
            rotations[env] = self.data.xmat.reshape(-1, 3, 3)
        selected = scene.env_idx
        shifts = self.spacing * (self._places - self._places[selected])
        positions += shifts[:, None]
        mocap = sim.mocap_pos + shifts[:, None], sim.mocap_quat
        scene.update_from_arrays(positions, rotations, *mocap, env_idx=selected)
        if self._copies is not None:
            self._copies.place(shifts, selected)
        self._draw_contacts(selected)

    def _draw_contacts(self, env: int) -> None:
        contacts = self.sim.contacts(env) if self.steps else []
        fixed = self.fixed[self.model.geom_bodyid]
        self.place(env)
        slips = cones.slip(self.model, self.data, contacts)
        shown = cones.cones(contacts, slips, self._scale, self._highest, self._order, fixed)
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
