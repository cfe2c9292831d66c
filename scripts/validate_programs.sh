#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Validates verdicts and predictions with other people's programs. Makes virtual environments with the
# current wheels of public training frameworks and records a small training run with each. Then runs each
# program with the predicted changes, such as other numbers of workers or a stage that costs nothing, and
# compares these runs with the verdict and the predictions.
#
#   scripts/validate_programs.sh [--only NAME]... [--fresh] [--repeats N] [--seconds S] [--again | --record]
#
#   --only     only this program of tests/validation/programs/cases.py, without bringing the environments up to date
#   --fresh    measures everything anew, instead of going on from the last measurements
#   --repeats  runs of each setting (default 1); --seconds: how long a run trains (default 10)
#   --again    measures nothing: makes reports and predictions anew from the traces that are there
#   --record   records all traces anew, for instance after a change of the agent
#
# Needs a machine on which nothing else runs. Everything takes some 50 minutes on two cores. The
# environments, the dataset and the results are in build/programs, or in the folder that
# PENSTOCK_PROGRAMS_DIR names. They take about 12 GB of disk, since PyTorch's wheel needs CUDA's libraries.
# The script needs the network, so it is not part of scripts/test.sh. If a package cannot be installed, the
# script goes on without it and reports its program as failed. Exit status: 0 all measured, 1 a program
# failed, 2 usage, 3 the environments could not be made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kSystemPython=/usr/bin/python3
readonly kPrograms=tests/validation/programs
readonly kGigabytes=12 kPictures=240
more=()
update=true
usage() {
  echo "usage: scripts/validate_programs.sh [--only NAME]... [--fresh] [--repeats N] [--seconds S] [--again | --record]" >&2
  exit 2
}
while [[ $# -gt 0 ]]; do
  case "$1" in
    --only | --repeats | --seconds)
      [[ $# -ge 2 ]] || usage
      more+=("$1" "$2")
      [[ $1 != --only ]] || update=false
      shift
      ;;
    --fresh | --record) more+=("$1") ;;
    --again) more+=("$1"); update=false ;;
    *) usage ;;
  esac
  shift
done

fail() {
  echo "validate_programs: $1" >&2
  exit 3
}

base=${PENSTOCK_PROGRAMS_DIR:-build/programs}
mkdir -p "$base/out"
base=$(cd "$base" && pwd)

# Lets the environment $1 use the packages of the environment $2.
share() {
  local place
  place=$("$base/$1/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
  "$base/$2/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))" >"$place/shared.pth"
}

# Installs packages. If one cannot be installed, prints its name and goes on. $1: environment, rest: packages
install() {
  local venv=$base/$1 log=$base/out/pip-$1.log package
  "$kSystemPython" -m venv "$venv" || fail "python3 -m venv failed"
  [[ $1 != streaming ]] || share streaming torch
  shift
  echo "Installing $* (log: $log)"
  : >"$log"
  "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade "$@" >>"$log" 2>&1 && return 0
  for package in "$@"; do
    "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade "$package" >>"$log" 2>&1 ||
      echo "  could not be installed: $package"
  done
}

packages() {
  "$kSystemPython" -B -c "import sys; sys.path.insert(0, '$kPrograms'); import cases; print(cases.PACKAGES['$1'])"
}

if "$update"; then
  free=$(df --output=avail -B1000000000 "$base" | tail -n 1)
  if [[ ! -x $base/torch/bin/python && $free -lt $kGigabytes ]]; then
    fail "needs $kGigabytes GB of disk, $base has $((free))"
  fi
  # shellcheck disable=SC2046  # one word per package
  for kind in torch streaming tensorflow; do
    install "$kind" $(packages "$kind")
  done
fi
if [[ -z ${PENSTOCK_BIN:-} ]]; then
  scripts/deps.sh build run
  echo "Building (log: $base/out/build.log)"
  { cmake --preset release && cmake --build --preset release; } >"$base/out/build.log" 2>&1 || {
    tail -n 40 "$base/out/build.log" >&2
    fail "the release preset does not build"
  }
  PENSTOCK_BIN=$PWD/build/release/bin
fi

pythons=()
for kind in torch streaming tensorflow; do
  [[ ! -x $base/$kind/bin/python ]] || pythons+=(--python "$kind=$base/$kind/bin/python")
done
"$kSystemPython" -B scripts/demo/make_images.py "$base/data/pictures" --count "$kPictures"
"$kSystemPython" -B "$kPrograms/sets.py" "$base/data"
exec "$kSystemPython" -B "$kPrograms/run.py" --bin "$PENSTOCK_BIN" --data "$base/data" --out "$base/out" \
  "${pythons[@]}" "${more[@]}"
