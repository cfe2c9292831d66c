#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests of the Python package with other Pythons than the system's. Each Python runs them with NumPy 1,
# with NumPy 2, and without any package. Prints a table.
#
#   scripts/test_pythons.sh [--build DIR] [PYTHON...]
#
# --build   the folder in which the programs were built (default build/release)
# PYTHON    an interpreter, or the interpreter of a virtual environment; default: every one of python3.9 to python3.14
#           that is in PATH or in the folders of pyenv
#
# The interpreter of a virtual environment runs the tests once, with the packages that are there, such as PyTorch. For
# any other interpreter the script makes two environments in build/pythons, one with NumPy below 2 and one with NumPy 2
# or newer. It also runs this interpreter without any package (-S). If a NumPy has no wheel for an interpreter, a line
# says so. Needs the package index, so this is not part of scripts/test.sh. Exit status: 0 all passed, 1 a test failed,
# 2 usage, 3 something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/release
if [[ ${1:-} == --build ]]; then
  build=${2:?"--build needs a folder"}
  shift 2
fi
if [[ ${1:-} == -* ]]; then
  echo "usage: scripts/test_pythons.sh [--build DIR] [PYTHON...]" >&2
  exit 2
fi
if [[ ! -x $build/bin/penstock-load ]]; then
  echo "test_pythons: $build/bin/penstock-load is missing: cmake --build $build" >&2
  exit 3
fi
pythons=("$@")
if [[ ${#pythons[@]} -eq 0 ]]; then
  for version in 3.9 3.10 3.11 3.12 3.13 3.14; do
    for found in "$(command -v "python$version" || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
      # pyenv puts a shim for every version into PATH. The shim of a version that is not chosen fails.
      if [[ -x $found ]] && "$found" -c "" 2>/dev/null; then
        pythons+=("$found")
        break
      fi
    done
  done
fi
if [[ ${#pythons[@]} -eq 0 ]]; then
  echo "test_pythons: no Python from 3.9 to 3.14 was found: name one" >&2
  exit 3
fi

readonly kTests=(marks trace loader loader_resume loader_trouble targets lifetime record examples)
readonly kBare=(marks loader loader_resume loader_trouble lifetime)  # those that need no NumPy
readonly kFolder=$PWD/build/pythons
mkdir -p "$kFolder"
failed=false

# $1: interpreter. Prints its version and the versions of the packages that matter.
about() {
  "$1" - <<'END'
import importlib
import platform
found = [platform.python_version()]
for name in ("numpy", "torch", "torchvision"):
    try:
        found.append("%s %s" % (name, importlib.import_module(name).__version__.split("+")[0]))
    except ImportError:
        pass
print(", ".join(found))
END
}

# Runs the tests and prints their results. $1: title, $2: interpreter, rest: its options
run_tests() {
  local title=$1 python=$2 test log status line
  shift 2
  local tests=("${kTests[@]}")
  [[ ${1:-} != -S ]] || tests=("${kBare[@]}")
  for test in "${tests[@]}"; do
    log=$kFolder/$(tr -c '[:alnum:].\n' _ <<<"$title")-$test.log
    status=0
    PENSTOCK_BUILD=$PWD/$build PYTHONDONTWRITEBYTECODE=1 "$python" -B "$@" "tests/python/${test}_test.py" -v \
      >"$log" 2>&1 </dev/null || status=$?
    line=$(grep -E '^Ran [0-9]+ tests? in' "$log" || echo "no test ran")
    if [[ $status -ne 0 || $line == "no test ran" ]]; then
      failed=true
      printf 'FAIL %-44s %-14s %s (log: %s)\n' "$title" "$test" "$line" "$log"
    else
      printf 'ok   %-44s %-14s %s, %s skipped\n' "$title" "$test" "$line" "$(grep -c ' skipped ' "$log" || true)"
    fi
  done
}

for python in "${pythons[@]}"; do
  if ! "$python" -c "" 2>/dev/null; then
    echo "test_pythons: $python does not start" >&2
    exit 3
  fi
  if "$python" -c "import sys; sys.exit(sys.prefix == sys.base_prefix)"; then
    run_tests "$(about "$python")" "$python"
    continue
  fi
  version=$("$python" -c "import platform; print(platform.python_version())")
  run_tests "$version, no package" "$python" -S
  for numpy in "numpy<2" "numpy>=2"; do
    venv=$kFolder/$version-${numpy//[^0-9a-z]/}-$([[ $numpy == *\<* ]] && echo older || echo newer)
    if ! { "$python" -m venv "$venv" && "$venv/bin/python" -m pip install --disable-pip-version-check \
      --only-binary=:all: "$numpy" pillow; } >"$venv.log" 2>&1; then
      echo "--   $version: no wheel of $numpy (log: $venv.log)"
      rm -rf "$venv"
      continue
    fi
    run_tests "$(about "$venv/bin/python")" "$venv/bin/python"
  done
done
if "$failed"; then
  echo FAILED
  exit 1
fi
