#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs inside a new Debian root file system (scripts/test_wheel.sh). Does what users do with the wheel, and
# prints for each step a line that begins with "ok" or "FAIL".
#
#   in_root.sh [emulated]     emulated: under qemu, where some checks take too long or are not possible
set -euo pipefail
cd "$HOME"
emulated=${1:-}
venv="$HOME/a venv"
bin="$venv/bin"
wheel=$(echo ./*.whl)
limit=300 pip=() workers=1
if [[ -n $emulated ]]; then
  limit=1200
  pip=(--without-pip) # copying pip takes minutes there, and Debian's can be used
fi
# pip and uv find packages only in the folder tools.
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$HOME/tools PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_BREAK_SYSTEM_PACKAGES=1
export UV_OFFLINE=1 UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy

# Runs a command and prints the line of this step. $1: title, rest: command
check() {
  local name=$1 began=$SECONDS
  shift
  echo "== $name: $*" >&2
  if "$@" >out.txt 2>&1 </dev/null; then
    printf 'ok   %4d s  %s\n' "$((SECONDS - began))" "$name"
  else
    local status=$?
    cat out.txt >&2
    printf 'FAIL %4d s  %s (status %d)\n' "$((SECONDS - began))" "$name" "$status"
  fi
}
bounded() { timeout "$limit" "$@"; }
contains() { # $1: text, rest: command
  local text=$1
  shift
  bounded "$@" && grep -qF -- "$text" out.txt
}
# Checks that a trace ($1) has one sample and one decode for each of the 256 pictures, and at least as many reads.
all_decoded() {
  bounded "$bin/penstock" report --json "$1" >report.json &&
    python3 -c '
import json
count = {stage["name"]: stage["count"] for stage in json.load(open("report.json"))["stages"]}
print(count)
assert count["sample"] == 256 and count["decode"] == 256 and count["read"] >= 256'
}
nothing_left() { # folders
  ! find "$@" -iname '*penstock*' | grep .
}
record() { # $1: penstock, $2: python, $3: trace
  rm -f "$3"
  bounded "$1" record -o "$3" -- "$2" train.py --forward --workers "$workers" && all_decoded "$3"
}

check "venv" bounded python3 -m venv --system-site-packages "${pip[@]}" "$venv"
check "pip install" bounded "$bin/python" -m pip install --no-deps "$wheel"
check "penstock --version" contains "penstock 0" "$bin/penstock" --version
check "import penstock" bounded "$bin/python" -c 'import penstock, os; assert os.path.exists(penstock.agent()), penstock.agent()'
check "python -m penstock" contains "penstock 0" "$bin/python" -m penstock --version
check "train.py alone" bounded "$bin/python" train.py --forward --workers "$workers"
check "record" record "$bin/penstock" "$bin/python" "a trace.penstock"
# The agent's path contains a blank, which would end an entry in LD_PRELOAD. So LD_PRELOAD names a link.
ln -sf "$("$bin/python" -c 'import penstock; print(penstock.agent())')" agent.so
check "LD_PRELOAD" bounded env LD_PRELOAD="$HOME/agent.so" PENSTOCK_OUT="$HOME/p.penstock" "$bin/python" train.py --forward --workers "$workers"
check "its trace" all_decoded p.penstock
check "report" contains "throughput" "$bin/penstock" report "a trace.penstock"
check "report --html" contains "</html>" bash -c "'$bin/penstock' report --html r.html 'a trace.penstock' && cat r.html"
check "whatif" contains "samples" "$bin/penstock" whatif "a trace.penstock" --workers 1,2
check "validate" bounded "$bin/penstock" validate "a trace.penstock"
check "export" bounded "$bin/penstock" export "a trace.penstock" --to perfetto -o t.perfetto
check "import" bounded "$bin/penstock" import t.perfetto -o i.penstock
check "doctor" bounded "$bin/penstock" doctor -- "$bin/python" train.py --forward --workers "$workers"
check "make-set" bounded "$bin/penstock" load make-set set --count 64
check "load" contains "samples" "$bin/penstock" load --json --trace l.penstock set
check "load, its report" contains "decode" "$bin/penstock" report l.penstock
check "gui --screenshot" bounded "$bin/penstock" gui --screenshot picture.png "a trace.penstock"
check "the picture" bash -c '[[ $(stat -c %s picture.png) -gt 10000 ]]'
if [[ -z $emulated ]]; then
  check "tune" bounded "$bin/penstock" tune -- "$bin/python" train.py --forward --workers "$workers"
  check "sweep" bounded "$bin/penstock" sweep set --workers 1,2 --prefetch 2 --repeats 1 --set batches=4
  check "sweep -- python" bounded "$bin/penstock" sweep --workers 0,1 --prefetch 2 --repeats 1 -- "$bin/python" train.py --forward --workers "$workers"
  check "gui under Xvfb" bounded xvfb-run -a bash -c "'$bin/penstock' gui 'a trace.penstock' & sleep 6; xwininfo -root -tree | grep -q Penstock; found=\$?; kill %1; exit \$found"
fi
# Runs the tests of the Python package with the wheel instead of a build folder: with this Debian's packages, and
# without any package.
mkdir -p tree
ln -sfn "$(dirname "$("$bin/python" -c 'import penstock; print(penstock.__file__)')")/.." python
ln -sfn "$HOME/python/penstock/bin" tree/bin
ln -sfn "$HOME/python/penstock/lib/penstock" tree/lib
for test in marks trace loader loader_resume loader_trouble targets lifetime record; do
  if [[ -z $emulated ]] && "$bin/python" -c 'import torch; torch.frombuffer' 2>/dev/null; then
    check "tests of the package: $test" bounded env PENSTOCK_BUILD="$HOME/tree" "$bin/python" -B "tests/python/${test}_test.py"
  fi
  if [[ $test =~ ^(marks|loader|loader_resume|loader_trouble|lifetime)$ ]]; then
    check "tests without packages: $test" bounded env PENSTOCK_BUILD="$HOME/tree" "$bin/python" -S -B "tests/python/${test}_test.py"
  fi
done
check "read-only packages" bash -c "chmod -R a-w '$venv'/lib && '$bin/penstock' record -o r.penstock -- '$bin/python' train.py --forward --workers $workers; s=\$?; chmod -R u+w '$venv'/lib; exit \$s"
check "pip install --target" bounded "$bin/python" -m pip install --no-deps --target "$HOME/target dir" "$wheel"
check "record from --target" record "$HOME/target dir/bin/penstock" python3 t.penstock
check "pip install --user" bounded python3 -m pip install --no-deps --user "$wheel"
check "record from --user" record "$HOME/.local/bin/penstock" python3 u.penstock
check "pip uninstall, --user" bounded python3 -m pip uninstall -y penstock-profiler
check "nothing is left of it" nothing_left "$HOME/.local"
if [[ -z $emulated ]]; then
  check "pipx and uv" bounded "$bin/python" -m pip install pipx uv
  check "pipx run" contains "penstock 0" "$bin/pipx" run --spec "$wheel" penstock --version
  check "pipx install" bounded "$bin/pipx" install "$wheel"
  check "record from pipx" record "$HOME/.local/bin/penstock" python3 x.penstock
  check "pipx uninstall" bounded "$bin/pipx" uninstall penstock-profiler
  check "uv tool run" contains "penstock 0" "$bin/uv" tool run --from "$wheel" penstock --version
  check "uv tool install" bounded "$bin/uv" tool install "$wheel"
  check "record from uv" record "$HOME/.local/bin/penstock" python3 v.penstock
  check "uv tool uninstall" bounded "$bin/uv" tool uninstall penstock-profiler
  check "a prefix of its own" bounded bash own_prefix.sh "$HOME/conda prefix"
  check "pip install there" bounded "$HOME/conda prefix/bin/python" "$(echo tools/pip-*.whl)/pip" install --no-deps "$wheel"
  check "record there" record "$HOME/conda prefix/bin/penstock" "$HOME/conda prefix/bin/python" c.penstock
  check "pip uninstall there" bounded "$HOME/conda prefix/bin/python" "$(echo tools/pip-*.whl)/pip" uninstall -y penstock-profiler
  check "nothing is left there" nothing_left "$HOME/conda prefix"
fi
check "pip uninstall" bounded "$bin/python" -m pip uninstall -y penstock-profiler
check "nothing is left" nothing_left "$venv"
