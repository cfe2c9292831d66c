# SPDX-License-Identifier: Apache-2.0
# Finds the newest clang of this system that has libFuzzer and the sanitizers, for the preset asan. On Debian
# the name of the program ends with its version. To use another clang: -DPENSTOCK_CLANG_VERSION=N, or CXX in
# the environment.
set(PENSTOCK_CLANG_VERSION "" CACHE STRING "Version of clang; empty: the newest from 14 on that is complete")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PENSTOCK_CLANG_VERSION)
if("$ENV{CXX}" STREQUAL "" AND NOT CMAKE_CXX_COMPILER)
  set(_versions -${PENSTOCK_CLANG_VERSION})
  if("${PENSTOCK_CLANG_VERSION}" STREQUAL "")
    set(_versions -22 -21 -20 -19 -18 -17 -16 -15 -14 "")
  endif()
  foreach(_version IN LISTS _versions)
    unset(_clangxx)
    find_program(_clangxx NAMES clang++${_version} NO_CACHE)
    if(NOT _clangxx)
      continue()
    endif()
    # Prints a path if the library is there, else the bare name.
    execute_process(COMMAND ${_clangxx} -print-file-name=libclang_rt.fuzzer-${CMAKE_HOST_SYSTEM_PROCESSOR}.a
      OUTPUT_VARIABLE _fuzzer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${_clangxx} -print-file-name=libclang_rt.fuzzer.a
      OUTPUT_VARIABLE _fuzzer_here OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(IS_ABSOLUTE "${_fuzzer}" OR IS_ABSOLUTE "${_fuzzer_here}")
      set(CMAKE_C_COMPILER clang${_version})
      set(CMAKE_CXX_COMPILER clang++${_version})
      break()
    endif()
  endforeach()
  if(NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "there is no clang with libFuzzer here: scripts/deps.sh test")
  endif()
endif()
