#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tries what a machine can do to Penstock: thousands of processes and threads, kills, signal storms,
# full disks, clocks that jump, sandboxes, hostile files, fuzzing. Prints a line for each scenario.
# With --full the figures go into tests/RELIABILITY.md.
#
#   scripts/torture.sh [--quick | --full] [--only NAME]... [--fuzz-seconds N] [--list]
#
#   --quick           some seconds for each scenario, no fuzzing (the default; ctest runs this too)
#   --full            full length: some 15 minutes, and --fuzz-seconds for each of the fuzz targets
#   --only NAME       only this scenario
#   --fuzz-seconds N  default 600; inputs that reach new code are added to the corpus in build/test/
#
# Some scenarios need root (mounts, time namespaces, setuid); they are skipped for other users. Exit status:
# 0 all passed or skipped, 1 one has failed, 2 usage, 3 the build failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

full=false
fuzz=true
only=()
for ((i = 1; i <= $#; i++)); do
  case "${!i}" in
    --full) full=true ;;
    --only)
      next=$((i + 1))
      only+=("${!next:-}")
      ;;
    -h | --help)
      sed -n '3,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
  esac
done
if [[ ${#only[@]} -gt 0 && " ${only[*]} " != *" fuzz-"* ]]; then
  fuzz=false
fi

build=${PENSTOCK_BUILD:-build/release}
log=build/test/torture.log
mkdir -p build/test
launcher=()
if [[ ${PENSTOCK_CCACHE:-1} != 0 ]] && command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

does_not_build() {
  tail -n 40 "$log" >&2
  echo "torture: does not build" >&2
  exit 3
}

if [[ ! -v PENSTOCK_BUILD ]]; then
  scripts/deps.sh all
  echo "Building (log: $log)"
  { cmake --preset release "${launcher[@]}" && cmake --build --preset release; } >"$log" 2>&1 || does_not_build
fi
if "$full" && "$fuzz"; then
  echo "Building the fuzz targets (log: $log)"
  # Some kernels choose so many bits of an address at random that mappings overlap the sanitizer's shadow memory.
  fixed=()
  if setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
    fixed=(setarch "$(uname -m)" --addr-no-randomize)
  fi
  { cmake --preset asan "${launcher[@]}" && "${fixed[@]}" cmake --build --preset asan --target fuzz_trace_reader \
    fuzz_trace_import fuzz_loader_jpeg fuzz_loader_tar; } >>"$log" 2>&1 || does_not_build
fi

export PENSTOCK_BIN=$PWD/$build/bin PENSTOCK_AGENT_LIB=$PWD/$build/lib/libpenstock_agent.so
export PENSTOCK_TORTURE=$PWD/$build/tests/torture
exec /usr/bin/python3 -B tests/torture/torture.py "$@"
