#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Python wheel: every program, the agent, the manual pages and the dashboard, for every Python
# from 3.9 on and every Linux with glibc 2.28 or newer. Everything but the C library is linked in.
#
#   scripts/build_wheel.sh [--machine x86_64|aarch64] [OUT]
#
# OUT is the folder for the wheel (default build/wheel/dist); --machine is the architecture (default: this
# machine's). The compiler is the Python package ziglang, which compiles for both architectures and for an
# old C library. The libraries are compiled from Debian's sources (scripts/wheel/dependencies.sh). The
# compiler and the sources are fetched once and kept in build/wheel/. If the build needs the output of a
# program for another architecture, qemu runs it. At the end auditwheel and scripts/wheel/check.py check the
# wheel.
#
# Exit status: 0 done, 1 a check of the wheel failed, 2 usage, 3 something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  [[ -z ${1:-} ]] || echo "build_wheel: $1" >&2
  echo "usage: scripts/build_wheel.sh [--machine x86_64|aarch64] [OUT]" >&2
  exit 2
}
machine=$(uname -m)
out=
while [[ $# -gt 0 ]]; do
  case "$1" in
    --machine)
      [[ $# -ge 2 ]] || usage "--machine wants x86_64 or aarch64"
      machine=$2
      shift
      ;;
    --machine=*) machine=${1#*=} ;;
    -*) usage "no option $1" ;;
    *)
      [[ -z $out && -n $1 ]] || usage "one folder, not two, and not an empty name"
      out=$1
      ;;
  esac
  shift
done
[[ $machine == x86_64 || $machine == aarch64 ]] || usage "a wheel for $machine cannot be built: x86_64 or aarch64"
readonly kWork=$PWD/build/wheel
readonly kMade=$kWork/$machine
readonly kGlibc=2.28
out=$(realpath -m "${out:-$kWork/dist}")
platform=manylinux_${kGlibc/./_}_$machine

say() { printf '\n== %s\n' "$*"; }

# Runs a command with its output in a log, and shows the end of the log if it fails. $1: log, rest: command
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 40 "$log" >&2
    echo "build_wheel: failed: $* (log: $log)" >&2
    exit 3
  }
}

mkdir -p "$kMade/tools" "$out"
scripts/deps.sh build wheel
export PENSTOCK_ZIG_EMULATOR=
if [[ $machine == aarch64 && $(uname -m) != aarch64 ]]; then
  scripts/deps.sh arm64
  PENSTOCK_ZIG_EMULATOR="$(command -v qemu-aarch64-static);-L;/usr/aarch64-linux-gnu"
elif [[ $machine != "$(uname -m)" ]]; then
  echo "build_wheel: a wheel for $machine can only be built on a $machine machine" >&2
  exit 3
fi

say "Tools from the Python package index (log: $kWork/pip.log)"
if [[ ! -x $kWork/venv/bin/auditwheel ]]; then
  /usr/bin/python3 -m venv "$kWork/venv"
  quietly "$kWork/pip.log" "$kWork/venv/bin/pip" install --disable-pip-version-check \
    -r scripts/wheel/requirements.txt
fi
PENSTOCK_ZIG=$("$kWork/venv/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
export PENSTOCK_ZIG PENSTOCK_ZIG_TARGET=$machine-linux-gnu.$kGlibc PENSTOCK_ZIG_TOOLS=$kMade/tools
export PENSTOCK_ZIG_PREFIX=$kMade/prefix
export ZIG_GLOBAL_CACHE_DIR=$kWork/zig-cache ZIG_LOCAL_CACHE_DIR=$kWork/zig-cache

say "Libraries, from Debian's sources"
scripts/wheel/dependencies.sh "$kWork" "$kMade" "$PWD/scripts/wheel/toolchain.cmake"

say "The wheel for $machine (log: $kMade/wheel.log)"
rm -rf "$kMade/made"
PKG_CONFIG_LIBDIR=$kMade/prefix/lib/pkgconfig:$kMade/prefix/share/pkgconfig PATH=$kWork/venv/bin:$PATH \
  quietly "$kMade/wheel.log" "$kWork/venv/bin/python" -m pip wheel . --no-build-isolation --no-deps \
  --wheel-dir "$kMade/made" --config-settings=build-dir="$kMade/penstock" \
  --config-settings=cmake.args="--toolchain=$PWD/scripts/wheel/toolchain.cmake" \
  --config-settings=cmake.define.Protobuf_LIBRARY="$kMade/prefix/lib/libprotobuf-lite.a" \
  --config-settings=cmake.define.PENSTOCK_WERROR=OFF --config-settings=cmake.define.CMAKE_UNITY_BUILD=ON \
  --config-settings=cmake.define.CMAKE_UNITY_BUILD_BATCH_SIZE=16
made=("$kMade"/made/*.whl)
quietly "$kMade/tags.log" "$kWork/venv/bin/python" -m wheel tags --remove --platform-tag "$platform" "${made[0]}"
made=("$kMade"/made/*.whl)

say "Checking the wheel"
"$kWork/venv/bin/auditwheel" show "${made[0]}"
/usr/bin/python3 -B scripts/wheel/check.py "${made[0]}" --glibc "$kGlibc" --machine "$machine"
rm -f "$out"/penstock_profiler-*"_$machine.whl"
cp "${made[0]}" "$out/"
echo "wrote $out/$(basename "${made[0]}")"
