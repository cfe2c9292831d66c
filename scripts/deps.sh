#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs missing packages through apt, as root or with sudo, on Debian 12 and later and on Ubuntu
# 24.04 and later. Elsewhere it prints their names.
#
#   scripts/deps.sh [build|run|test|wheel|arm64|all]...     (no group: all)
#
# build: what compiling Penstock needs
# run:   what the demo trains with (Debian's PyTorch, torchvision, OpenCV, Pillow)
# test:  what scripts/test.sh needs in addition
# wheel: what scripts/build_wheel.sh needs in addition (not part of all)
# arm64: what build_wheel.sh --machine aarch64 and test_wheel.sh with its wheel need in addition (not part of all)
#
# Prints nothing and does nothing if everything is there. Exit status: 0 done, 2 usage,
# 3 something could not be installed.
set -euo pipefail

# Identifies the system by ID and VERSION_ID of os-release(5). Debian's unstable has no VERSION_ID.
ID=debian VERSION_ID=
# shellcheck disable=SC1090
[[ ! -r ${PENSTOCK_OS_RELEASE:-/etc/os-release} ]] || . "${PENSTOCK_OS_RELEASE:-/etc/os-release}"
readonly kSystem=$ID-$VERSION_ID

# On the releases below, the version of clang is a part of the package names. Other systems get the
# packages without a number in their names.
case "$kSystem" in
  debian-12) clang=-14 ;;
  debian-13) clang=-19 ;;
  ubuntu-24.04) clang=-18 ;;
  *) clang= ;;
esac
readonly kClang=("clang$clang" "libclang-rt$clang-dev" "clang-tidy$clang")
kJpeg=libjpeg62-turbo-dev
[[ $ID != ubuntu ]] || kJpeg=libjpeg-turbo8-dev
# The tree is formatted with clang-format 14, which Debian 13 no longer has.
kFormat=()
[[ $kSystem != debian-12 ]] || kFormat=(clang-format-14)

# dpkg-dev and file: cpack finds the package's dependencies with them.
readonly kBuild=(g++ cmake ninja-build help2man pkg-config libzstd-dev libfmt-dev libcli11-dev
  libexpected-dev libsimdjson-dev "$kJpeg" libhwy-dev liburing-dev libbenchmark-dev
  libprotobuf-dev protobuf-compiler libsqlite3-dev zlib1g-dev libimgui-dev libstb-dev libglfw3-dev
  libfreetype-dev libgl-dev libegl-dev dpkg-dev file)
# The dashboard needs fonts-* and, on machines without a GPU driver, Mesa's OpenGL.
readonly kRun=(python3 python3-torch python3-torchvision python3-opencv python3-pil python3-numpy
  fonts-dejavu-core fonts-droid-fallback libegl1 libgl1 libgl1-mesa-dri)
# clang and libclang-rt-dev provide libFuzzer. binutils has objdump, which shows the agent's symbol versions.
readonly kTest=(libgtest-dev libgmock-dev "${kClang[@]}" "${kFormat[@]}" binutils ccache git strace
  python3-venv openmpi-bin iproute2 libturbojpeg0-dev libpng-dev libwebp-dev libopencv-dev libjemalloc2 musl-tools gdb xvfb xauth xdotool
  x11-utils python3-aiohttp python3-fsspec python3-h5py python3-imageio python3-lmdb python3-skimage)

# The headers with which GLFW compiles, and the tools that build SQLite and libjpeg-turbo from source.
readonly kWheel=(binutils dpkg-dev make nasm tcl python3-venv libx11-dev libxrandr-dev libxi-dev
  libxcursor-dev libxinerama-dev libxkbcommon-dev libwayland-dev libwayland-bin wayland-protocols)
# These run programs for arm64: qemu, and a C library in /usr/aarch64-linux-gnu.
readonly kArm64=(qemu-user-static libc6-arm64-cross debootstrap)
# The names of kBuild on Fedora, which is not tested.
readonly kFedora=(gcc-c++ cmake ninja-build help2man pkgconf-pkg-config libzstd-devel fmt-devel cli11-devel
  expected-devel simdjson-devel libjpeg-turbo-devel highway-devel liburing-devel google-benchmark-devel
  protobuf-devel protobuf-compiler sqlite-devel zlib-devel imgui-devel stb-devel glfw-devel freetype-devel
  libglvnd-devel)

usage() {
  echo "usage: scripts/deps.sh [build|run|test|wheel|arm64|all]..." >&2
  exit 2
}

fail() {
  echo "deps: $1" >&2
  exit 3
}

wanted=()
[[ $# -gt 0 ]] || set -- all
for group in "$@"; do
  case "$group" in
    build) wanted+=("${kBuild[@]}") ;;
    run) wanted+=("${kRun[@]}") ;;
    test) wanted+=("${kTest[@]}") ;;
    wheel) wanted+=("${kWheel[@]}") ;;
    arm64) wanted+=("${kArm64[@]}") ;;
    all) wanted+=("${kBuild[@]}" "${kRun[@]}" "${kTest[@]}") ;;
    *) usage ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "deps: there is no apt here. Install, by the names of other systems:" >&2
  ubuntu=" ${wanted[*]} "
  echo "  Ubuntu: apt-get install${ubuntu/ libjpeg62-turbo-dev / libjpeg-turbo8-dev }" >&2
  echo "  Fedora, to build: dnf install --skip-unavailable ${kFedora[*]}" >&2
  exit 3
fi

# One call asks for all packages. dpkg-query fails if it does not know a name; such a package counts as missing.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
  awk '$2 == "installed" { print $1 }' | sort -u || true)
missing=()
while read -r package; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done < <(printf '%s\n' "${wanted[@]}" | sort -u)
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || fail "not root and no sudo: as root, run: apt-get install ${missing[*]}"
  as_root=(sudo)
  # Without a terminal nobody can type a password, so fail instead of waiting.
  [[ -t 0 ]] || as_root=(sudo -n)
  "${as_root[@]}" true || fail "sudo refused: as root, run: apt-get install ${missing[*]}"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null
}

echo "deps: installing ${missing[*]}"
# One of apt's sources may fail to update: only the success of the install counts.
apt update || echo "deps: apt-get update failed, trying with the index at hand" >&2
if ! apt install --no-install-recommends "${missing[@]}"; then
  tail -n 20 "$log" >&2
  fail "apt-get could not install: ${missing[*]}"
fi
