#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes a copy of Debian's Python with a prefix of its own, as conda's environments have it: the program and
# its library are below PREFIX, packages go into site-packages, and it is no venv. The copy can use Debian's
# packages.
#
#   own_prefix.sh PREFIX
set -euo pipefail
prefix=$1
python=python$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')

mkdir -p "$prefix/bin" "$prefix/lib"
cp "/usr/bin/$python" "$prefix/bin/"
ln -s "$python" "$prefix/bin/python"
cp -r "/usr/lib/$python" "$prefix/lib/"
rm -f "$prefix/lib/$python/EXTERNALLY-MANAGED"
find "$prefix/lib/$python" -name __pycache__ -prune -exec rm -rf {} +
# Undoes Debian's changes to the folders of packages.
cd "$prefix/lib/$python"
sed -i "s/prefix_scheme = 'posix_local'/prefix_scheme = 'posix_prefix'/" sysconfig.py sysconfig/__init__.py 2>/dev/null || true
sed -i 's/unix_local/unix_prefix/g; s/deb_system/unix_prefix/g' distutils/command/install.py 2>/dev/null || true
rm -rf dist-packages site-packages
mkdir site-packages
ln -s site-packages dist-packages # the program has site.py built in, which looks there
echo /usr/lib/python3/dist-packages >site-packages/debian.pth
[[ $("$prefix/bin/python" -c 'import sys; print(sys.prefix)') == "$prefix" ]]
