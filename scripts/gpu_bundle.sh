#!/usr/bin/env bash
# Collects in gpu-bundle/ what a machine without a network needs to build and check stickslip:
# Eigen's headers, wheels for the MuJoCo front end (Python 3.12, x86-64), the test data if they are
# available, and the commit. GoogleTest and Google Benchmark are in third_party/.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=gpu-bundle
limit_mb=60
rm -rf "$bundle"
mkdir -p "$bundle"

eigen=
for folder in "${CMAKE_PREFIX_PATH:-}/include/eigen3" /usr/include/eigen3 \
  /usr/local/include/eigen3; do
  if [ -e "$folder/Eigen/Core" ]; then
    eigen=$folder
    break
  fi
done
[ -n "$eigen" ] || { echo "gpu-bundle: no Eigen here, run make setup" >&2; exit 1; }
tar -C "$eigen" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 \
  --transform='s,^,eigen/,' -cJf "$bundle/eigen.tar.xz" Eigen

{ git rev-parse HEAD; git status --porcelain --untracked-files=no | sed 's/^/changed: /'; } \
  >"$bundle/commit.txt" 2>/dev/null || echo unknown >"$bundle/commit.txt"

.venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
  --only-binary=:all: --python-version 3.12 --implementation cp --abi cp312 --abi abi3 --abi none \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
  --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
  --dest "$bundle/wheels" -r scripts/gpu_wheels.txt

data=${STICKSLIP_DATA:-../shared/data}
if [ -d "$data" ]; then
  cp -r "$data" "$bundle/data"
  chmod -R u+w "$bundle/data"
fi

size=$(du -sm "$bundle" | cut -f1)
echo "gpu-bundle: $size MB in $bundle ($(find "$bundle" -type f | wc -l) files)"
[ "$size" -le "$limit_mb" ] || { echo "gpu-bundle: more than $limit_mb MB" >&2; exit 1; }
