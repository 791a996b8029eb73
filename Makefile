# Thin: each target is one or two commands, and the work is done by CMake, pip, ctest and pytest.
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH
# Where setup puts Eigen and Python.h on machines that have none and where it is not root.
export CMAKE_PREFIX_PATH = $(shell ls -d $(CURDIR)/.venv/lib/python3.*/site-packages/cmeel.prefix 2>/dev/null)
PYTHON_DEV = $(shell ls -d $(CURDIR)/.venv/python-dev/usr/include/python3.* 2>/dev/null)
export CMAKE_ARGS += $(PYTHON_DEV:%=-DPython_INCLUDE_DIR=%)
export CPLUS_INCLUDE_PATH = $(PYTHON_DEV:%=%/..)
BUILD := build/release
JOBS := $(shell nproc)
CXX_FILES = $(shell find include kernels src tests bench examples -name '*.[hc]pp' -o -name '*.cu*')
SOURCES := $(shell find CMakeLists.txt cmake include kernels src bench/compare examples -type f)

.PHONY: setup demo test test-rl test-all bench gpu-bundle gpu-emulate gpu-check format clean

setup: .venv/built

.venv/dependencies: pyproject.toml scripts/setup.sh
	scripts/setup.sh build
	touch $@

.venv/test-dependencies: .venv/dependencies tests/models.txt
	scripts/setup.sh test
	touch $@

# The Python package is built in the folder that also holds the C++ tests: nothing compiles twice.
.venv/built: .venv/dependencies $(SOURCES)
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
	cmake $(BUILD) >/dev/null # the linters are there by now
	cmake --build $(BUILD) --parallel $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS)
	python -m pytest tests/python

# The GPU code on a CUDA runtime that interprets it, where there is one: EMULATE=quick for a part.
gpu-emulate: setup .venv/test-dependencies
	scripts/gpu_emulate.sh $(EMULATE)

# What needs torch, Ray or a browser: gigabytes, and nothing else here wants them.
.venv/rl-dependencies: .venv/test-dependencies pyproject.toml scripts/setup.sh
	scripts/setup.sh rl
	touch $@

test-rl: setup .venv/rl-dependencies
	python -m pytest tests/rl

test-all: test test-rl
	cmake --preset cuda
	cmake --build --preset cuda --parallel $(JOBS)
	ctest --preset cuda --parallel $(JOBS)

bench: setup
	cmake $(BUILD) -DSTICKSLIP_PROTOTYPES="$(STICKSLIP_PROTOTYPES)"
	cmake --build $(BUILD) --parallel $(JOBS) --target bench/all
	python bench/run.py --build $(BUILD)

gpu-bundle: .venv/dependencies
	scripts/gpu_bundle.sh

gpu-check:
	python3 scripts/gpu_check.py

format: .venv/test-dependencies
	clang-format -i $(CXX_FILES)
	ruff check --fix
	ruff format

clean:
	rm -rf build out
