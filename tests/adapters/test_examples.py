"""The examples of the adapters, with fewer steps."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/adapters"))


def test_mjwarp_step(capsys):
    pytest.importorskip("mujoco_warp")
    import mjwarp_step

    mjwarp_step.main(400)
    lines = capsys.readouterr().out.splitlines()
    assert "box on the slope, stickslip: 0 µm/s" in lines
    assert "ants: solved 1600" in lines


@pytest.mark.filterwarnings("ignore:MuJoCo dependency version mismatch")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_newton_ant(capsys):
    pytest.importorskip("newton")
    pytest.importorskip("mujoco_warp")
    import newton_ant

    newton_ant.main(100, count=2)
    told = capsys.readouterr().out
    assert "ant: 200 of 200 steps solved" in told
    assert "quadruped: 200 of 200 steps solved" in told
