"""Draws docs/images/creep.gif: the models of examples/creep.py under both laws, side by side.

python scripts/front_picture.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from stickslip._src.stage import choose_opengl

choose_opengl()  # before mujoco is imported
import mujoco  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from stickslip import BatchSim  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
from creep import slope_model, stack_model  # noqa: E402

WIDTH, HEIGHT, CAPTION = 330, 220, 22  # of a panel, pixels
SECONDS, RATE = 5.0, 10  # of the film, pictures per second
SCENES = (  # model, point to look at, distance of the camera
    (slope_model(), (0.05, 0.0, 0.03), 0.95),
    (stack_model(4), (0.0, 0.0, 0.36), 1.6),
)
LAWS = (("coulomb", 'stickslip, law="coulomb"'), ("mujoco", "MuJoCo, default options"))
LIGHT = """<visual>
    <headlight ambient=".45 .45 .45" diffuse=".45 .45 .45" specular="0 0 0"/></visual>
  <asset><texture type="skybox" builtin="flat" rgb1="1 1 1" rgb2="1 1 1" width="8" height="8"/>
  </asset>"""


class Panel:
    """A simulation and its camera."""

    def __init__(self, law: str, model: str, lookat: Any, distance: float):
        lit = model.replace("<worldbody>", f"{LIGHT}<worldbody>")
        self.sim = BatchSim(lit, law=law, threads=1)
        self.data = mujoco.MjData(self.sim.model)
        self.renderer = mujoco.Renderer(self.sim.model, HEIGHT, WIDTH)
        self.camera = mujoco.MjvCamera()
        self.camera.lookat[:] = lookat
        self.camera.distance, self.camera.elevation, self.camera.azimuth = distance, -12, 90

    def draw(self) -> np.ndarray:
        self.data.qpos[:] = self.sim.qpos[0]
        mujoco.mj_forward(self.sim.model, self.data)
        self.renderer.update_scene(self.data, self.camera)
        return self.renderer.render()

    def advance(self, seconds: float) -> None:
        self.sim.step(substeps=round(seconds / self.sim.timestep))


def sheet(panels: list[list[Panel]], time: float) -> Image.Image:
    rows = [np.concatenate([panel.draw() for panel in row], axis=1) for row in panels]
    picture = Image.fromarray(np.concatenate(rows))
    whole = Image.new("RGB", (picture.width, picture.height + CAPTION), "white")
    whole.paste(picture, (0, CAPTION))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(13)
    for column, (_, caption) in enumerate(LAWS):
        pen.text((column * WIDTH + 8, 3), f"{caption}, {time:.1f} s", "black", font)
    return whole


def film() -> list[Image.Image]:
    panels = [[Panel(law, *scene) for law, _ in LAWS] for scene in SCENES]
    frames = []
    for number in range(round(SECONDS * RATE) + 1):
        if number:
            for panel in (*panels[0], *panels[1]):
                panel.advance(1 / RATE)
        frames.append(sheet(panels, number / RATE))
    return frames


def main() -> None:
    path = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "images" / "creep.gif"
    frames = film()
    palette = frames[len(frames) // 2].quantize(96, dither=Image.Dither.NONE)
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    pauses = [1000 // RATE] * (len(frames) - 1) + [2000]  # ms; the last picture stays
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=pauses, loop=0, optimize=True
    )
    print(f"{path}: {len(frames)} pictures, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
