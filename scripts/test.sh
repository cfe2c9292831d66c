#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds and tests everything. The release build runs all tests and the lint. A build with clang,
# AddressSanitizer and UndefinedBehaviorSanitizer runs all tests but those labelled "preload", and each fuzz
# target for 30 s. A build with ThreadSanitizer runs the tests of code that has threads.
#
#   scripts/test.sh [--quick]     --quick: the release build only
#
# Installs missing packages first. Logs are in build/test/. The summary names the skipped tests; with CI=true
# in the environment a skipped test is a failure, unless skipped_tests.py accepts the reason, such as a missing
# GPU. Exit status: 0 all passed, 1 something failed (the rest ran nevertheless), 2 usage or a path with spaces,
# 3 a package is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=false
case "${1:-}" in
  "") ;;
  --quick) quick=true ;;
  *)
    echo "usage: scripts/test.sh [--quick]" >&2
    exit 2
    ;;
esac

if [[ $PWD == *[[:space:]:]* ]]; then
  echo "test: LD_PRELOAD, which the agent's tests set, holds no path with spaces or colons: $PWD" >&2
  exit 2
fi

readonly kLogs=build/test
readonly kPython=/usr/bin/python3
readonly kFuzzTargets=(fuzz_trace_reader fuzz_trace_import fuzz_loader_jpeg fuzz_loader_tar fuzz_agent_cupti)
readonly kFuzzSeconds=${PENSTOCK_FUZZ_SECONDS:-30}
jobs=$(nproc)
mkdir -p "$kLogs"
scripts/deps.sh all

# ccache compares paths relative to this tree, so it also finds results of another clone. With
# PENSTOCK_CCACHE=0 the compiler compiles everything.
launcher=()
if [[ ${PENSTOCK_CCACHE:-1} != 0 ]] && command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  for language in C CXX CUDA; do
    launcher+=("-DCMAKE_${language}_COMPILER_LAUNCHER=ccache")
  done
fi

say() { printf '\n== %s\n' "$*"; }

summary=()
failures=()
failed=false

# Notes that a part has failed; the script goes on. $1: name of the part
failure() {
  failed=true
  failures+=("$1")
  echo "test: $1" >&2
}

# Runs a command with its output in a log, and shows the end of the log if it fails. $1: log, rest: command
quietly() {
  local log=$1
  shift
  "$@" >>"$log" 2>&1 </dev/null || {
    tail -n 60 "$log" >&2
    return 1
  }
}

# Some kernels choose 32 bits of an address at random. The shadow memory of gcc 12's sanitizers may then
# overlap other mappings. So the sanitizer builds run without randomisation, if the container allows that.
fixed_addresses=()
if setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
  fixed_addresses=(setarch "$(uname -m)" --addr-no-randomize)
fi

fuzz_pids=()

# Builds a preset and runs its tests. $1: preset, rest: a command under which both run
run_preset() {
  local preset=$1 log=$kLogs/$1.log started=$SECONDS closing yielding=()
  shift
  say "$preset: build (log: $log)"
  : >"$log"
  # The last fuzz targets may still be running. nice lets them keep their cores during the build.
  [[ ${#fuzz_pids[@]} -eq 0 ]] || yielding=(nice -n 19)
  if ! quietly "$log" cmake --preset "$preset" "${launcher[@]}" ||
    ! quietly "$log" "${yielding[@]}" "$@" cmake --build --preset "$preset" --parallel "$jobs"; then
    failure "$preset: does not build"
    finish_fuzz
    return 0
  fi
  finish_fuzz
  say "$preset: tests"
  # CMakePresets.json says for ctest --preset which tests are excluded and how long one may take. One and a half
  # times as many tests as cores run at a time, since many of them only wait for other programs or for windows.
  # Tests that measure programs that compute run alone (RUN_SERIAL).
  local status=0 skipped strict=()
  rm -f "$kLogs/$preset-tests.xml"
  "$@" ctest --preset "$preset" --parallel "$((jobs + (jobs + 1) / 2))" --output-junit "$PWD/$kLogs/$preset-tests.xml" \
    --test-output-size-passed 1000000 </dev/null >"$kLogs/$preset-tests.log" 2>&1 || status=$?
  # Leaves out the lines of passed tests and shows those of failed tests completely.
  grep -vE ' +Passed +[0-9.]+ sec$|^ +Start +[0-9]+: ' "$kLogs/$preset-tests.log" | tail -n 400 || true
  closing=$(grep -E 'tests passed, .* out of' "$kLogs/$preset-tests.log" || echo "no closing line of ctest")
  if [[ $status -ne 0 ]]; then
    failure "$preset: $closing"
    # After its closing line ctest names the failed tests, as in "  12 - integration.faults (Failed)".
    mapfile -t -O "${#failures[@]}" failures < <(sed -nE 's/^\t *[0-9]+ - /  /p' "$kLogs/$preset-tests.log")
  else
    summary+=("$preset: $closing ($((SECONDS - started)) s)")
  fi
  # Skipped tests prove nothing, so the summary names them. In continuous integration they are a failure.
  [[ ${CI:-} != true ]] || strict=(--strict)
  ctest --preset "$preset" -N -L gpu | sed -nE 's/^ *Test +#[0-9]+: //p' >"$kLogs/$preset-gpu-tests.txt"
  if ! skipped=$("$kPython" -B scripts/skipped_tests.py "$kLogs/$preset-tests.xml" \
    --gpu-tests "$kLogs/$preset-gpu-tests.txt" "${strict[@]}" 2>&1); then
    failure "$preset: tests were skipped that need no GPU"
  fi
  [[ -z $skipped ]] || summary+=("$preset: $(wc -l <<<"$skipped") skipped:" "  ${skipped//$'\n'/$'\n'  }")
}

# Runs a fuzz target ($1). Writes a log; an input that fails stays in build/test/.
fuzz() {
  local corpus=("$kLogs/corpus-$1") samples
  mkdir -p "${corpus[0]}"
  for samples in "tests/fuzz/corpus/$1" traces/samples; do
    [[ ! -d $samples ]] || corpus+=("$samples")
  done
  "${fixed_addresses[@]}" "build/asan/tests/$1" -max_total_time="$kFuzzSeconds" -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$kLogs/$1-" "${corpus[@]}" \
    >"$kLogs/$1.log" 2>&1 </dev/null
}

# Runs every fuzz target of the preset asan for kFuzzSeconds, one on each core. Returns when a core is free for the
# next build; finish_fuzz waits for the targets that still run.
run_fuzz() {
  local name
  say "fuzz targets: $kFuzzSeconds s each (logs: $kLogs/fuzz_*.log)"
  for name in "${kFuzzTargets[@]}"; do
    while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n || true; done
    fuzz "$name" &
    fuzz_pids+=($!)
  done
  while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n || true; done
}

finish_fuzz() {
  local name count at
  for at in "${!fuzz_pids[@]}"; do
    name=${kFuzzTargets[at]}
    if ! wait "${fuzz_pids[at]}"; then
      tail -n 60 "$kLogs/$name.log" >&2
      failure "$name: failed, or is not built; an input that it found is $kLogs/$name-*"
      continue
    fi
    count=$(awk '/^stat::number_of_executed_units:/ { print $2 }' "$kLogs/$name.log")
    summary+=("$name: ${count:-?} inputs in $kFuzzSeconds s, none fails")
  done
  fuzz_pids=()
}

run_preset release
if ! "$quick"; then
  run_preset asan "${fixed_addresses[@]}"
  run_fuzz
  run_preset tsan "${fixed_addresses[@]}"
fi

say "$((SECONDS / 60)) min $((SECONDS % 60)) s"
printf '%s\n' "${summary[@]}"
if "$failed"; then
  printf '%s\n' "FAILED" "${failures[@]}"
  exit 1
fi
