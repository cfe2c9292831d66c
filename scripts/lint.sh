#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the checks of tests/lint without a build: layers, sizes, licences, words, headers,
# formatting.
#
#   scripts/lint.sh [--fix]     --fix: lets clang-format rewrite what is not formatted
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -gt 1 || ($# -eq 1 && $1 != --fix) ]]; then
  echo "usage: scripts/lint.sh [--fix]" >&2
  exit 2
fi

readonly kPython=/usr/bin/python3
format=$(command -v clang-format-14 || true)
status=0

if [[ ${1:-} == --fix ]]; then
  [[ -n $format ]] || { echo "lint: clang-format-14 is missing; other versions format otherwise" >&2; exit 3; }
  git ls-files -z --cached --others --exclude-standard -- '*.cc' '*.c' '*.h' '*.cu' '*.cuh' |
    xargs -0 -r "$format" -i
fi

"$kPython" -B tests/lint/lint_test.py 2>&1 | tail -n 1 || status=1
"$kPython" -B tests/lint/headers_test.py 2>&1 | tail -n 1 || status=1
"$kPython" -B tests/lint/lint.py || status=1
"$kPython" -B tests/lint/headers.py --compiler "${CXX:-$(command -v clang++-14 || echo c++)}" --skip gui/ --skip tests/gui/walk/walk.h || status=1
if [[ -n $format ]]; then
  "$kPython" -B tests/lint/lint.py --clang-format "$format" || status=1
else
  echo "lint: skipped: the formatting, for clang-format-14 is missing and other versions format otherwise"
fi
if command -v shellcheck >/dev/null; then
  shellcheck .ci/run scripts/*.sh || status=1
fi
exit "$status"
