# SPDX-License-Identifier: Apache-2.0
# The option PENSTOCK_CUDA is AUTO, ON or OFF. Sets PENSTOCK_CUDA_FOUND, and PENSTOCK_CUDA_TARGETS: the
# architectures to compile for.

set(PENSTOCK_CUDA AUTO CACHE STRING "Device stages: AUTO (where nvcc is found), ON (required), OFF")
set_property(CACHE PENSTOCK_CUDA PROPERTY STRINGS AUTO ON OFF)
set(PENSTOCK_CUDA_ARCHITECTURES "" CACHE STRING
  "Architectures of the GPU code, written as for CMAKE_CUDA_ARCHITECTURES. Empty: code for the oldest one, with PTX \
that the driver compiles for a newer GPU at its first use. all: code for those from 70 to 100, as for a package")
set(PENSTOCK_CUDA_FOUND OFF)
if(NOT PENSTOCK_CUDA)
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(PENSTOCK_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(PENSTOCK_NVCC)
  if(PENSTOCK_NVCC)
    set(CMAKE_CUDA_COMPILER ${PENSTOCK_NVCC})
  endif()
endif()
set(CMAKE_CUDA_ARCHITECTURES OFF)  # each target sets its own; without OFF, CMake would choose a default here
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  find_package(CUDAToolkit)
endif()
if(NOT CMAKE_CUDA_COMPILER OR NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
  if(NOT PENSTOCK_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "PENSTOCK_CUDA is ON, but nvcc or the static CUDA runtime is missing: "
                        "put nvcc into the PATH, or set CMAKE_CUDA_COMPILER")
  endif()
  message(STATUS "penstock: nvcc or the CUDA runtime is missing: device stages answer \"unavailable\"")
  return()
endif()

set(PENSTOCK_CUDA_FOUND ON)
set(PENSTOCK_CUDA_TARGETS "${PENSTOCK_CUDA_ARCHITECTURES}")
if(NOT PENSTOCK_CUDA_TARGETS)
  # One architecture only: each further one takes as long again to compile. CUDA 13 has dropped Volta (70).
  set(PENSTOCK_CUDA_TARGETS 75)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
    set(PENSTOCK_CUDA_TARGETS 70)
  endif()
elseif(PENSTOCK_CUDA_TARGETS STREQUAL "all")
  # Code for each architecture, and PTX of the newest one for later GPUs. Ada (89) and Hopper (90) came with
  # CUDA 11.8, Blackwell (100) with 12.8.
  set(_wanted 75 80 86)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
    list(PREPEND _wanted 70)
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.8)
    list(APPEND _wanted 89 90)
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND _wanted 100)
  endif()
  list(POP_BACK _wanted _newest)
  list(TRANSFORM _wanted APPEND -real)
  set(PENSTOCK_CUDA_TARGETS ${_wanted} ${_newest})
endif()
message(STATUS "penstock: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${PENSTOCK_CUDA_TARGETS}")
