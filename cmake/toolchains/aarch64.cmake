# SPDX-License-Identifier: Apache-2.0
# Cross compilation for 64-bit Arm with Debian's g++-aarch64-linux-gnu, and qemu-user-static to run tests.
# PENSTOCK_SYSROOT is a Debian 12 root for arm64 with the -dev packages of scripts/deps.sh. Nothing boots it,
# so unpacked packages are enough:
#
#   debootstrap --foreign --arch=arm64 --variant=minbase --include=libc6-dev,libstdc++-12-dev,... bookworm ROOT
#   for package in ROOT/var/cache/apt/archives/*.deb; do dpkg-deb -x $package ROOT; done
#   cmake -S . -B build/aarch64 -G Ninja -DCMAKE_BUILD_TYPE=Release -DPENSTOCK_SYSROOT=ROOT
#     -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64.cmake
#
# Some programs start other programs (penstock record, many tests). For these the kernel must start arm64
# programs with qemu (binfmt_misc).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(PENSTOCK_SYSROOT "" CACHE PATH "Root of an arm64 system with the libraries and headers")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PENSTOCK_SYSROOT)
if(PENSTOCK_SYSROOT)
  set(CMAKE_SYSROOT ${PENSTOCK_SYSROOT})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${PENSTOCK_SYSROOT})
  set(ENV{PKG_CONFIG_LIBDIR}
    ${PENSTOCK_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${PENSTOCK_SYSROOT}/usr/share/pkgconfig)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(PENSTOCK_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(PENSTOCK_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PENSTOCK_QEMU} -L ${PENSTOCK_SYSROOT})
endif()
# nvcc and musl-gcc of this machine make no code for arm64.
set(PENSTOCK_CUDA OFF CACHE STRING "Device stages: AUTO (where nvcc is found), ON (required), OFF")
set(PENSTOCK_MUSL_GCC "" CACHE FILEPATH "Compiler of the tests with musl")
