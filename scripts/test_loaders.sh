#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Shows what the agent records of many loaders, PyTorch's and others. Makes virtual environments with the
# current wheels, runs a small program for each loader under `penstock record`, and compares each
# trace with the counts that its program prints.
#
#   scripts/test_loaders.sh [--table] [--codecs] [--only NAME]...
#
#   --table   writes the results into the tables "Loaders" and "Decoders and tokenizers" of README.md
#   --codecs  only decoders and tokenizers: libraries of media, arrays and text, each called 40 times
#   --only    only this case of scripts/loaders/cases.py, without bringing the environments up to date
#
# The environments are wheels, frameworks, streaming, ffcv, tensorflow, codecs and simd in build/loaders,
# or in the folder that PENSTOCK_LOADERS_DIR names. They take about 32 GB of disk: four of them hold
# PyTorch's wheel, which needs CUDA's libraries. They are kept, and the next run brings them up to date.
# The script needs the network, so it is not part of scripts/test.sh; tests/integration/loaders_test.py has
# the cases for which Debian's packages are enough. If a package cannot be installed, the script goes on
# without it and reports its loader as not tested. Exit status: 0 all recordings are as expected, 1 one is
# not, 2 usage, 3 the environments could not be made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kBin=$PWD/build/release/bin
readonly kSystemPython=/usr/bin/python3
readonly kGigabytes=32
more=()
table=()
update=true
codecs_only=false
while [[ $# -gt 0 ]]; do
  case "$1" in
    --table) table=(--table README.md) ;;
    --codecs) codecs_only=true ;;
    --only)
      [[ $# -ge 2 ]] || { echo "test_loaders: --only needs a name" >&2; exit 2; }
      more+=(--only "$2")
      update=false
      shift
      ;;
    *)
      echo "usage: scripts/test_loaders.sh [--table] [--codecs] [--only NAME]..." >&2
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

# Installs packages. If one cannot be installed, prints its name and goes on. $1: environment, rest: packages
install() {
  local venv=$base/$1 log=$base/out/pip-$1.log package
  shift
  "$kSystemPython" -m venv "$venv" || fail "python3 -m venv failed"
  echo "Installing $* (log: $log)"
  : >"$log"
  "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade "$@" >>"$log" 2>&1 && return 0
  for package in "$@"; do
    "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade "$package" >>"$log" 2>&1 ||
      echo "  could not be installed: $package"
  done
}

if "$update"; then
  free=$(df --output=avail -B1000000000 "$base" | tail -n 1)
  if ! "$codecs_only" && [[ ! -x $base/tensorflow/bin/python && $free -lt $kGigabytes ]]; then
    fail "needs $kGigabytes GB of disk, $base has $((free))"
  fi
  scripts/deps.sh build run test
  install codecs numpy pillow simplejpeg "PyTurboJPEG<2" "pyvips[binary]" imagecodecs kornia_rs soundfile librosa av \
    decord opencv-python-headless imageio-ffmpeg nibabel pydicom zarr numcodecs blosc pyarrow safetensors \
    tokenizers transformers sentencepiece tiktoken nvidia-nvimgcodec-cu12
  install simd numpy pillow-simd
  "$codecs_only" || install wheels torch torchvision torchaudio torchcodec soundfile av numpy pillow opencv-python-headless torchdata accelerate lightning webdataset \
    datasets h5py lmdb imageio scikit-image spdl-core nvidia-dali-cuda130
  "$codecs_only" || install frameworks torch torchvision timm ultralytics litdata grain "ray[data]"
  "$codecs_only" || install streaming torch torchvision mosaicml-streaming  # which needs older versions of some packages
  "$codecs_only" || install ffcv torch torchvision ffcv
  "$codecs_only" || install tensorflow tensorflow-cpu pillow
fi
[[ -x $kBin/penstock ]] || {
  echo "Building (log: $base/out/build.log)"
  { cmake --preset release && cmake --build --preset release; } >"$base/out/build.log" 2>&1 || {
    tail -n 40 "$base/out/build.log" >&2
    fail "the release preset does not build"
  }
}

# Tries the decoders and tokenizers with the environment $base/codecs.
codecs() {
  local more=()
  [[ ! -x $base/wheels/bin/python ]] || more+=(--torch-python "$base/wheels/bin/python")
  [[ ! -x $base/simd/bin/python ]] || more+=(--simd-python "$base/simd/bin/python")
  "$kSystemPython" -B scripts/loaders/media_codecs.py --bin "$kBin" --out "$base/out" \
    --python "$base/codecs/bin/python" "${more[@]}" "${table[@]}"
}
if "$codecs_only"; then
  codecs
  exit
fi

pythons=(--python debian="$kSystemPython")
for kind in wheels frameworks streaming ffcv tensorflow; do
  [[ ! -x $base/$kind/bin/python ]] || pythons+=(--python "$kind=$base/$kind/bin/python")
done
[[ ! -x build/release/tests/targets/opencv_threads ]] || pythons+=(--python native=build/release/tests/targets/opencv_threads)
"$kSystemPython" -B scripts/loaders/pictures.py "$base/pictures"
status=0
"$kSystemPython" -B scripts/loaders/run.py --bin "$kBin" --out "$base/out" --pictures "$base/pictures" \
  "${pythons[@]}" "${table[@]}" "${more[@]}" || status=1
"$update" || exit "$status"
codecs || status=1
exit "$status"
