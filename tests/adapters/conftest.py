"""Tests of the adapters. Those of mujoco_warp and Newton run on Warp's CPU device, and are left out
where these packages are not installed. Their first run compiles mujoco_warp's kernels: minutes."""

from importlib.util import find_spec

import pytest

MISSING = [name for name in ("mujoco_warp", "newton") if find_spec(name) is None]
WITHOUT_WARP = ("test_torch", "test_jax", "test_workspaces")
collect_ignore_glob = []
if "mujoco_warp" in MISSING:
    collect_ignore_glob += ["test_mjwarp_*.py", "test_newton.py"]
elif MISSING:
    collect_ignore_glob += ["test_newton.py"]


@pytest.fixture(autouse=True, scope="module")
def cpu(request):
    """Warp's CPU device, for the tests that need Warp."""
    if "mujoco_warp" in MISSING or request.module.__name__.startswith(WITHOUT_WARP):
        yield
        return
    import warp

    warp.config.quiet = True
    with warp.ScopedDevice("cpu"):
        yield


@pytest.fixture
def float64():
    """JAX's arrays in float64."""
    import jax

    with jax.enable_x64(True):
        yield


def pytest_report_header():
    return f"adapters: not installed, not tested: {', '.join(MISSING)}" if MISSING else []
