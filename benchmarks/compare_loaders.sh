#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares penstock-load with other loaders on the same pictures in interleaved runs, and prints a table of their
# throughput and of its ratios. If the pictures are not there yet, makes them first.
#
#   benchmarks/compare_loaders.sh [--set imagenet|coco|fullhd] [--count N] [--build DIR] [OPTION...]
#
# --set    the pictures to load (default imagenet): those that penstock-load make-set makes in build/bench/sets/SET
# --count  the number of pictures (default: that of make-set). With --count they are in build/bench/sets/SET-N.
# --build  where penstock-load was built (default build/release)
# Other options go to benchmarks/loaders/compare.py, among them:
# --rounds (default 10), --seconds (default 5)
# --python VENV/bin/python: an environment with loaders that Debian lacks; may be given several times. Make
#          one environment for each of: nvidia-dali-cuda120; spdl (needs Debian's libavdevice59); ffcv; newer
#          torch, torchvision, timm and webdataset together. A loader runs in the first one that can import it.
# Exit status: 0 done, also if a loader is not installed (the table says so), 2 usage, 3 penstock-load is not built
# or a run failed; if the pictures cannot be made, that of penstock-load make-set.
set -euo pipefail

cd "$(dirname "$0")/.."
set_name=imagenet
build=build/release
count=()
rest=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --set | --count | --build)
      [[ $# -gt 1 ]] || { echo "compare_loaders: $1 needs a value" >&2; exit 2; }
      case "$1" in
        --set) set_name=$2 ;;
        --count) count=(--count "$2") ;;
        --build) build=$2 ;;
      esac
      shift 2
      ;;
    -h | --help)
      sed -n '4,19s/^# \{0,1\}//p' "$0"
      exec /usr/bin/python3 -B benchmarks/loaders/compare.py --help
      ;;
    *)
      rest+=("$1")
      shift
      ;;
  esac
done
case "$set_name" in
  imagenet | coco | fullhd) ;;
  *) echo "compare_loaders: --set $set_name: give imagenet, coco or fullhd" >&2; exit 2 ;;
esac
load=$build/bin/penstock-load
if [[ ! -x "$load" ]]; then
  echo "compare_loaders: $load is missing: cmake --build $build --target penstock-load" >&2
  exit 3
fi
data=build/bench/sets/$set_name${count[1]:+-${count[1]}}
mkdir -p build/bench/sets
"$load" make-set "$data" --kind "$set_name" "${count[@]}"
exec /usr/bin/python3 -B benchmarks/loaders/compare.py --load "$load" --data "$data" "${rest[@]}"
