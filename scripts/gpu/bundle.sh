#!/usr/bin/env bash
# Builds here, without a GPU, what the GPU checks need on a machine with a GPU and without compilers
# or a network, and packs it in gpu-bundle/: `make gpu-bundle`.
#
#   scripts/gpu/bundle.sh [programs] [engines] [eigen] [pack]    without arguments: the first three
#
# programs  gpu-bundle/programs/: the C++ tests, the benchmarks and the Python package for Python 3.12,
#           with kernels as machine code of one architecture; MuJoCo, Gymnasium and rsl_rl
# engines   gpu-bundle/engines/: Warp, mujoco_warp and robots, in pieces; needs `programs`
# eigen     gpu-bundle/eigen.tar.xz: with it a machine without a network can build, for another GPU
# pack      the programs again, without building
#
# GPU_BUNDLE_BUILD (build/gpu-bundle), GPU_BUNDLE_ARCH (90-real: H100 and H200; 90: PTX too, an archive
# three times as large), GPU_BUNDLE_JOBS (cores), GPU_BUNDLE_PYTHON (a Python 3.12 with its headers),
# GPU_BUNDLE_CMAKE (more arguments of cmake), GPU_BUNDLE_LINEINFO=1 (line numbers for the profiler),
# GPU_BUNDLE_PIECE_MIB (22), GPU_BUNDLE_XZ (-0: in a hurry, larger).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
bundle=gpu-bundle
build=${GPU_BUNDLE_BUILD:-build/gpu-bundle}
arch=${GPU_BUNDLE_ARCH:-90-real}
jobs=${GPU_BUNDLE_JOBS:-$(nproc)}
piece_mib=${GPU_BUNDLE_PIECE_MIB:-22}
# The programs hold the same kernels: a large dictionary stores them once.
read -ra xz <<<"${GPU_BUNDLE_XZ:---x86 --lzma2=preset=6,dict=384MiB,nice=128}"
export PATH=$PATH:/usr/local/cuda/bin
python=$build/python/bin/python
programs=(tests/test_gpu bench/stickslip_bench bench/stickslip_gpu_speed bench/stickslip_gpu_probe)

say() { printf 'gpu-bundle: %s\n' "$*"; }
fail() { printf 'gpu-bundle: %s\n' "$*" >&2; exit 1; }

# Modules for the stable ABI of 3.12 run on it and all later ones.
find_python() {
  local each
  for each in ${GPU_BUNDLE_PYTHON:-} python3.12 "$HOME"/.pyenv/versions/3.12*/bin/python3.12; do
    command -v "$each" >/dev/null 2>&1 || continue
    "$each" - <<'PYTHON' 2>/dev/null && { command -v "$each"; return; }
import os, sys, sysconfig
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(not (sys.version_info[:2] == (3, 12) and os.path.exists(header)))
PYTHON
  done
  true
}

make_python() {
  local found
  found=$(find_python)
  if [ -z "$found" ]; then
    say "no Python 3.12 with headers here (GPU_BUNDLE_PYTHON names one): no Python parts, no engines"
    return
  fi
  [ -x "$python" ] || "$found" -m venv "$build/python"
  "$python" scripts/requirements.py build mujoco >"$build/requirements.txt"
  "$python" -m pip install --quiet --disable-pip-version-check -r "$build/requirements.txt"
}

# Host code takes as long as the kernels of the GPU; `make setup` and `make test` have compiled it.
host_objects() {
  local release=$PWD/build/release
  if [ -e "$release/build.ninja" ]; then
    cmake "$release" -DSTICKSLIP_CPU=portable >/dev/null
    cmake --build "$release" --parallel "$jobs" --target stickslip stickslip_mujoco \
      stickslip_problems stickslip_test_support_objects >/dev/null
    echo "-DSTICKSLIP_OBJECTS=$release"
  fi
}

build_programs() {
  local options=() more flags=-Xptxas=-v targets=("${programs[@]##*/}")
  command -v nvcc >/dev/null || fail "no nvcc here"
  mkdir -p "$build"
  make_python
  if [ -x "$python" ]; then
    options=(-DSTICKSLIP_PYTHON=ON -DSTICKSLIP_MUJOCO=ON "-DPython_EXECUTABLE=$PWD/$python")
    targets+=(python_package)
  else
    options=(-DSTICKSLIP_PYTHON=OFF -DSTICKSLIP_MUJOCO=OFF)
  fi
  [ -z "${GPU_BUNDLE_LINEINFO:-}" ] || flags="$flags -lineinfo"
  # What nvcc compresses, the archive cannot.
  ! nvcc --help | grep -e --compress-mode >/dev/null || flags="$flags --compress-mode=none"
  read -ra more <<<"$(host_objects) ${GPU_BUNDLE_CMAKE:-}"
  say "configuring; see $build/configure.log"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTICKSLIP_CUDA=ON \
    "-DSTICKSLIP_CUDA_ARCHITECTURES=$arch" "-DCMAKE_CUDA_FLAGS=$flags" -DSTICKSLIP_TESTS=ON \
    -DSTICKSLIP_BENCH=ON -DSTICKSLIP_CPU=portable "${options[@]}" "${more[@]}" \
    >"$build/configure.log" 2>&1 || { tail -30 "$build/configure.log"; exit 1; }
  say "building ${targets[*]}; see $build/build.log (with the registers of each kernel)"
  cmake --build "$build" --parallel "$jobs" --target "${targets[@]}" >"$build/build.log" 2>&1 ||
    { grep -E "error|FAILED" -A5 "$build/build.log" | head -40; exit 1; }
}

# Shared libraries that another machine may lack: all but those of the compiler and the C library.
copy_libraries() {
  local to=$1
  shift
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[^/]*|libpython[^/]*)\.so' |
    while read -r library; do cp -L "$library" "$to/"; done || true
}

# MuJoCo and Gymnasium without programs, pictures, documents and their own tests.
copy_packages() {
  local to=$1 site name
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
  for name in mujoco mujoco_core.libs gymnasium farama_notifications; do
    [ ! -d "$site/$name" ] || cp -r "$site/$name" "$to/"
  done
  cp -r "$site"/{mujoco,gymnasium}-*.dist-info "$to/"
  rm -rf "$to"/mujoco/{studio,doc,include,sysid,introspect,testdata,usd} \
    "$to"/mujoco/_render_filament* "$to"/mujoco/*_test.py
}

# A tree as an archive that depends on nothing but its content.
pack() {
  tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - . |
    xz -T1 "${xz[@]}" >"$2"
}

pack_programs() {
  local to=$build/stage program
  rm -rf "$to" "$bundle/programs"
  mkdir -p "$to/bin" "$to/lib" "$bundle/programs"
  for program in "${programs[@]}"; do
    strip --strip-unneeded -o "$to/bin/${program##*/}" "$build/$program"
  done
  copy_libraries "$to/lib" "$to"/bin/*
  if [ -x "$python" ]; then
    cmake --install "$build" --component python --prefix "$to/site" >/dev/null
    strip --strip-unneeded "$to"/site/stickslip/*.so
    cp -r python/stickslip "$to/site/"
    copy_packages "$to/site"
    # For `training`; torch, which must be there, does not bring them.
    install_alone "$to/site" "$("$python" scripts/requirements.py rl | grep rsl-rl)" \
      tensordict pyvers cloudpickle GitPython gitdb smmap
    find "$to/site" -name __pycache__ -prune -exec rm -rf {} +
  fi
  python3 bench/machine.py >"$bundle/programs/built.json"
  pack "$to" "$bundle/programs/programs.tar.xz"
}

# Packages without what they require: it is there, or in the archive of the programs.
install_alone() {
  local to=$1
  shift
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --upgrade \
    --target "$to" "$@"
}

pack_engines() {
  local to=$build/engines robots=$build/robots site wanted
  [ -x "$python" ] || { say "no Python 3.12 in $build: no engines"; return; }
  rm -rf "$to" "$bundle/engines"
  mkdir -p "$to/site" "$to/models" "$robots"
  mapfile -t wanted < <("$python" scripts/requirements.py mjwarp)
  install_alone "$to/site" "${wanted[@]}"
  mapfile -t wanted < <(grep -E '^envpool' tests/models.txt)
  install_alone "$robots" "${wanted[@]}"
  # Warp's compiler for CPUs, and its code for other GPUs.
  rm -f "$to/site/warp/bin/warp-clang.so"
  "$python" "$here/trim_fatbin.py" "$to/site/warp/bin/warp.so" "$to/warp.so" "${arch%%-*}"
  mv "$to/warp.so" "$to/site/warp/bin/warp.so"
  rm -rf "$to"/site/warp/{examples,tests} "$to"/site/mujoco_warp/test_data "$to"/site/bin
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
  "$python" "$here/make_models.py" "$to/models" "$site" "$robots"
  pack "$to" "$build/engines.tar.xz"
  split_engines
}

# So that each piece can be carried by itself, where all together are too large.
split_engines() {
  local size count piece number=0
  size=$(stat -c %s "$build/engines.tar.xz")
  count=$(((size + piece_mib * 1048576 - 1) / (piece_mib * 1048576)))
  rm -f "$build"/engines.piece.*
  split -n "$count" -d -a 2 "$build/engines.tar.xz" "$build/engines.piece."
  for piece in "$build"/engines.piece.*; do
    number=$((number + 1))
    mkdir -p "$bundle/engines/$number"
    mv "$piece" "$bundle/engines/$number/engines.tar.xz.$number-of-$count"
  done
}

# Headers alone; CMake takes them from here (STICKSLIP_BUNDLE).
pack_eigen() {
  local folder
  for folder in "${CMAKE_PREFIX_PATH:-}/include/eigen3" /usr/include/eigen3 \
    /usr/local/include/eigen3; do
    [ -e "$folder/Eigen/Core" ] || continue
    tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 \
      --transform='s,^,eigen/,' -cJf "$bundle/eigen.tar.xz" Eigen
    return
  done
  fail "no Eigen here, run make setup"
}

mkdir -p "$bundle"
[ $# -gt 0 ] || set -- programs engines eigen
for part in "$@"; do
  case $part in
    programs) build_programs; pack_programs ;;
    pack) pack_programs ;;
    engines) pack_engines ;;
    eigen) pack_eigen ;;
    *) fail "unknown part $part: programs, engines, eigen or pack" ;;
  esac
done

# What travels with the checkout, beside these folders.
files=$({ git ls-files -z --cached --others --exclude-standard | xargs -0 du -cb || true; } \
  2>/dev/null | tail -1 | cut -f1)
say "the files of the checkout: $(((${files:-0} + 1048575) / 1048576)) MiB"
for folder in "$bundle"/programs "$bundle"/engines/*; do
  [ ! -d "$folder" ] || say "$folder: $(du -sm "$folder" | cut -f1) MiB"
done
say "there: python3 scripts/gpu/check.py smoke=45 speed=80 profile=120 bits=60; the others: scripts/gpu/README.md"
