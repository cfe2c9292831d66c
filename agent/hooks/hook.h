// SPDX-License-Identifier: Apache-2.0
//
// The shape of a hook on a function of libc: an exported function of the same name that finds the
// real one and calls it, whatever happens to the recording around it.
#pragma once

#include <errno.h>

#include "agent/core/recorder.h"
#include "agent/system/resolve.h"

namespace penstock::agent {
template <class T>
using PointerTo = T*;
}

#define PENSTOCK_EXPORT extern "C" __attribute__((visibility("default")))

// Where FindLibc() finds it.
#define PENSTOCK_SYMBOL __attribute__((section("penstock_symbols"), used))

// The real libc function `name` with the type of the hook.
#define PENSTOCK_REAL(name)                                                           \
  ([]() noexcept {                                                                    \
    PENSTOCK_SYMBOL static ::penstock::agent::Symbol symbol = {#name, nullptr};       \
    return reinterpret_cast<decltype(&::name)>(::penstock::agent::RealLibc(&symbol)); \
  }())

// Finds it also where it lies in a library of the caller's alone, as semaphores do before
// glibc 2.34 in a program that opens a plugin. Null: this libc does not have it.
#define PENSTOCK_REAL_NEAR(name, type)                                                         \
  ([](void* return_address) noexcept {                                                         \
    PENSTOCK_SYMBOL static ::penstock::agent::Symbol symbol = {#name, nullptr};                \
    void* const found = ::penstock::agent::RealLibc(&symbol);                                  \
    return reinterpret_cast<::penstock::agent::PointerTo<type>>(                               \
        found != nullptr ? found : ::penstock::agent::RealForCaller(&symbol, return_address)); \
  }(__builtin_return_address(0)))

// The same for aliases that headers do not declare: `type` is the function's type.
#define PENSTOCK_REAL_AS(name, type)                                            \
  ([]() noexcept {                                                              \
    PENSTOCK_SYMBOL static ::penstock::agent::Symbol symbol = {#name, nullptr}; \
    return reinterpret_cast<::penstock::agent::PointerTo<type>>(                \
        ::penstock::agent::RealLibc(&symbol));                                  \
  }())
