#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Follows README.md as a reader would. In a new Debian root file system it runs the demo, the build, the
# wheel and every way to install. Then it runs the commands of README.md from top to bottom: first with the
# build, then with the wheel.
#
#   scripts/check_readme.sh [--wheel FILE] [SUITE]     in a root of the Debian release SUITE (default: this
#                                                      machine's), some 20 minutes; --wheel: uses that wheel
#                                                      and builds none
#   scripts/check_readme.sh --quick                    only the commands, with the programs in build/release;
#                                                      the test packaging.readme makes the same check
#
# It does not run scripts/test.sh, which README.md names too: that takes long and includes packaging.readme.
# Without --quick it needs root and debootstrap (installed through apt if missing). Exit status: 0 everything works,
# 1 something does not, 2 usage, 3 something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "check_readme: $2" >&2
  exit "$1"
}

usage="usage: scripts/check_readme.sh [--quick | [--wheel FILE] [SUITE]]"
if [[ ${1:-} == --quick ]]; then
  [[ $# -eq 1 ]] || fail 2 "$usage"
  [[ -x build/release/bin/penstock ]] || fail 3 "no release build: cmake --workflow --preset release"
  exec /usr/bin/python3 -B scripts/readme/check.py --bin build/release/bin --lib build/release/lib
fi
wheel=
if [[ ${1:-} == --wheel ]]; then
  wheel=${2:-}
  [[ -f $wheel && $wheel == *.whl ]] || fail 2 "--wheel needs a .whl file, not '$wheel'"
  shift 2
fi
[[ $# -le 1 && ${1:-} != -* ]] || fail 2 "$usage"
[[ $EUID -eq 0 ]] || fail 3 "needs root: a root file system is made"
suite=${1:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
command -v debootstrap >/dev/null || apt-get install -y -q debootstrap >/dev/null || fail 3 "no debootstrap"
mirror=${PENSTOCK_DEBIAN:-$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)}
[[ -n $mirror ]] || fail 3 "apt has no source; set PENSTOCK_DEBIAN"

work=$(mktemp -d /tmp/penstock-check-XXXXXX)
root=$work/root
leave() {
  umount -q "$root/proc" "$root/dev/shm" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap leave EXIT

echo "check_readme: a clean $suite"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$work/debootstrap.log" ||
  fail 3 "debootstrap: $(tail -n 3 "$work/debootstrap.log")"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# In the new root file system, pip uses this machine's package index and certificates.
[[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/pip.conf"
[[ ! -f /etc/ssl/certs/ca-certificates.crt ]] ||
  install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
[[ ! -d /usr/local/share/ca-certificates ]] || cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs -o size=1g,mode=1777 tmpfs "$root/dev/shm"
git clone -q . "$root/penstock"

# Runs a shell command line in the clone, and shows the end of its log if it fails. $1: title, rest: command line
failed=false
step() {
  local name=$1 began=$SECONDS log=$work/step.log
  shift
  if chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive bash -c "cd /penstock && $1" >"$log" 2>&1 </dev/null; then
    printf 'ok   %4d s  %s\n' "$((SECONDS - began))" "$name"
  else
    failed=true
    tail -n 60 "$log"
    printf 'FAIL %4d s  %s: %s\n' "$((SECONDS - began))" "$name" "$1"
  fi
}

step "the demo" "scripts/demo.sh"
step "the build" "scripts/deps.sh build && cmake --preset release && cmake --build --preset release --target penstock_programs"
step "cmake --install" "cmake --install build/release --prefix '/opt/a place' && '/opt/a place/bin/penstock' --version"
step "cpack" "cd build/release && cpack && ls penstock_*.deb penstock*.tar.*"
step "the Debian package" "apt-get install -y -q ./build/release/penstock_*.deb && penstock --version && apt-get remove -y -q penstock"
step "what the commands need" "apt-get install -y -q python3-venv openmpi-bin xvfb xauth x11-utils"
step "the commands, with the build" "/usr/bin/python3 -B scripts/readme/check.py --bin build/release/bin --lib build/release/lib"
if [[ -z $wheel ]]; then
  step "the wheel" "scripts/build_wheel.sh"
else
  install -D -t "$root/penstock/build/wheel/dist" "$wheel"
fi
step "pip install" "python3 -m venv --system-site-packages /opt/venv && /opt/venv/bin/pip install --no-index --no-deps build/wheel/dist/*.whl"
step "the commands, with the wheel" "/usr/bin/python3 -B scripts/readme/check.py --bin /opt/venv/bin --lib \"\$(dirname \"\$(/opt/venv/bin/python -c 'import penstock; print(penstock.agent())')\")\""
if "$failed"; then
  echo "FAILED"
  exit 1
fi
