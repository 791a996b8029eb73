"""Pages in headless Chromium: they load and show their contents, without errors."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def opened(address: str) -> Iterator[Page]:
    """A page without errors until it is closed."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--use-gl=swiftshader"]
        )
        page = browser.new_page()
        page.set_default_timeout(180_000)  # ms: a busy core draws some frames a minute
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(f"failed: {request.url}"))
        page.goto(address)
        yield page
        browser.close()
    assert not errors


def command(*arguments: str | Path) -> str:
    call = [sys.executable, "-m", "stickslip.cli", *map(str, arguments)]
    ran = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


BOXES = """<mujoco><option timestep=".01" cone="elliptic"/><size memory="{memory}"/><worldbody>
  <geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .11"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body pos="1 0 .1"><joint type="slide" name="x" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom size=".1"/></body>
</worldbody><actuator><motor joint="x" ctrlrange="-9 9"/></actuator></mujoco>"""


def reported(folder: Path, memory: str, law: str = "coulomb") -> Path:
    model = folder / "boxes.xml"
    model.write_text(BOXES.format(memory=memory))
    out = folder / "run"
    sizes = ("--envs", "300", "--steps", "60", "--threads", "1")
    shown = command("run", model, *sizes, "--law", law, "--out", out)
    assert f"stickslip report {out}" in " ".join(shown.split())
    command("report", out)
    return out


def test_report_shows_a_run(tmp_path: Path) -> None:
    out = reported(tmp_path, "1M")
    with opened((out / "report.html").as_uri()) as page:
        assert page.title() == "boxes: 300 environments, law coulomb"
        for section in ("throughput", "residuals", "status", "worst"):
            drawing = page.locator(f"#{section} svg")
            box = drawing.bounding_box()
            assert box is not None
            assert box["width"] > 300
            assert box["height"] > 100
        assert page.locator("#status tr", has_text="solved").first.inner_text().split() == [
            *("solved", "18,000", "100.000", "%")
        ]
        rows = page.locator("#worst table tr").count()
        assert 3 <= rows <= 6  # at most five, and their header
        assert "delassus" in page.locator("#throughput svg").inner_html()
        link = page.locator("#problems").get_attribute("href")
        assert link is not None
        assert base64.b64decode(link.split(",")[1]) == (out / "worst.h5").read_bytes()
        assert not page.locator(".unsolved").count()
    assert "solved" in command("solve", out / "worst.h5")


def test_report_shows_who_failed(tmp_path: Path) -> None:
    out = reported(tmp_path, "4000")  # bytes: MuJoCo leaves contacts out
    with opened((out / "report.html").as_uri()) as page:
        failed = page.locator("#status .unsolved")
        assert failed.count() == 1
        assert failed.inner_text().startswith("over_capacity")


def test_report_of_mujocos_own_law_has_no_problems(tmp_path: Path) -> None:
    out = reported(tmp_path, "1M", "mujoco")
    with opened((out / "report.html").as_uri()) as page:
        assert "no problems" in page.locator("#worst").inner_text()
