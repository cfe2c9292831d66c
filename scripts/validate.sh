#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares predictions with measurements: builds the release programs, measures the cells that have no
# measurement yet, predicts all cells from the recorded traces and writes analyzer/VALIDATION.md.
#
#   scripts/validate.sh [--quick] [--for SECONDS] [--fresh] [--keep] [--only a|b|c|d|e]...
#
#   --quick        a few cells instead of all of them
#   --for SECONDS  start no run after that time; the next call goes on where this one ended
#   --fresh        measure everything anew, instead of using the measurements in tests/validation/measured
#   --keep         put the measurements into tests/validation/measured, for other clones and for a test
#   --only         measure one section: (a) DataLoader, (b) faults, (c) public curves, (d) reference
#                  loader, (e) DataLoader with real work. The other sections are written from their last
#                  measurements or, without measurements, stay as they were
#
# Needs a machine on which nothing else runs. Everything takes some 140 minutes on two cores. State is in
# build/validation/. Exit status: 0 written, 1 a run failed (the rest was written), 2 usage, 3 the build failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kLog=build/validation/build.log
mkdir -p build/validation
if [[ -z ${PENSTOCK_BIN:-} ]]; then
  scripts/deps.sh build run
  echo "Building (log: $kLog)"
  if ! { cmake --preset release && cmake --build --preset release; } >"$kLog" 2>&1; then
    tail -n 40 "$kLog" >&2
    echo "validate: does not build" >&2
    exit 3
  fi
  export PENSTOCK_BIN=$PWD/build/release/bin
fi
exec /usr/bin/python3 -B tests/validation/validate.py "$@"
