# Short: each target is one or two commands; CMake, pip, ctest and pytest do the work.
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH
# Where setup installs Eigen and Python.h if they are missing and it does not run as root.
export CMAKE_PREFIX_PATH = $(shell ls -d $(CURDIR)/.venv/lib/python3.*/site-packages/cmeel.prefix 2>/dev/null)
PYTHON_DEV = $(shell ls -d $(CURDIR)/.venv/python-dev/usr/include/python3.* 2>/dev/null)
export CMAKE_ARGS += $(PYTHON_DEV:%=-DPython_INCLUDE_DIR=%)
export CPLUS_INCLUDE_PATH = $(PYTHON_DEV:%=%/..)
BUILD := build/release
JOBS := $(shell nproc)
INSTRUCTION_SETS := runnable
PYTEST := python -m pytest --numprocesses $(JOBS) --dist loadgroup
CXX_FILES = $(shell find include kernels src emulator tests bench examples gallery -name '*.[hc]pp' -o -name '*.cu' -o -name '*.cuh')
SOURCES := $(shell find CMakeLists.txt cmake include kernels src bench/compare gallery/CMakeLists.txt gallery/cpp \
  gallery/rigid tests/reference -type f)
# The editable installation lists the Python files: a folder changes when one is added or removed.
FOLDERS := $(shell find python -type d -not -name __pycache__)

.PHONY: setup demo test test-rl test-adapters test-aarch64 test-all docs wheel release bench gpu-bundle gpu-emulate gpu-check format clean

setup: .venv/built

.venv/dependencies: pyproject.toml scripts/setup.sh
	scripts/setup.sh build
	touch $@

.venv/test-dependencies: .venv/dependencies tests/models.txt
	scripts/setup.sh test
	touch $@

# The Python package is built in the folder of the C++ tests, so that nothing compiles twice.
.venv/built: .venv/dependencies $(SOURCES) $(FOLDERS)
	pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable . \
	  --config-settings=build-dir=$(BUILD) \
	  --config-settings=build.targets=python_package \
	  --config-settings=cmake.define.STICKSLIP_TESTS=ON \
	  --config-settings=cmake.define.STICKSLIP_BENCH=ON \
	  --config-settings=cmake.define.STICKSLIP_PEERS=ON
	touch $@

demo: setup
	stickslip run humanoid --envs 1024 --steps 200 --law coulomb --out out/demo --json

test: setup .venv/test-dependencies
	cmake $(BUILD) -DSTICKSLIP_CPU=$(INSTRUCTION_SETS) >/dev/null # the tests compare the instruction sets
	cmake --build $(BUILD) --parallel $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS)
	$(PYTEST) -m "not pages" tests/python

# The GPU code on a CUDA runtime that interprets it, where nvcc is: EMULATE=quick for a part.
gpu-emulate: setup .venv/test-dependencies
	scripts/gpu_emulate.sh $(EMULATE)

# Tests that need torch, Ray or a browser: gigabytes that nothing else needs.
.venv/rl-dependencies: .venv/test-dependencies pyproject.toml scripts/setup.sh
	scripts/setup.sh rl
	touch $@

test-rl: setup .venv/rl-dependencies
	$(PYTEST) tests/rl

# The adapters to mujoco_warp, Newton, torch and JAX. The extension has JAX's part only if it is built
# while JAX is installed.
.venv/adapter-dependencies: .venv/test-dependencies pyproject.toml scripts/setup.sh
	scripts/setup.sh adapters
	rm -f .venv/built
	$(MAKE) setup
	touch $@

test-adapters: setup .venv/adapter-dependencies
	$(PYTEST) tests/adapters
	scripts/adapter_environments.sh

# The kernels of aarch64 give the bits of x86-64. Debian: apt install g++-aarch64-linux-gnu qemu-user-static
test-aarch64:
	cmake --preset aarch64
	cmake --build --preset aarch64 --parallel $(JOBS)
	qemu-aarch64-static -L /usr/aarch64-linux-gnu build/aarch64/tests/test_parity --gtest_brief=1

test-all: INSTRUCTION_SETS = portable
test-all: test test-rl test-adapters
	$(PYTEST) -m pages tests/python
	cmake --preset cuda
	cmake --build --preset cuda --parallel $(JOBS)
	ctest --preset cuda --parallel $(JOBS)

.venv/docs-dependencies: .venv/dependencies pyproject.toml scripts/setup.sh
	scripts/setup.sh docs
	touch $@

# For any static host. Once the packages are installed, no network.
docs: setup .venv/docs-dependencies
	python docs/sphinx/publish.py build/docs/html

# PYTHONS="<path of CPython 3.11> <of 3.12> <of 3.13>" if they are not on PATH as python3.11, ...
wheel: setup
	scripts/wheel.sh build
	scripts/wheel.sh test

# All that a release has, in dist/; nvcc takes half an hour.
release: setup docs
	scripts/wheel.sh build
	scripts/wheel.sh cuda
	scripts/wheel.sh test
	tar -C build/docs -czf dist/stickslip-docs.tar.gz html

bench: setup
	cmake --build $(BUILD) --parallel $(JOBS) --target bench/all
	python bench/run.py --build $(BUILD)

# Built here, without a GPU, for a machine with one: BUNDLE=programs for a part.
gpu-bundle: .venv/dependencies
	scripts/gpu/bundle.sh $(BUNDLE)

# On a machine with a GPU; with what gpu-bundle has made, or else built first. PARTS="smoke speed=80":
# a few of the parts in scripts/gpu/README.md.
gpu-check:
	python3 scripts/gpu/check.py $(PARTS)

format: .venv/test-dependencies
	clang-format -i $(CXX_FILES)
	ruff check --fix
	ruff format

clean:
	rm -rf build out
