#!/usr/bin/env bash
# Runs the CUDA kernels and the GPU tests without a GPU, on a runtime that interprets PTX lane by
# lane and checks memory, races, uninitialised reads, and waits (emulator/): `make gpu-emulate`.
#
#   scripts/gpu_emulate.sh [quick | counts]
#
# Without nvcc, reports this and succeeds. The emulator's own tests come first. Then three seeds, each
# with streams that work immediately and with streams that work as late as possible. `quick`: one
# seed, immediate streams, kernels that compile faster, the quick ones of the emulator's own tests.
# `counts`: only what solves cost, with the optimisations of a release, compared with
# bench/results/emulated/gpu_counts.json; `quick` compares with gpu_counts_quick.json. Fails if
# instructions, barriers or transactions have grown by more than 5 %. The host code is that of
# build/release, with all instruction sets that run here (STICKSLIP_CPU=runnable).
# STICKSLIP_TEST_COUNT: problems per test (8; quick: 3).
set -euo pipefail
mode=${1:-full}
if [ $# -gt 1 ] || [[ ! $mode =~ ^(full|quick|counts)$ ]]; then
  echo "gpu-emulate: expected nothing, 'quick' or 'counts', got '$*'" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
emulator=$root/emulator
build=$root/build/emulated
[ "$mode" != quick ] || build=$root/build/emulated-quick
jobs=${JOBS:-$(nproc)}
export PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc >/dev/null; then
  echo "gpu-emulate: no nvcc here: not run"
  exit 0
fi

own_tests=(all)
[ "$mode" != quick ] || own_tests=(cudart_static quick_tests)
[ "$mode" != counts ] || own_tests=(cudart_static)
cmake -S "$emulator" -B "$build/runtime" -G Ninja -DGPU_EMULATOR_TESTS=ON >/dev/null
cmake --build "$build/runtime" --parallel "$jobs" --target "${own_tests[@]}"
case $mode in
  full) ctest --test-dir "$build/runtime" --output-on-failure --parallel "$jobs" ;;
  quick) ctest --test-dir "$build/runtime" --output-on-failure --parallel "$jobs" -L quick ;;
esac
# The host code of `make test` is the same.
objects=()
release=$root/build/release
if [ -e "$release/build.ninja" ]; then
  cmake "$release" -DSTICKSLIP_CPU=runnable >/dev/null
  cmake --build "$release" --parallel "$jobs" --target stickslip stickslip_mujoco python_package \
    stickslip_problems stickslip_test_support_objects
  objects=("-DSTICKSLIP_OBJECTS=$release" -DSTICKSLIP_OBJECTS_OF_PYTHON=ON)
fi
# Only PTX: ptxas, which takes most of the time, is not run. Line numbers are for messages. In `quick`
# functions are called instead of inlined, and nvcc leaves out expensive optimisations where it can
# (13.0): these take most of the rest.
flags=-lineinfo
[ "$mode" != quick ] || flags="$flags -DSS_CALLS"
if [ "$mode" = quick ] && nvcc --help | grep -e --Ofast-compile >/dev/null; then
  flags="$flags --Ofast-compile=min"
fi
targets=(test_gpu _core_stub _mujoco) # of the component python
[ "$mode" != quick ] || targets+=(stickslip_gpu_counts)
[ "$mode" != counts ] || targets=(stickslip_gpu_counts)
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTICKSLIP_CUDA=ON \
  -DSTICKSLIP_CUDA_ARCHITECTURES=80-virtual -DCMAKE_CUDA_FLAGS="$flags" -DSTICKSLIP_BENCH=ON \
  -DSTICKSLIP_PYTHON=ON -DSTICKSLIP_CPU=runnable "${objects[@]}" \
  -DCUDA_cudart_static_LIBRARY="$build/runtime/libcudart_static.a" \
  >"$build/configure.log" 2>&1 || { tail -30 "$build/configure.log"; exit 1; }
cmake --build "$build" --parallel "$jobs" --target "${targets[@]}"
case $mode in
  counts) exec python3 "$root/bench/run_gpu_counts.py" "$build/gpu_counts.json" --check ;;
  quick) python3 "$root/bench/run_gpu_counts.py" "$build/gpu_counts.json" --quick --check ;;
esac

# Families of problems, including hard ones, take most of the time: each mode has one of them.
# Few multiprocessors, so that a block takes one environment after the other.
count=8
[ "$mode" != quick ] || count=3
export STICKSLIP_TEST_COUNT=${STICKSLIP_TEST_COUNT:-$count} GPU_EMULATOR_CHECK=all root build
export GPU_EMULATOR_PROCESSORS=2
rm -f "$build"/launches.*
others() {  # all except this family
  for family in box boxrest cage stack stackrest stackheavy; do
    [ "$family" = "$1" ] || printf '*Families*/%s_*:' "$family"
  done
}
run() {  # streams, seed, family, part, number of parts
  export GPU_EMULATOR_STREAMS=$1 GPU_EMULATOR_SEED=$2 GTEST_SHARD_INDEX=$4 GTEST_TOTAL_SHARDS=$5
  export GPU_EMULATOR_REPORT=$build/launches.$1.$2.$4
  echo "gpu-emulate: seed $2, streams $1, family $3, part $(($4 + 1)) of $5"
  cd "$root"
  "$build/tests/test_gpu" --gtest_filter="-*instruction_sets*:$(others "$3")" --gtest_brief=1
}
export -f others run
modes=("eager 0 box" "eager 1 boxrest" "eager 2 cage" "late 0 stack" "late 1 stackrest"
  "late 2 stackheavy")
[ "$mode" != quick ] || modes=("${modes[@]:0:1}")
for mode in "${modes[@]}"; do
  for ((part = 0; part < jobs; ++part)); do echo "$mode $part $jobs"; done
done | xargs -P "$jobs" -I {} bash -c 'run {}'
cat "$build"/launches.* >"$build/launches"
python3 "$root/scripts/launched_kernels.py" "$build/launches" "$build"/src/*.a

# The Python package with these kernels, separate from the installed one.
site=$build/site
cmake --install "$build" --component python --prefix "$site" >/dev/null
cp -r "$root/python/stickslip" "$site"
ln -sfn "$(python3 -c 'import mujoco, os; print(os.path.dirname(mujoco.__file__))')" "$site/mujoco"
export PYTHONPATH=$site:$emulator/python
unset GPU_EMULATOR_REPORT
python3 - "$root" <<'PYTHON'
import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.endswith("_stickslip")]
import pytest
import stickslip
assert stickslip._core.cuda_available(), stickslip._core.cuda_why_not()
names = ("bound/test_bound_gpu", "bound/test_bound_friction_gpu", "gpu/test_gpu")
tests = [f"{sys.argv[1]}/tests/python/{name}.py" for name in names]
sys.exit(pytest.main(["-q", "-p", "no:xdist", *tests]))
PYTHON
