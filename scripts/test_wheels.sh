#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the agent sees the libraries inside wheels from pip. Makes a virtual environment with the current Pillow,
# opencv-python-headless, numpy and albumentations, decodes images with them under the agent, and checks the number of
# decode and augment spans. Also checks that our exports can be read with Perfetto's own schema (package perfetto), and
# that pandas, polars, pyarrow, DuckDB and Dask accept our tables.
#
#   scripts/test_wheels.sh [--torch]     --torch: PyTorch and torchvision too (12 GB of disk)
#
# The environment is build/wheels, or PENSTOCK_WHEELS_DIR. It is kept, and the next run brings it up
# to date. Needs the network, so this is not part of scripts/test.sh. Exit status: 0 the agent saw
# everything, 1 it missed something, 2 usage, 3 the environment could not be made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

torch=false
case "${1:-}" in
  "") ;;
  --torch) torch=true ;;
  *)
    echo "usage: scripts/test_wheels.sh [--torch]" >&2
    exit 2
    ;;
esac

readonly kImages=40
readonly kBin=$PWD/build/release/bin
readonly kSystemPython=/usr/bin/python3
venv=${PENSTOCK_WHEELS_DIR:-build/wheels}
mkdir -p "$venv"
venv=$(cd "$venv" && pwd)
out=$venv/out
mkdir -p "$out"
python=$venv/bin/python

fail() {
  echo "test_wheels: $1" >&2
  exit 3
}

scripts/deps.sh build run test
[[ -x $kBin/penstock ]] || {
  echo "Building (log: $out/build.log)"
  { cmake --preset release && cmake --build --preset release; } >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log" >&2
    fail "the release preset does not build"
  }
}

packages=(pillow opencv-python-headless numpy albumentations perfetto pandas polars pyarrow duckdb "dask[dataframe]")
if "$torch"; then
  free=$(df --output=avail -B1000000000 "$venv" | tail -n 1)
  [[ $free -ge 12 ]] || fail "--torch needs 12 GB of disk, $venv has $((free))"
  packages+=(torch torchvision)
fi
"$kSystemPython" -m venv "$venv" || fail "python3 -m venv failed"
echo "Installing ${packages[*]} (log: $out/pip.log)"
"$python" -m pip install --disable-pip-version-check --upgrade "${packages[@]}" >"$out/pip.log" 2>&1 || {
  tail -n 20 "$out/pip.log" >&2
  fail "pip could not install ${packages[*]}"
}
"$kSystemPython" -B scripts/demo/make_images.py "$out/data" --count 100

failed=0
# Records a command and counts its spans. $1: short name, $2: the wanted counts (see count_spans.py), rest: the
# command
check() {
  local name=$1 wanted=$2 trace=$out/$1.penstock
  shift 2
  rm -f "$trace"
  # NO_ALBUMENTATIONS_UPDATE keeps albumentations from asking the network for its newest version.
  if ! NO_ALBUMENTATIONS_UPDATE=1 "$kBin/penstock" record -o "$trace" -- "$@" >"$out/$name.log" 2>&1; then
    tail -n 20 "$out/$name.log" >&2
    echo "$name: the recorded command failed" >&2
    failed=1
    return 0
  fi
  "$kBin/penstock" export "$trace" --to jsonl -o "$out/$name.jsonl"
  # shellcheck disable=SC2086  # one word per claim
  "$kSystemPython" -B scripts/wheels/count_spans.py "$out/$name.jsonl" "$name" $wanted || failed=1
}

echo
"$python" -m pip list --disable-pip-version-check 2>/dev/null |
  grep -iE '^(pillow|opencv-python-headless|numpy|albumentations|torch|torchvision) '
"$python" --version
echo
# Pillow opens a file, and loads it when pixels are needed. OpenCV's codecs are inside its own wheel.
check pil "decode:load=$kImages augment:resize>=$kImages read>=$kImages" \
  "$python" scripts/wheels/decode.py pil "$out/data" "$kImages"
check cv2 "decode:imread=$kImages augment:cvtColor=$kImages read>=$kImages" \
  "$python" scripts/wheels/decode.py cv2 "$out/data" "$kImages"
check cv2-imdecode "decode:imdecode=$kImages augment:cvtColor=$kImages read>=$kImages" \
  "$python" scripts/wheels/decode.py cv2-imdecode "$out/data" "$kImages"
transforms="augment:RandomCrop=$kImages augment:HorizontalFlip=$kImages augment:Normalize=$kImages"
check albumentations "decode:imread=$kImages $transforms" \
  "$python" scripts/wheels/decode.py albumentations "$out/data" "$kImages"

"$kBin/penstock" export "$out/albumentations.penstock" --to perfetto -o "$out/albumentations.perfetto"
"$python" -B scripts/wheels/read_perfetto.py "$out/albumentations.perfetto" "$out/albumentations.jsonl" ||
  failed=1

# Tests penstock.open() with libraries that Debian 12 lacks, or has only in old versions.
for name in trace examples; do
  if PENSTOCK_BUILD=$PWD/build/release "$python" -B "tests/python/${name}_test.py" >"$out/python-$name.log" 2>&1; then
    echo "python-$name: $(tail -n 1 "$out/python-$name.log")"
  else
    tail -n 40 "$out/python-$name.log" >&2
    failed=1
  fi
done

if "$torch"; then
  declare -A decode=([pil]=load [cv2]=imread [torchvision]=read_image)
  for decoder in pil cv2 torchvision; do
    for start in fork spawn; do
      check "torch-$decoder-$start" \
        "sample=160 decode:${decode[$decoder]}=160 augment:RandomResizedCrop=160 fetch=10 wait>=10" \
        "$python" scripts/demo/train.py --data "$out/data" --decoder "$decoder" \
        --start-method "$start" --workers 2 --batch 16 --batches 10
    done
  done
fi

if [[ $failed -ne 0 ]]; then
  echo "FAILED: the logs and traces are in $out"
  exit 1
fi
echo "all seen"
