#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Draws the pictures of the dashboard for README.md from the demo's trace, without a display.
#
#   scripts/screenshots.sh [TRACE]
#
# TRACE is build/demo/run.penstock by default; if that file does not exist, scripts/demo.sh records it.
# Writes gui/pictures/*.png, 1280x720 in 256 colours. PENSTOCK_BUILD names the build folder whose
# penstock-gui draws (default: build/release). Exit status: 0 done; 2 usage; 3 something is missing or failed.
set -euo pipefail

if [[ $# -gt 1 || ${1:-} == -* ]]; then
  echo "usage: scripts/screenshots.sh [TRACE]" >&2
  exit 2
fi
trace=
[[ $# -eq 0 ]] || trace=$(realpath -ms -- "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly kBuild=${PENSTOCK_BUILD:-build/release}
readonly kGui=$kBuild/bin/penstock-gui
readonly kTrace=${trace:-build/demo/run.penstock}
readonly kOut=gui/pictures

fail() {
  echo "screenshots: $1" >&2
  exit 3
}

if [[ ! -e $kTrace ]]; then
  [[ $# -eq 0 ]] || fail "$kTrace: there is no such file"
  scripts/demo.sh
fi
[[ -x $kGui ]] || fail "$kGui is not built: cmake --preset release && cmake --build --preset release --target penstock_programs"
mkdir -p "$kOut"

# Draws one picture. $1: its name, rest: options of penstock-gui
draw() {
  local name=$1
  shift
  "$kGui" "$kTrace" --screenshot "$kOut/$name.png" --size 1280x720 "$@" || fail "no picture of $name"
}

draw overview --view overview --theme dark
draw timeline --view timeline --theme dark --from 1.9s --to 2.6s
draw stages --view stages --theme light
draw what-if --view what-if --theme dark
draw overview-zh --view overview --theme light --lang zh

# Text and flat areas need few colours; with 256 colours a picture takes a third of the bytes.
# MAXCOVERAGE also keeps colours that only small areas have. Such areas show stages.
/usr/bin/python3 - "$kOut"/*.png <<'PYTHON' || fail "python3-pil is missing: scripts/deps.sh run"
import sys
from PIL import Image

for path in sys.argv[1:]:
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, method=Image.MAXCOVERAGE, dither=Image.NONE)
    small.save(path, optimize=True)
PYTHON
du -b "$kOut"/*.png
