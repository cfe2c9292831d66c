#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian package and tries it in a new Debian root file system: installs it with its dependencies,
# records a Python program there as root and as another user, draws a screenshot of the dashboard without a
# display, and removes the package.
#
#   scripts/test_deb.sh [SUITE]     (default: the Debian release of this machine)
#
# Needs root, debootstrap (installed through apt if missing) and a release build: build/release, or
# the folder that PENSTOCK_BUILD names. Packages come from the sources of this machine's apt. Exit
# status: 0 everything works, 1 something does not, 2 usage, 3 environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "test_deb: $2" >&2
  exit "$1"
}

[[ $# -le 1 && ${1:-} != -* ]] || fail 2 "usage: scripts/test_deb.sh [SUITE]"
[[ $EUID -eq 0 ]] || fail 3 "needs root: a root file system is made"
suite=${1:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
command -v debootstrap >/dev/null || apt-get install -y debootstrap >/dev/null || fail 3 "no debootstrap"
readonly kBuild=${PENSTOCK_BUILD:-build/release}
[[ -x $kBuild/bin/penstock ]] || fail 3 "no release build: cmake --workflow --preset release"
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" | head -n 1)
[[ -n $mirror ]] || fail 3 "apt knows no source of $suite"

work=$(mktemp -d /tmp/penstock-deb-XXXXXX)
leave() {
  umount -q "$work/root/proc" "$work/root/dev/shm" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap leave EXIT

(cd "$kBuild" && cpack -G DEB -B "$work") >"$work/cpack.log" || fail 1 "cpack: $(tail -n 3 "$work/cpack.log")"
package=$(ls "$work"/penstock_*.deb)
echo "test_deb: $(basename "$package"), $(stat -c %s "$package") bytes; a clean $suite"
debootstrap --variant=minbase "$suite" "$work/root" "$mirror" >"$work/debootstrap.log" ||
  fail 3 "debootstrap: $(tail -n 3 "$work/debootstrap.log")"
root=$work/root
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs -o size=64m tmpfs "$root/dev/shm" # as in a container
cp "$package" "$root/tmp/penstock.deb"
cp -a /etc/apt/. "$root/etc/apt/"
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C.UTF-8 "$@"; }
in_root sh -c 'apt-get update && apt-get install -y --no-install-recommends /tmp/penstock.deb python3-pil' \
  >"$work/apt.log" 2>&1 || fail 1 "apt: $(tail -n 5 "$work/apt.log")"

cat >"$root/tmp/pictures.py" <<'PYTHON'
from PIL import Image
Image.effect_noise((640, 480), 60).convert("RGB").save("noise.jpg")
for _ in range(20):
    Image.open("noise.jpg").convert("RGB")
print("trained")
PYTHON
chmod 1777 "$root/tmp"
checked=0
for user in root nobody; do
  said=$(in_root setpriv --reuid "$user" --regid nogroup --clear-groups sh -c \
    "cd \$(mktemp -d) && penstock record --quiet -o '/tmp/of $user.penstock' -- python3 /tmp/pictures.py") ||
    fail 1 "penstock record as $user: exit status $?"
  [[ $said == trained ]] || fail 1 "penstock record as $user: said: $said"
  in_root penstock report "/tmp/of $user.penstock" | grep Decode >/dev/null || fail 1 "as $user: no verdict on decode"
  decodes=$(in_root penstock export "/tmp/of $user.penstock" --to csv | grep -c '^decode,PIL.load,' || true)
  [[ $decodes -eq 20 ]] || fail 1 "as $user: 20 decodes were done, seen: $decodes"
  echo "test_deb: recorded as $user: 20 of 20 decodes"
  checked=$((checked + 1))
done
in_root penstock-gui --screenshot /tmp/view.png --size 640x400 "/tmp/of root.penstock" &&
  [[ $(head -c 4 "$root/tmp/view.png" | tail -c 3) == PNG ]] || fail 1 "penstock-gui --screenshot"
for page in penstock penstock-record penstock-report; do
  [[ -s $root/usr/share/man/man1/$page.1 || -s $root/usr/share/man/man1/$page.1.gz ]] || fail 1 "no page $page(1)"
done
in_root apt-get remove -y penstock >>"$work/apt.log" 2>&1 || fail 1 "cannot be removed"
[[ ! -e $root/usr/bin/penstock && ! -e $root/usr/lib/penstock ]] || fail 1 "removing leaves files"
echo "test_deb: installed, used by $checked users, removed: all right"
