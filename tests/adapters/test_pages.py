"""The examples of docs/mjwarp.md and docs/newton.md run."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.filterwarnings("ignore:MuJoCo dependency version mismatch")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("page", "package", "count"), [("mjwarp.md", "mujoco_warp", 3), ("newton.md", "newton", 2)]
)
def test_examples(page, package, count):
    pytest.importorskip("mujoco_warp")
    pytest.importorskip(package)
    blocks = re.findall(r"```py\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert len(blocks) == count
    names = {}
    exec(compile("\n".join(blocks), page, "exec"), names)
    result = names["solver"].result
    assert not result.status.numpy().any()
