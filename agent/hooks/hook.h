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

// Puts a Symbol into the section in which FindLibc() looks for them.
#define PENSTOCK_SYMBOL __attribute__((section("penstock_symbols"), used))

// The real libc function `name`, with the type of its hook.
#define PENSTOCK_REAL(name)                                                           \
  ([]() noexcept {                                                                    \
    PENSTOCK_SYMBOL static ::penstock::agent::Symbol symbol = {#name, nullptr};       \
    return reinterpret_cast<decltype(&::name)>(::penstock::agent::RealLibc(&symbol)); \
  }())

// Like PENSTOCK_REAL, but also finds a function that only the caller's own libraries have. Example:
// before glibc 2.34 the semaphores are in libpthread, and perhaps only a plugin of the program is
// linked against it. Null if the function is not found.
#define PENSTOCK_REAL_NEAR(name, type)                                                         \
  ([](void* return_address) noexcept {                                                         \
    PENSTOCK_SYMBOL static ::penstock::agent::Symbol symbol = {#name, nullptr};                \
    void* const found = ::penstock::agent::RealLibc(&symbol);                                  \
    return reinterpret_cast<::penstock::agent::PointerTo<type>>(                               \
        found != nullptr ? found : ::penstock::agent::RealForCaller(&symbol, return_address)); \
  }(__builtin_return_address(0)))

// Like PENSTOCK_REAL, for aliases that headers do not declare. `type` is the function's type.
#define PENSTOCK_REAL_AS(name, type)                                            \
  ([]() noexcept {                                                              \
    PENSTOCK_SYMBOL static ::penstock::agent::Symbol symbol = {#name, nullptr}; \
    return reinterpret_cast<::penstock::agent::PointerTo<type>>(                \
        ::penstock::agent::RealLibc(&symbol));                                  \
  }())
