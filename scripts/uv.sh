#!/usr/bin/env bash
# `uv pip install` with the uv of .venv and the settings of pip's variables.
#   scripts/uv.sh <python of the environment> <arguments of pip install>
set -euo pipefail
python=$1
shift
for pair in SSL_CERT_FILE=PIP_CERT UV_FIND_LINKS=PIP_FIND_LINKS UV_DEFAULT_INDEX=PIP_INDEX_URL \
  UV_INDEX=PIP_EXTRA_INDEX_URL; do
  ours=${pair%=*} pips=${pair#*=}
  [ -n "${!ours:-}" ] || [ -z "${!pips:-}" ] || export "$ours=${!pips}"
done
exec "$(dirname "$0")/../.venv/bin/uv" pip install --quiet --python "$python" "$@"
