#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From a clone to a verdict: installs what is missing, builds, makes images, trains a small network
# on the CPU under the agent and prints what holds the run back. Takes no options. Writes only into
# build/. On two cores the build takes some four minutes and the rest under one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kOut=build/demo
readonly kBin=build/release/bin
readonly kPython=/usr/bin/python3  # Debian's, even if another Python comes first in PATH

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "demo: $1" >&2
  exit "${2:-1}"
}

# Runs a command with its output in a log, and shows the end of the log if it fails.
quietly() {
  local log=$1
  shift
  if ! "$@" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    fail "failed: $* (all of it: $log)" 3
  fi
}

# Records a training run. $1: name of the run, $2: title, rest: arguments of train.py
record() {
  local name=$1 title=$2
  shift 2
  local trace=$kOut/$name.penstock
  say "$title"
  rm -f "$trace"
  # Python must not write its caches into the sources.
  PYTHONDONTWRITEBYTECODE=1 "$kBin/penstock" record -o "$trace" -- \
    "$kPython" scripts/demo/train.py "$@" || fail "the recorded run ended with status $?"
  [[ -s $trace ]] || fail "$trace was not written"
}

mkdir -p "$kOut"
scripts/deps.sh build run

say "Building, some four minutes on two cores (log: $kOut/build.log)"
: >"$kOut/build.log"
quietly "$kOut/build.log" cmake --preset release
quietly "$kOut/build.log" cmake --build --preset release --target penstock_programs
started=$SECONDS

say "Images"
"$kPython" -B scripts/demo/make_images.py "$kOut/data/imagenet" --set imagenet
"$kPython" -B scripts/demo/make_images.py "$kOut/data/fullhd" --set fullhd

record run "Training on 500-pixel photos, 2 workers" \
  --data "$kOut/data/imagenet" --workers 2 --batch 64 --batches 60 --log-every 20
"$kBin/penstock" report "$kOut/run.penstock"

record fullhd "Training on 1920x1080 photos, 2 workers" \
  --data "$kOut/data/fullhd" --workers 2 --batch 16 --batches 48 --log-every 16
"$kBin/penstock" report "$kOut/fullhd.penstock" --json >"$kOut/fullhd.json"
"$kBin/penstock" report "$kOut/run.penstock" --json >"$kOut/run.json"

say "Verdict ($((SECONDS - started)) s after the build)"
"$kPython" -B scripts/demo/verdict.py "500 px=$kOut/run.json" "1920x1080=$kOut/fullhd.json"
echo "Next: see all of it with '$kBin/penstock report $kOut/run.penstock', or record your own:" \
  "'$kBin/penstock record -- python train.py'"
