#!/usr/bin/env bash
# Prepare `docker compose up --build` where image builds reach neither a registry nor a package
# index, but this machine has a Debian mirror, and a pip and an npm that work: build the page, make
# the base with debootstrap, fetch the wheels of the service with the host's pip, build the image of
# the boxes, and write what docker-compose.yml needs to know to .env. May be run again; does only
# what is missing.
#
#     scripts/prepare-compose.sh [ENV_FILE]
#
# PYTHON is an interpreter that has the judge and pip (.venv/bin/python, which `make setup` makes).
set -euo pipefail
cd "$(dirname "$0")/.."

env_file=${1:-.env}
python=${PYTHON:-.venv/bin/python}
base=judge-base:bookworm
wheels=dist/service-wheels
newest_glibc=36 # of bookworm, Python 3.11 as there: what the wheels have to fit
oldest_glibc=17

"$python" scripts/build_page.py
"$python" -m judge sandbox build --base debian

wanted=$("$python" deploy/requirements.py pyproject.toml --with-build)
if [ "$(cat "$wheels/wanted.txt" 2>/dev/null)" != "$wanted" ]; then
    echo "fetching the wheels of the service with pip"
    mkdir -p dist
    part=$(mktemp -d dist/part-XXXXXX)
    trap 'rm -rf "$part"' EXIT
    targets=(--only-binary=:all: --implementation cp --python-version 3.11)
    targets+=(--abi cp311 --abi abi3 --abi none)
    for minor in $(seq "$newest_glibc" -1 "$oldest_glibc"); do
        targets+=(--platform "manylinux_2_${minor}_x86_64")
    done
    targets+=(--platform manylinux2014_x86_64)
    mapfile -t requirements <<<"$wanted"
    # shellcheck disable=SC2086  # several words on purpose
    "$python" -m pip download --quiet --quiet --dest "$part" "${targets[@]}" ${JUDGE_PIP_OPTIONS:-} \
        "${requirements[@]}"
    echo "$wanted" >"$part/wanted.txt"
    rm -rf "$wheels"
    chmod 0755 "$part"
    mv "$part" "$wheels"
fi

touch "$env_file"
if ! grep -q '^JUDGE_SERVICE_BASE=' "$env_file"; then
    printf 'JUDGE_SERVICE_BASE=%s\nJUDGE_BASE=debian\n' "$base" >>"$env_file"
    echo "$env_file: images are built on $base"
fi
