#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Shows which lines and branches the agent's tests reach in the agent, the recorder and the traces
# library. Builds with gcc's --coverage in build/coverage/, runs the tests of tests/agent/, and prints
# a table by folder. The agent also counts inside the programs that it is loaded into. A program that
# is killed, or ends by _exit(), loses its counts, so the figures are a lower bound. This build adds
# symbols to the agent and files to programs. Tests that check either of them fail; the script names them.
#
#   scripts/coverage.sh [--uncovered N] [--again]
#     --uncovered N: names the N files with most branches not taken, with the numbers of their lines
#     --again: prints the results of the last run, without building and testing
#
# Exit status: 0, or 1 if it does not build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

again=false
report=()
while (($#)); do
  case $1 in
    --again) again=true ;;
    --uncovered) report+=(--uncovered "$2") && shift ;;
    *)
      echo "usage: scripts/coverage.sh [--uncovered N] [--again]" >&2
      exit 2
      ;;
  esac
  shift
done

readonly kBuild=build/coverage
jobs=$(nproc)

if ! "$again"; then
  mkdir -p build
  launcher=()
  if [[ ${PENSTOCK_CCACHE:-1} != 0 ]] && command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  # Counters are atomic, since threads and signal handlers share them. -lgcov is given, since the agent is
  # linked without default libraries, so gcc does not add libgcov itself.
  cmake -S . -B "$kBuild" -G Ninja -DCMAKE_BUILD_TYPE=Debug "${launcher[@]}" \
    -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic" \
    -DCMAKE_CXX_FLAGS="--coverage -fprofile-update=atomic" \
    -DCMAKE_C_STANDARD_LIBRARIES=-lgcov -DCMAKE_CXX_STANDARD_LIBRARIES=-lgcov \
    -DPENSTOCK_GUI=OFF -DPENSTOCK_CUDA=OFF -DPENSTOCK_BENCHMARKS=OFF -DPENSTOCK_LOADER=OFF -DCMAKE_UNITY_BUILD=ON >"$kBuild.log"
  mapfile -t targets < <(cmake --build "$kBuild" --target help |
    sed -nE 's/^((agent_[a-z_]+|resolve|codecs)_test|penstock-record|penstock-recover|penstock_agent|penstock_python): phony$/\1/p' |
    grep -v agent_model_test)
  cmake --build "$kBuild" --parallel "$jobs" --target "${targets[@]}" >>"$kBuild.log" 2>&1 || {
    tail -n 40 "$kBuild.log" >&2
    exit 1
  }
  find "$kBuild" -name '*.gcda' -delete
  ctest --test-dir "$kBuild/tests/agent" --parallel "$jobs" --timeout 300 >"$kBuild-tests.log" 2>&1 </dev/null || true
  grep -E 'tests passed' "$kBuild-tests.log" || true
  sed -nE 's/^\t *[0-9]+ - ([^ ]+) \((Failed|Timeout|SEGFAULT)[^)]*\).*/not passed in this build: \1/p' "$kBuild-tests.log"
fi
python3 scripts/coverage_report.py "$kBuild" "${report[@]}"
