#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs inside of a clean root: one line for each thing that a user does, "ok" or "FAIL" first.
set -euo pipefail
cd "$HOME"
venv="$HOME/a venv"
bin="$venv/bin"

# $1: what it is, rest: command
check() {
  local name=$1
  shift
  echo "== $name: $*" >&2
  if "$@" >out.txt 2>&1 </dev/null; then
    echo "ok   $name"
  else
    local status=$?
    cat out.txt >&2
    echo "FAIL $name (status $status)"
  fi
}
contains() { # $1: text, rest: command
  local text=$1
  shift
  "$@" && grep -qF -- "$text" out.txt
}

check "venv" python3 -m venv --system-site-packages "$venv"
check "pip install" "$bin/pip" install --no-index --no-deps ./*.whl
check "penstock --version" contains "penstock 0" "$bin/penstock" --version
check "import penstock" "$bin/python" -c 'import penstock, os; assert os.path.exists(penstock.agent()), penstock.agent()'
check "python -m penstock" "$bin/python" -m penstock --version
"$bin/python" train.py data >&2 || true
check "record" "$bin/penstock" record -o t.penstock -- "$bin/python" train.py data
# LD_PRELOAD is a list with blanks between its entries: this folder's name has one.
ln -sf "$("$bin/python" -c 'import penstock; print(penstock.agent())')" agent.so
check "LD_PRELOAD" env LD_PRELOAD="$HOME/agent.so" PENSTOCK_OUT="$HOME/p.penstock" "$bin/python" train.py data
check "its trace" contains "images/s" "$bin/penstock" report p.penstock
check "report" contains "throughput" "$bin/penstock" report t.penstock
check "report --json" "$bin/penstock" report --json t.penstock
check "whatif" "$bin/penstock" whatif t.penstock --workers 2
check "validate" "$bin/penstock" validate t.penstock
check "export" "$bin/penstock" export t.penstock --to perfetto -o t.perfetto
check "tune" "$bin/penstock" tune -- "$bin/python" train.py data
check "make-set" "$bin/penstock" load make-set set --count 64
check "load" "$bin/penstock" load --trace l.penstock set
check "sweep" "$bin/penstock" sweep set --workers 1,2 --prefetch 2 --repeats 1 --set batches=4
check "gui --screenshot" "$bin/penstock" gui --screenshot picture.png t.penstock
check "picture" test -s picture.png
check "gui under Xvfb" timeout 60 xvfb-run -a bash -c "\"$bin/penstock\" gui t.penstock & sleep 6; xwininfo -root -tree | grep -q Penstock; found=\$?; kill %1; exit \$found"
check "pip install --target" "$bin/pip" install --no-index --no-deps --target "$HOME/target dir" ./*.whl
check "runs from --target" contains "penstock 0" "$HOME/target dir/bin/penstock" --version
check "read-only packages" bash -c "chmod -R a-w '$venv'/lib && '$bin/penstock' record -o r.penstock -- '$bin/python' train.py data; s=\$?; chmod -R u+w '$venv'/lib; exit \$s"
check "pip uninstall" "$bin/pip" uninstall -y penstock-profiler
check "nothing is left" bash -c "! find '$venv' -iname '*penstock*' | grep ."
