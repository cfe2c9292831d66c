#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the libraries that Penstock links, as static libraries for an old glibc. apt fetches Debian's source
# packages and checks their signatures; toolchain.cmake's compiler compiles them.
#
#   scripts/wheel/dependencies.sh SOURCES MADE TOOLCHAIN
#
# SOURCES is a folder for the sources, which are the same for every machine. MADE is a folder for what is built
# for one machine; MADE/prefix gets the headers, libraries and pkg-config files. A library is built again only
# if its source, its options or the toolchain have changed.
set -euo pipefail

[[ $# -eq 3 ]] || {
  echo "usage: scripts/wheel/dependencies.sh SOURCES MADE TOOLCHAIN" >&2
  exit 2
}
work=$1 made=$2 prefix=$2/prefix toolchain=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Source packages, each with the release of Debian that it comes from. GLFW is trixie's 3.4, which chooses
# between X11 and Wayland at run time. Zstandard is trixie's, since compressors can be left out from 1.5.6 on.
readonly kSources=(fmtlib/bookworm libzstd/trixie protobuf/bookworm sqlite3/bookworm zlib/bookworm
  simdjson/bookworm libjpeg-turbo/bookworm highway/bookworm liburing/bookworm freetype/bookworm
  benchmark/bookworm imgui/bookworm libstb/bookworm glfw3/trixie)

fetch() {
  local apt=$work/apt source
  mkdir -p "$work/src" "$apt/lists/partial" "$apt/cache/archives/partial"
  for release in bookworm trixie; do
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${PENSTOCK_DEBIAN:-$(mirror)} $release main"
  done >"$apt/sources.list"
  cat >"$apt/apt.conf" <<END
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "";
END
  for source in "${kSources[@]}"; do
    [[ ! -e $work/src/.${source%/*} ]] || continue
    [[ -n ${updated:-} ]] || APT_CONFIG=$apt/apt.conf apt-get -q update
    updated=yes
    (cd "$work/src" && rm -rf "${source%/*}"-*/ && APT_CONFIG=$apt/apt.conf apt-get -q source "$source")
    touch "$work/src/.${source%/*}"
  done
}

# Prints the mirror of this system's packages.
mirror() {
  { grep -rhE '^URIs:' /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '{ print $2 }'
    grep -rhE '^deb ' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
      sed -E 's/^deb +(\[[^]]*\] +)?([^ ]+).*/\2/'
  } | grep -E '/debian/?$' | head -n 1
}

# Prints the folder into which apt unpacked a source package. $1: its name.
folder() {
  local found=("$work/src/$1"-*/)
  echo "${found[0]%/}"
}

# Builds and installs a library. $1: its name, $2: the folder of its CMakeLists.txt, rest: options of CMake
build() {
  local name=$1 source=${2%/} as
  shift 2
  as="$source $PENSTOCK_ZIG_TARGET $* $({ cat "$toolchain" "$here/$name"/* 2>/dev/null || true; } | cksum)"
  [[ $(cat "$prefix/.$name" 2>/dev/null) != "$as" ]] || return 0
  echo "wheel: $name"
  rm -rf "$made/build/$name"
  if ! { cmake -S "$source" -B "$made/build/$name" -G Ninja --toolchain "$toolchain" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR:STRING=lib -DCMAKE_PREFIX_PATH="$prefix" \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    "$@" && cmake --build "$made/build/$name" && cmake --install "$made/build/$name"; } \
    >"$made/$name.log" 2>&1; then
    tail -n 40 "$made/$name.log" >&2
    echo "wheel: $name does not build (log: $made/$name.log)" >&2
    exit 1
  fi
  rm -f "$made/penstock/CMakeCache.txt"  # it knows which libraries there were
  echo "$as" >"$prefix/.$name"
}

# Libraries whose speed does not matter are compiled for size, since the wheel has a limit.
readonly kSmall=-DCMAKE_BUILD_TYPE=MinSizeRel

# Traces are compressed at level 3 (traces/packed/section.cc), which uses only the strategies fast and
# dfast. The other strategies are two fifths of the library, which is in every program.
kZstd=
for strategy in GREEDY LAZY LAZY2 BTLAZY2 BTOPT BTULTRA; do
  kZstd+=" -DZSTD_EXCLUDE_${strategy}_BLOCK_COMPRESSOR"
done
readonly kZstd

# Copies headers that are the same for every target. They belong to two header-only libraries and to the
# libraries that the dashboard opens at run time. The compiler cannot search /usr/include itself, since that
# has the headers of this machine's C library.
headers() {
  local name
  mkdir -p "$prefix/include"
  for name in CLI tl EGL GL KHR X11 xkbcommon; do
    cp -rTpu "/usr/include/$name" "$prefix/include/$name"
  done
  cp -pu /usr/include/wayland-*.h "$prefix/include/"
  mkdir -p "$prefix/share/cmake"
  cp -rTpu /usr/share/cmake/CLI11 "$prefix/share/cmake/CLI11"
}

mkdir -p "$prefix" "$made/build"
fetch
headers
build fmt "$(folder fmtlib)" -DFMT_TEST=OFF -DFMT_DOC=OFF
build zstd "$(folder libzstd)/build/cmake" -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF \
  -DZSTD_BUILD_TESTS=OFF -DZSTD_LEGACY_SUPPORT=OFF -DZSTD_MULTITHREAD_SUPPORT=OFF -DZSTD_BUILD_DICTBUILDER=OFF \
  -DCMAKE_C_FLAGS="$kZstd"
build zlib "$here/zlib" -DSOURCE="$(folder zlib)"
build protobuf "$here/protobuf" -DSOURCE="$(folder protobuf)"
build simdjson "$(folder simdjson)" -DSIMDJSON_JUST_LIBRARY=ON -DSIMDJSON_DEVELOPER_MODE=OFF
build jpeg "$(folder libjpeg-turbo)" -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DWITH_JAVA=OFF
cp -pu "$(folder libjpeg-turbo)/jpegint.h" "$prefix/include/"  # as Debian's package has it
mkdir -p "$prefix/include/stb"
cp -pu "$(folder libstb)"/stb_image*.h "$prefix/include/stb/"
build hwy "$(folder highway)" -DBUILD_TESTING=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF \
  -DHWY_ENABLE_TESTS=OFF
build benchmark "$(folder benchmark)" "$kSmall" -DGIT_VERSION=0.0.0 -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_GTEST_TESTS=OFF \
  -DBENCHMARK_ENABLE_WERROR=OFF -DCMAKE_CXX_FLAGS=-Wno-c2y-extensions
# Without FT_REQUIRE_ZLIB, FreeType compiles a copy of zlib, and the linker finds its symbols twice in the
# dashboard.
build freetype "$(folder freetype)" "$kSmall" -DFT_REQUIRE_ZLIB=ON -DFT_DISABLE_BZIP2=ON -DFT_DISABLE_PNG=ON \
  -DFT_DISABLE_HARFBUZZ=ON -DFT_DISABLE_BROTLI=ON
build glfw "$(folder glfw3)" "$kSmall" -DGLFW_BUILD_EXAMPLES=OFF -DGLFW_BUILD_TESTS=OFF -DGLFW_BUILD_DOCS=OFF \
  -DGLFW_BUILD_X11=ON -DGLFW_BUILD_WAYLAND=ON -DCMAKE_C_FLAGS="-isystem $prefix/include" \
  -DX11_X11_LIB=opened-at-run-time -DX11_X11_INCLUDE_PATH="$prefix/include" \
  -DX11_Xrandr_INCLUDE_PATH="$prefix/include" -DX11_Xinerama_INCLUDE_PATH="$prefix/include" \
  -DX11_Xkb_INCLUDE_PATH="$prefix/include" -DX11_Xcursor_INCLUDE_PATH="$prefix/include" \
  -DX11_Xi_INCLUDE_PATH="$prefix/include" -DX11_Xshape_INCLUDE_PATH="$prefix/include"
build sqlite "$here/sqlite" "$kSmall" -DSOURCE="$(folder sqlite3)"
build uring "$here/uring" -DSOURCE="$(folder liburing)"
build imgui "$here/imgui" "$kSmall" -DSOURCE="$(folder imgui)" -DSTB="$(folder libstb)"
