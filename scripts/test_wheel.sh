#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the wheel in root file systems of Debian in all the ways that users do. There it runs most commands of
# penstock, with a train.py that uses PyTorch's DataLoader and Pillow, as root and as nobody, with a /dev/shm of
# 64 MB. Prints a table.
#
#   scripts/test_wheel.sh [WHEEL] [RELEASE...]
#
# WHEEL comes from scripts/build_wheel.sh (default: the wheel for this machine). RELEASE is bullseye,
# bookworm or trixie (default: all three). A wheel for aarch64 is tried in roots for arm64. On a machine of
# another architecture they run under qemu; then the default RELEASE is bookworm, and in_root.sh leaves out the
# checks that cannot run there. The agent needs MADV_WIPEONFORK, which qemu has from 8.0 on. If this machine's qemu
# is older, the script unpacks Debian 13's qemu into the folder of the roots. If the kernel is already set up to
# start programs for arm64 with the older qemu, the script ends with status 3 instead.
#
# Needs root, debootstrap, a mirror of Debian's packages (PENSTOCK_DEBIAN; default: that of this machine's apt) and,
# for a wheel of this machine's architecture, the Python package index. The roots stay in build/wheel/roots
# (PENSTOCK_ROOTS), and later runs use them again. Exit status: 0 everything works, 1 something does not, 2 usage or
# no wheel, 3 something else is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

made=(build/wheel/dist/penstock_profiler-*"_$(uname -m).whl")
wheel=${made[0]}
if [[ ${1:-} == *.whl ]]; then
  wheel=$1
  shift
fi
for release in "$@"; do
  [[ $release =~ ^(bullseye|bookworm|trixie)$ ]] || wheel=
done
[[ -f $wheel ]] || {
  echo "usage: scripts/test_wheel.sh [WHEEL] [bullseye|bookworm|trixie]... (scripts/build_wheel.sh makes WHEEL)" >&2
  exit 2
}
emulated=
releases=(bullseye bookworm trixie)
suffix=
if [[ $wheel != *"_$(uname -m).whl" ]]; then
  [[ $wheel == *_aarch64.whl ]] || {
    echo "test_wheel: $wheel is for a machine that cannot be emulated here" >&2
    exit 3
  }
  emulated=emulated
  releases=(bookworm)
  suffix=-arm64
fi
[[ $# -eq 0 ]] || releases=("$@")
[[ -z $emulated ]] || scripts/deps.sh arm64
if [[ $(id -u) -ne 0 ]] || ! command -v debootstrap >/dev/null; then
  echo "test_wheel: needs root and debootstrap" >&2
  exit 3
fi
readonly kRoots=${PENSTOCK_ROOTS:-$PWD/build/wheel/roots}
readonly kPackages=(python3 python3-venv python3-pip python3-torch python3-pil python3-numpy xvfb xauth x11-utils
  libegl1 libgl1 libgl1-mesa-dri fonts-dejavu-core)
# pipx, uv and what they need, in versions for Python 3.9, which bullseye has. They are downloaded outside of the
# roots, since in_root.sh lets pip use no package index.
readonly kTools=(pipx uv pip setuptools wheel tomli)
mirror=${PENSTOCK_DEBIAN:-$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)}
mkdir -p "$kRoots"
failed=false
table=()

mounted=()
binfmt=/proc/sys/fs/binfmt_misc
registered=
leave() {
  local place
  for place in "${mounted[@]}"; do umount "$place" || true; done
  mounted=()
}
leave_for_good() {
  leave
  [[ -z $registered ]] || echo -1 >"$binfmt/qemu-aarch64"
}
trap leave_for_good EXIT

# Prints the first number of a program's version. $1: the program.
major() { "$1" --version | sed -nE '1s/.* version ([0-9]+)\..*/\1/p'; }

# Prints the path of a qemu that has MADV_WIPEONFORK.
new_qemu() {
  local qemu apt=$kRoots/qemu
  qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
  if [[ $(major "$qemu") -lt 8 ]]; then
    qemu=$apt/usr/bin/qemu-aarch64
    if [[ ! -x $qemu ]]; then
      mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
      echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$apt/sources.list"
      cat >"$apt/apt.conf" <<END
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "";
END
      if ! { cd "$apt" && export APT_CONFIG=$apt/apt.conf && apt-get -q update && apt-get -q download qemu-user &&
        dpkg-deb -x qemu-user_*.deb "$apt"; } >"$apt.log" 2>&1; then
        tail -n 20 "$apt.log" >&2
        echo "test_wheel: no qemu from Debian 13 (log: $apt.log)" >&2
        exit 3
      fi
    fi
  fi
  echo "$qemu"
}

# Makes the kernel start programs for arm64 with qemu while this script runs.
emulate() {
  local qemu
  if [[ -e $binfmt/qemu-aarch64 ]]; then
    qemu=$(realpath "$(sed -n 's/^interpreter //p' "$binfmt/qemu-aarch64")")
    [[ $(major "$qemu") -lt 8 ]] || return 0
    echo "test_wheel: this kernel starts programs for arm64 with $qemu, which is older than 8.0" >&2
    exit 3
  fi
  qemu=$(new_qemu)
  echo "programs for arm64 run under $("$qemu" --version | head -n 1)"
  [[ -e $binfmt/register ]] || mount -t binfmt_misc binfmt_misc "$binfmt" || true
  # The P at the end of the name tells qemu that the kernel also passes the name by which a program was called.
  ln -sf "$qemu" "$kRoots/aarch64-binfmt-P"
  if ! sed "s|:[^:]*:\([A-Z]*\)\$|:$kRoots/aarch64-binfmt-P:\1|" /usr/lib/binfmt.d/qemu-aarch64.conf \
    >"$binfmt/register"; then
    echo "test_wheel: this kernel starts no programs for arm64 (binfmt_misc)" >&2
    exit 3
  fi
  registered=yes
}

fetch_tools() {
  [[ ! -e $kRoots/tools/.made ]] || return 0
  if ! { /usr/bin/python3 -m venv "$kRoots/tools-venv" && "$kRoots/tools-venv/bin/pip" download -q \
    --only-binary=:all: --python-version 3.9 -d "$kRoots/tools" "${kTools[@]}"; } >"$kRoots/tools.log" 2>&1; then
    tail -n 20 "$kRoots/tools.log" >&2
    echo "test_wheel: no pipx and uv from the Python package index (log: $kRoots/tools.log)" >&2
    exit 3
  fi
  touch "$kRoots/tools/.made"
}

# Makes a root with debootstrap and installs kPackages in it. $1: release, $2: the root's folder
clean_root() {
  debootstrap --variant=minbase "$1" "$2" "$mirror" && cp /etc/resolv.conf "$2/etc/resolv.conf" &&
    chroot "$2" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${kPackages[@]}"
}

# The same for arm64. Under qemu, unpacking the packages takes an hour, so this machine's dpkg unpacks them.
# The packages' installation scripts do not run. Only those of BLAS and LAPACK would be needed: they make the
# libraries known to ld.so. This function does that with ld.so.conf.d.
clean_arm64_root() {
  local package libraries=/usr/lib/aarch64-linux-gnu
  debootstrap --foreign --arch=arm64 --variant=minbase "$1" "$2" "$mirror" &&
    chroot "$2" /debootstrap/debootstrap --second-stage && cp /etc/resolv.conf "$2/etc/resolv.conf" &&
    chroot "$2" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --download-only \
      "${kPackages[@]}" || return
  for package in "$2"/var/cache/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$2" || return
  done
  printf '%s\n' "$libraries/blas" "$libraries/lapack" >"$2/etc/ld.so.conf.d/alternatives.conf"
  chroot "$2" /sbin/ldconfig
}

# $1: release
make_root() {
  local root=$kRoots/$1$suffix make=clean_root
  [[ -z $emulated ]] || make=clean_arm64_root
  [[ ! -e $root/.made ]] || return 0
  rm -rf "$root"
  if ! "$make" "$1" "$root" >"$root.log" 2>&1; then
    tail -n 20 "$root.log" >&2
    echo "test_wheel: no root of $1 (log: $root.log)" >&2
    exit 3
  fi
  touch "$root/.made"
}

# $1: release, $2: user
run_in() {
  local root=$kRoots/$1$suffix line
  mounted=("$root/proc" "$root/dev/shm")
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/dev/shm"
  if [[ -n $emulated ]]; then # PyTorch for arm64 does not run if it cannot count the cores
    mounted+=("$root/sys")
    mount -t sysfs -o ro sysfs "$root/sys"
  fi
  rm -rf "$root/home/wheel"
  install -d -m 755 "$root/home/wheel"
  cp "$wheel" scripts/wheel/in_root.sh scripts/wheel/own_prefix.sh scripts/readme/train.py "$root/home/wheel/"
  mkdir -p "$root/home/wheel/tests/integration/targets"
  cp -r tests/python "$root/home/wheel/tests/python"
  cp tests/integration/targets/followed.py "$root/home/wheel/tests/integration/targets/"
  [[ -n $emulated ]] || cp -r "$kRoots/tools" "$root/home/wheel/tools"
  chroot "$root" chown -R "$2" /home/wheel
  while read -r line; do
    table+=("$(printf '%-14s %-7s %s' "$1$suffix" "$2" "$line")")
    printf '%s\n' "${table[-1]}"
    [[ $line != FAIL* ]] || failed=true
  done < <(chroot "$root" /sbin/runuser -u "$2" -- env -i HOME=/home/wheel PATH=/usr/bin:/bin LC_ALL=C.UTF-8 \
    bash /home/wheel/in_root.sh $emulated 2>"$root.$2.log" || echo "FAIL in_root.sh ended early, see $root.$2.log")
  leave
}

[[ -z $emulated ]] || emulate
[[ -n $emulated ]] || fetch_tools
for release in "${releases[@]}"; do
  make_root "$release"
  for user in root nobody; do
    run_in "$release" "$user"
  done
done
if "$failed"; then
  echo "FAILED (logs: $kRoots/*.log)"
  printf '%s\n' "${table[@]}" | grep FAIL
  exit 1
fi
