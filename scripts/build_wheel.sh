#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Python wheel: every program, the agent, the manual pages and the dashboard, for every Python
# from 3.9 on and every Linux with glibc 2.28 or newer. Everything but the C library is linked in.
#
#   scripts/build_wheel.sh [OUT]     OUT: folder of the wheel (build/wheel/dist)
#
# The compiler is the Python package ziglang, whose C library can be an old one; the libraries are
# compiled from Debian's sources (scripts/wheel/dependencies.sh). Both are fetched once and kept in
# build/wheel/. The wheel is checked at the end: auditwheel, scripts/wheel/check.py.
#
# Exit status: 0 done, 1 the wheel is not what it should be, 2 usage, 3 something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ $# -le 1 && ${1:-} != -* ]] || {
  echo "usage: scripts/build_wheel.sh [OUT]" >&2
  exit 2
}
readonly kWork=$PWD/build/wheel
readonly kGlibc=2.28
out=$(realpath -m "${1:-$kWork/dist}")
machine=$(uname -m)
platform=manylinux_${kGlibc/./_}_$machine

say() { printf '\n== %s\n' "$*"; }

# $1: log, rest: command. Shows the end of the log if the command fails.
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 40 "$log" >&2
    echo "build_wheel: failed: $* (log: $log)" >&2
    exit 3
  }
}

mkdir -p "$kWork" "$out"
scripts/deps.sh build wheel

say "Tools from the Python package index (log: $kWork/pip.log)"
if [[ ! -x $kWork/venv/bin/auditwheel ]]; then
  /usr/bin/python3 -m venv "$kWork/venv"
  quietly "$kWork/pip.log" "$kWork/venv/bin/pip" install --disable-pip-version-check \
    -r scripts/wheel/requirements.txt
fi
PENSTOCK_ZIG=$("$kWork/venv/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
export PENSTOCK_ZIG PENSTOCK_ZIG_TARGET=$machine-linux-gnu.$kGlibc PENSTOCK_ZIG_TOOLS=$kWork/tools
export PENSTOCK_ZIG_PREFIX=$kWork/prefix
export ZIG_GLOBAL_CACHE_DIR=$kWork/zig-cache ZIG_LOCAL_CACHE_DIR=$kWork/zig-cache

say "Libraries, from Debian's sources"
mkdir -p "$kWork/tools"
scripts/wheel/dependencies.sh "$kWork" "$kWork/prefix" "$PWD/scripts/wheel/toolchain.cmake"

say "The wheel (log: $kWork/wheel.log)"
rm -rf "$kWork/made"
PKG_CONFIG_LIBDIR=$kWork/prefix/lib/pkgconfig:$kWork/prefix/share/pkgconfig PATH=$kWork/venv/bin:$PATH \
  quietly "$kWork/wheel.log" "$kWork/venv/bin/python" -m pip wheel . --no-build-isolation --no-deps \
  --wheel-dir "$kWork/made" \
  --config-settings=cmake.args="--toolchain=$PWD/scripts/wheel/toolchain.cmake" \
  --config-settings=cmake.define.PENSTOCK_WERROR=OFF
made=("$kWork"/made/*.whl)
quietly "$kWork/tags.log" "$kWork/venv/bin/python" -m wheel tags --remove --platform-tag "$platform" "${made[0]}"
made=("$kWork"/made/*.whl)

say "Is it what it says?"
"$kWork/venv/bin/auditwheel" show "${made[0]}"
/usr/bin/python3 -B scripts/wheel/check.py "${made[0]}" --glibc "$kGlibc"
rm -f "$out"/penstock_profiler-*"_$machine.whl"
cp "${made[0]}" "$out/"
echo "wrote $out/$(basename "${made[0]}")"
