// SPDX-License-Identifier: Apache-2.0
//
// What the codec hooks share: the real function of a call site, and a span around one call.
// Nothing is held across the real call; a span that longjmp or an exception skips is dropped by
// the next Begin() of an outer frame.
#pragma once

#include <stdint.h>

#include "agent/core/recorder.h"
#include "agent/system/resolve.h"

#define PENSTOCK_EXPORT extern "C" __attribute__((visibility("default")))

// For hooks of C++ functions: defines `function` as the exported symbol `mangled`. Its types must
// not be local to the source, since the function would then be local too.
#define PENSTOCK_FOREIGN(result, function, mangled, ...)                                \
  __attribute__((visibility("default"))) result function(__VA_ARGS__) __asm__(mangled); \
  static Symbol function##_symbol = {mangled, nullptr};                                 \
  result function(__VA_ARGS__)

// Declares `real` as the real function. Returns `failure` from the hook if there is none.
#define PENSTOCK_FOREIGN_REAL(function, failure)                                                   \
  auto* const real = RealFor<decltype(function)>(&function##_symbol, __builtin_return_address(0)); \
  if (real == nullptr) return failure

namespace penstock::agent {

// Returns the real function; nullptr if there is none, which counts as a miss. The hook then
// returns what its API returns on failure.
template <typename Function>
inline Function* RealFor(Symbol* symbol, void* return_address) {
  void* const real = RealForCaller(symbol, return_address);
  if (__builtin_expect(real == nullptr, 0)) CountMiss();
  return reinterpret_cast<Function*>(real);
}

// Returns a function of the caller's library that has no hook. Counts nothing if it is missing.
template <typename Function>
inline Function* Companion(Symbol* symbol, void* return_address) {
  return reinterpret_cast<Function*>(RealForCaller(symbol, return_address));
}

inline Token OpenSpan(Stage stage, NameTag* name, void* frame) {
  return Recording() && !ProgramWrites(stage) ? Begin(stage, Name(name), frame, true) : Token{};
}

inline void CloseSpan(Token token, uint64_t bytes, bool failed) {
  if (token.depth != 0) End(token, bytes, 0, failed ? wire::kFlagError : uint8_t{0});
}

// Width times height times bytes per pixel; 0 if one of them is not known.
inline uint64_t PixelBytes(int width, int height, int pixel) {
  if (width <= 0 || height <= 0 || pixel <= 0) return 0;
  return static_cast<uint64_t>(width) * static_cast<uint64_t>(height) *
         static_cast<uint64_t>(pixel);
}

}  // namespace penstock::agent
