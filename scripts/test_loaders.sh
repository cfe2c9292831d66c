#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What does the agent see of the loaders that people use beside PyTorch's own? Makes virtual
# environments with the current wheels, runs a small program for each loader under `penstock
# record`, and holds each trace against what its program counted.
#
#   scripts/test_loaders.sh [--table] [--only NAME]...
#
#   --table   writes what was measured into the table "Loaders" of README.md
#   --only    this case of scripts/loaders/cases.py, without bringing the environments up to date
#
# The environments are build/loaders/wheels and build/loaders/tensorflow, or below
# PENSTOCK_LOADERS_DIR; about 9 GB of disk, for PyTorch's wheel wants CUDA's libraries. They are kept
# and brought up to date by the next run. Needs the network, therefore not part of scripts/test.sh;
# tests/integration/loaders_test.py has what Debian's packages suffice for. A package that cannot be
# installed is left out, and its loader told as not tested. Exit status: 0 all as expected, 1 not,
# 2 usage, 3 the environments could not be made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kBin=$PWD/build/release/bin
readonly kSystemPython=/usr/bin/python3
readonly kGigabytes=9
more=()
update=true
while [[ $# -gt 0 ]]; do
  case "$1" in
    --table) more+=(--table README.md) ;;
    --only)
      [[ $# -ge 2 ]] || { echo "test_loaders: --only needs a name" >&2; exit 2; }
      more+=(--only "$2")
      update=false
      shift
      ;;
    *)
      echo "usage: scripts/test_loaders.sh [--table] [--only NAME]..." >&2
      exit 2
      ;;
  esac
  shift
done

fail() {
  echo "test_loaders: $1" >&2
  exit 3
}

base=${PENSTOCK_LOADERS_DIR:-build/loaders}
mkdir -p "$base/out"
base=$(cd "$base" && pwd)

# $1: environment, rest: packages. One that cannot be had is told and left out.
install() {
  local venv=$base/$1 log=$base/out/pip-$1.log package
  shift
  "$kSystemPython" -m venv "$venv" || fail "python3 -m venv failed"
  echo "Installing $* (log: $log)"
  : >"$log"
  "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade "$@" >>"$log" 2>&1 && return 0
  for package in "$@"; do
    "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade "$package" >>"$log" 2>&1 ||
      echo "  not to be had: $package"
  done
}

if "$update"; then
  free=$(df --output=avail -B1000000000 "$base" | tail -n 1)
  if [[ ! -x $base/tensorflow/bin/python && $free -lt $kGigabytes ]]; then
    fail "needs $kGigabytes GB of disk, $base has $((free))"
  fi
  scripts/deps.sh build run test
  install wheels torch torchvision numpy pillow opencv-python-headless torchdata accelerate lightning webdataset \
    datasets h5py lmdb imageio scikit-image spdl-core nvidia-dali-cuda130
  install tensorflow tensorflow-cpu pillow
fi
[[ -x $kBin/penstock ]] || {
  echo "Building (log: $base/out/build.log)"
  { cmake --preset release && cmake --build --preset release; } >"$base/out/build.log" 2>&1 || {
    tail -n 40 "$base/out/build.log" >&2
    fail "the release preset does not build"
  }
}

pythons=(--python debian="$kSystemPython")
for kind in wheels tensorflow; do
  [[ ! -x $base/$kind/bin/python ]] || pythons+=(--python "$kind=$base/$kind/bin/python")
done
[[ ! -x build/release/tests/targets/opencv_threads ]] || pythons+=(--python native=build/release/tests/targets/opencv_threads)
"$kSystemPython" -B scripts/loaders/pictures.py "$base/pictures"
exec "$kSystemPython" -B scripts/loaders/run.py --bin "$kBin" --out "$base/out" --pictures "$base/pictures" \
  "${pythons[@]}" "${more[@]}"
