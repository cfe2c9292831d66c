// SPDX-License-Identifier: Apache-2.0
//
// What the codec hooks share: finding the real function of a call site, and a span around one call.
// Hooks hold no locks or other resources across the real call. If longjmp or an exception skips
// CloseSpan(), the span is dropped by the next OpenSpan() of the same or an outer frame, or when an
// outer span ends.
#pragma once

#include <stdint.h>

#include "agent/core/recorder.h"
#include "agent/system/resolve.h"

#define PENSTOCK_EXPORT extern "C" __attribute__((visibility("default")))

// For hooks of C++ functions: begins the definition of `function`, which is exported as `mangled`,
// and defines its Symbol. No type in its signature may be from an anonymous namespace, since the
// function would then not be exported.
#define PENSTOCK_FOREIGN(result, function, mangled, ...)                                \
  __attribute__((visibility("default"))) result function(__VA_ARGS__) __asm__(mangled); \
  static Symbol function##_symbol = {mangled, nullptr};                                 \
  result function(__VA_ARGS__)

// For the first line of such a hook: declares `real` as the real function. If there is none, the
// hook returns `failure` (nothing for void).
#define PENSTOCK_FOREIGN_REAL(function, failure)                                                   \
  auto* const real = RealFor<decltype(function)>(&function##_symbol, __builtin_return_address(0)); \
  if (real == nullptr) return failure

namespace penstock::agent {

// Returns the real function behind a hook for the call site `return_address`. nullptr if there is
// none: the call is counted as a miss (CountMiss()), and the hook must return what its API returns
// on failure.
template <typename Function>
inline Function* RealFor(Symbol* symbol, void* return_address) {
  void* const real = RealForCaller(symbol, return_address);
  if (__builtin_expect(real == nullptr, 0)) CountMiss();
  return reinterpret_cast<Function*>(real);
}

// Returns a function that has no hook: the one that the hook's caller would find. nullptr if there
// is none; this does not count as a miss.
template <typename Function>
inline Function* Companion(Symbol* symbol, void* return_address) {
  return reinterpret_cast<Function*>(RealForCaller(symbol, return_address));
}

// Opens a span with CPU time, unless the program writes the spans of this stage itself. `frame`: as
// in Begin().
inline Token OpenSpan(Stage stage, NameTag* name, void* frame) {
  return Recording() && !ProgramWrites(stage) ? Begin(stage, Name(name), frame, true) : Token{};
}

inline void CloseSpan(Token token, uint64_t bytes, bool failed) {
  if (token.depth != 0) End(token, bytes, 0, failed ? wire::kFlagError : uint8_t{0});
}

// Bytes of an image of `pixel` bytes per pixel; 0 if an argument is not positive (not known).
inline uint64_t PixelBytes(int width, int height, int pixel) {
  if (width <= 0 || height <= 0 || pixel <= 0) return 0;
  return static_cast<uint64_t>(width) * static_cast<uint64_t>(height) *
         static_cast<uint64_t>(pixel);
}

}  // namespace penstock::agent
