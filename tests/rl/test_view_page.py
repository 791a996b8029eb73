"""`stickslip view` in headless Chromium, by its pixels. `python tests/rl/test_view_page.py FILE`
takes the picture of docs/python.md."""

from __future__ import annotations

import io
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import imageio.v3 as imageio
import numpy as np
from playwright.sync_api import Page
from scipy import ndimage
from test_pages import opened

from stickslip.cli.cones import Cones, Drawing

Picture = np.ndarray  # (H, W, 3) of int, without the panel
SIZE = {"width": 1000, "height": 450}  # of the window, pixels: small, because nothing here is fast
PANEL, COMPASS = 340, 90  # their sizes, pixels


@contextmanager
def viewing(*arguments: str) -> Iterator[Page]:
    """The page of `stickslip view ant`, paused."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    call = [sys.executable, "-m", "stickslip.cli", "view", "ant", "--port", str(port)]
    server = subprocess.Popen(
        [*call, "--no-browser", "--threads", "1", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(port, server)
        with opened(f"http://localhost:{port}") as page:
            page.set_viewport_size(SIZE)
            page.get_by_text("not solved").wait_for()
            page.get_by_role("button", name="Pause").click()
            page.get_by_role("button", name="Play").wait_for()
            notice = page.locator(".mantine-Notification-closeButton")
            if notice.count():  # that there is no GPU
                notice.first.click()
            yield page
    finally:
        server.terminate()
        server.communicate(timeout=60)


def wait_for(port: int, server: subprocess.Popen[str]) -> None:
    for _ in range(600):
        assert server.poll() is None, server.stderr.read() if server.stderr else ""
        with socket.socket() as probe:
            if probe.connect_ex(("localhost", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the page is not served")


def picture(page: Page) -> Picture:
    pixels = imageio.imread(io.BytesIO(page.screenshot()))[:, :-PANEL, :3].astype(int)
    pixels[-COMPASS:, :COMPASS] = 255
    return pixels


def settled(page: Page, holds: Callable[[Picture], bool]) -> Picture:
    """The first picture of which this holds; the page fades in and draws late."""
    for _ in range(120):
        seen = picture(page)
        if holds(seen):
            return seen
        page.wait_for_timeout(500)
    raise AssertionError("the picture stays as it is")


def reset(page: Page) -> None:
    page.get_by_role("button", name="Reset", exact=True).click()
    page.get_by_text("0 contacts").wait_for()


def step_until(page: Page, told: str) -> None:
    for _ in range(100):
        if told in page.get_by_text("environment 0:").inner_text():
            return
        page.get_by_role("button", name="Step").click()
        page.wait_for_timeout(100)
    raise AssertionError(f"the page does not tell: {told}")


def tan(seen: Picture) -> np.ndarray:
    """Where the ant is."""
    red, green, blue = np.moveaxis(seen, -1, 0)
    return (red > green + 12) & (green > blue + 12) & (red < 245)


def bluish(seen: Picture) -> np.ndarray:
    return seen[..., 2] - seen[..., 0] > 50


def reddish(seen: Picture) -> np.ndarray:
    return seen[..., 0] - seen[..., 2] > 80


def is_framed(seen: Picture) -> bool:
    """The ant is large, near the centre, and does not touch an edge."""
    high, wide = seen.shape[0], seen.shape[1] + PANEL
    y, x = np.nonzero(tan(seen))
    if len(x) < 0.02 * high * wide:
        return False
    near = abs(np.mean(x) - wide / 2) < 0.1 * wide and abs(np.mean(y) - high / 2) < 0.15 * high
    inside = min(x.min(), y.min()) > 0 and y.max() < high - 1
    return bool(near and inside and np.ptp(x) > 0.25 * wide)


def test_view_shows_robots_and_their_contacts() -> None:
    with viewing("--envs", "4") as page:
        page.get_by_text("0 of 4 not solved").wait_for()
        assert page.get_by_text("environment 0:").count() == 1
        boxes = page.locator("input[type=text]").filter(visible=True).all()
        select = next(box for box in boxes if box.input_value() == "0")
        select.fill("3")
        select.press("Enter")
        page.get_by_text("environment 3:").wait_for()


def robots(seen: Picture) -> int:
    """Parts of the picture where ants are, of a size."""
    parts, number = ndimage.label(ndimage.binary_dilation(tan(seen), iterations=4))
    return int((np.bincount(parts.ravel(), minlength=number + 1)[1:] > 150).sum())


def test_the_grid_shows_all_and_the_camera_the_selected_one() -> None:
    with viewing("--envs", "4", "--control", "zero") as page:
        reset(page)
        settled(page, lambda seen: robots(seen) == 4)
        page.get_by_role("button", name="See selected").click()
        seen = settled(page, lambda seen: tan(seen).sum() > 6_000)
        page.get_by_role("button", name="See all").click()
        settled(page, lambda again: robots(again) == 4 and tan(again).sum() < tan(seen).sum())


def test_the_camera_frames_the_model_at_start_and_after_a_reset() -> None:
    with viewing("--envs", "1", "--control", "zero") as page:
        settled(page, is_framed)
        page.mouse.move(400, 400)
        for _ in range(10):
            page.mouse.wheel(0, 600)
        settled(page, lambda seen: not is_framed(seen))
        reset(page)
        settled(page, is_framed)
        page.get_by_label("Track camera").uncheck()
        reset(page)
        settled(page, is_framed)


def test_cones_are_surfaces_coloured_by_sticking_and_sliding() -> None:
    """Without control, the ant lands on its four feet, which slide outwards and come to rest."""
    with viewing("--envs", "1", "--control", "zero") as page:
        cones = page.get_by_label("Friction cones")
        reset(page)
        settled(page, is_framed)
        for told, colour in (("0 stick, 4 slide", reddish), ("4 stick, 0 slide", bluish)):
            step_until(page, told)
            cones.uncheck()
            page.wait_for_timeout(3000)  # a picture that still has them would hide the change
            none = settled(page, lambda seen: not bluish(seen).any())
            cones.check()

            def is_drawn(seen: Picture, none: Picture = none, colour=colour) -> bool:
                changed = np.abs(seen - none).max(axis=-1) > 30
                return int((changed & colour(seen)).sum()) > 1_000

            drawn = settled(page, is_drawn)
            through = tan(none) & (np.abs(drawn - none).max(axis=-1) > 10) & ~colour(none)
            assert through.sum() > 50  # of the legs, which one sees through the cones


class Batch:
    """A batch of viser, in which all arrays have one length at every moment."""

    def __init__(self, **arrays: Any) -> None:
        vars(self).update(arrays)

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[name] = value
        lengths = {len(a) for key, a in vars(self).items() if key.startswith("batched")}
        assert len(lengths) == 1, name


def test_a_page_never_has_colours_of_another_number_than_cones() -> None:
    """viser sends each array in its own message, and a page may draw between two."""
    batches: list[Any] = []

    def add(*_: Any, **arrays: Any) -> Batch:
        batches.append(Batch(**arrays))
        return batches[-1]

    scene = SimpleNamespace(add_arrows=lambda *_, **__: SimpleNamespace())
    scene.add_batched_meshes_simple = add
    drawing = Drawing(scene, "", 1.0, 2)
    for number in (0, 2, 2, 3, 1, 0, 1):
        at = np.arange(3.0 * number).reshape(number, 3)
        axes, slides = np.tile(np.eye(3), (number, 1, 1)), np.arange(number) > 0
        drawing.update(Cones(at, axes, at + 1, at, slides), (1, 2, 3))
        if batches:
            assert batches[-1].visible == (number > 0)
        if number:
            np.testing.assert_array_equal(batches[-1].batched_positions, at)
            np.testing.assert_array_equal(batches[-1].batched_scales, at + 1)
            blue = batches[-1].batched_colors[:, 2] > batches[-1].batched_colors[:, 0]
            np.testing.assert_array_equal(blue, ~slides)
    assert len(batches) == 3  # two cones, three, one


def take(path: Path) -> None:
    """The ant with one foot that sticks and two that slide."""
    with viewing("--envs", "1", "--control", "sine") as page:
        page.set_viewport_size({"width": 1120, "height": 600})
        reset(page)
        step_until(page, "1 stick, 2 slide")
        settled(page, lambda seen: bluish(seen).sum() > 500)
        page.mouse.move(500, 20)
        page.wait_for_timeout(1000)
        page.screenshot(path=path)


if __name__ == "__main__":
    take(Path(sys.argv[1]))
