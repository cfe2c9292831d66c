# SPDX-License-Identifier: Apache-2.0
# clang, lld and the libraries of an old glibc, all from the Python package ziglang. Programs compiled
# with it start on every system with that glibc or a newer one.
#
# Reads variables of the environment: PENSTOCK_ZIG, the program zig; PENSTOCK_ZIG_TARGET, such as
# x86_64-linux-gnu.2.28; PENSTOCK_ZIG_TOOLS, a folder for the scripts cc, c++, ar and ranlib that call zig;
# PENSTOCK_ZIG_PREFIX, where the libraries are; PENSTOCK_ZIG_EMULATOR, the command that runs a program of the
# target (a list of CMake, may be empty).
foreach(_name PENSTOCK_ZIG PENSTOCK_ZIG_TARGET PENSTOCK_ZIG_TOOLS PENSTOCK_ZIG_PREFIX)
  if("$ENV{${_name}}" STREQUAL "")
    message(FATAL_ERROR "${_name} is not set: this toolchain is for scripts/build_wheel.sh")
  endif()
endforeach()
set(CMAKE_SYSTEM_NAME Linux)
set(_target $ENV{PENSTOCK_ZIG_TARGET})
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${_target}")
set(_tools $ENV{PENSTOCK_ZIG_TOOLS})
# Each function gets its own section, in our sources and in the libraries. So the linker leaves out the
# functions that a program does not call. That saves space, since the libraries are linked into each of the
# wheel's ten programs.
foreach(_tool cc c++ ar ranlib)
  if(NOT EXISTS ${_tools}/${_tool})
    set(_arguments ${_tool})
    if(_tool MATCHES "^c")
      set(_arguments "${_tool} -target ${_target} -ffunction-sections -fdata-sections")
    endif()
    file(WRITE ${_tools}/${_tool} "#!/bin/sh\nexec $ENV{PENSTOCK_ZIG} ${_arguments} \"$@\"\n")
    file(CHMOD ${_tools}/${_tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endforeach()
set(CMAKE_C_COMPILER ${_tools}/cc)
set(CMAKE_CXX_COMPILER ${_tools}/c++)
foreach(_kind EXE SHARED)
  set(CMAKE_${_kind}_LINKER_FLAGS_INIT -Wl,--gc-sections)
endforeach()
set(CMAKE_AR ${_tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${_tools}/ranlib CACHE FILEPATH "")
if(NOT "$ENV{PENSTOCK_ZIG_EMULATOR}" STREQUAL "")
  set(CMAKE_CROSSCOMPILING_EMULATOR $ENV{PENSTOCK_ZIG_EMULATOR})
endif()
set(PENSTOCK_LIBDL -ldl CACHE STRING "")
# The machine's own headers and libraries do not fit the target, but its programs (protoc, help2man) can
# be used.
set(CMAKE_FIND_ROOT_PATH $ENV{PENSTOCK_ZIG_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(_mode LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${_mode} ONLY)
endforeach()
