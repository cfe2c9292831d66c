#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the wheel into clean Debian roots, as a user does, and runs every command on a real DataLoader
# with Pillow: as root and as nobody, with a /dev/shm of 64 MB. Prints a table.
#
#   scripts/test_wheel.sh [WHEEL] [RELEASE...]     (the wheel of build_wheel.sh; bullseye bookworm trixie)
#
# Needs root, debootstrap and the package mirror; the roots stay in build/wheel/roots. Exit status: 0 all
# of it works, 1 something does not, 2 usage, 3 something is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

made=(build/wheel/dist/penstock_profiler-*"_$(uname -m).whl")
wheel=${made[0]}
releases=(bullseye bookworm trixie)
if [[ ${1:-} == *.whl ]]; then
  wheel=$1
  shift
fi
[[ $# -eq 0 ]] || releases=("$@")
[[ -f $wheel ]] || {
  echo "usage: scripts/test_wheel.sh [WHEEL] [RELEASE...]; scripts/build_wheel.sh makes one" >&2
  exit 2
}
if [[ $(id -u) -ne 0 ]] || ! command -v debootstrap >/dev/null; then
  echo "test_wheel: needs root and debootstrap" >&2
  exit 3
fi
readonly kRoots=${PENSTOCK_ROOTS:-$PWD/build/wheel/roots}
readonly kPackages=(python3 python3-venv python3-torch python3-pil python3-numpy xvfb xauth x11-utils libegl1
  libgl1 libgl1-mesa-dri fonts-dejavu-core)
mirror=${PENSTOCK_DEBIAN:-$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)}
mkdir -p "$kRoots"
failed=false
table=()

mounted=()
leave() {
  local place
  for place in "${mounted[@]}"; do umount "$place" || true; done
  mounted=()
}
trap leave EXIT

# $1: release
make_root() {
  local root=$kRoots/$1
  [[ ! -e $root/.made ]] || return 0
  rm -rf "$root"
  if ! { debootstrap --variant=minbase "$1" "$root" "$mirror" &&
    cp /etc/resolv.conf "$root/etc/resolv.conf" &&
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      "${kPackages[@]}"; } >"$root.log" 2>&1; then
    tail -n 20 "$root.log" >&2
    echo "test_wheel: no root of $1 (log: $root.log)" >&2
    exit 3
  fi
  touch "$root/.made"
}

# $1: release, $2: user
run_in() {
  local root=$kRoots/$1 line
  mounted=("$root/proc" "$root/dev/shm")
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/dev/shm"
  rm -rf "$root/home/wheel"
  install -d -m 755 "$root/home/wheel"
  cp "$wheel" scripts/wheel/in_root.sh scripts/wheel/train.py "$root/home/wheel/"
  chroot "$root" chown -R "$2" /home/wheel
  while read -r line; do
    table+=("$(printf '%-10s %-7s %s' "$1" "$2" "$line")")
    [[ $line != FAIL* ]] || failed=true
  done < <(chroot "$root" /sbin/runuser -u "$2" -- env -i HOME=/home/wheel PATH=/usr/bin:/bin \
    bash /home/wheel/in_root.sh 2>"$root.$2.log" || echo "FAIL the script itself, see $root.$2.log")
  leave
}

for release in "${releases[@]}"; do
  make_root "$release"
  for user in root nobody; do
    run_in "$release" "$user"
  done
done
printf '%s\n' "${table[@]}"
if "$failed"; then
  echo "FAILED (logs: $kRoots/*.log)"
  exit 1
fi
