// SPDX-License-Identifier: Apache-2.0
//
// Finds the real function behind a hook for each call site, so that two libraries that export the
// same name (two libjpegs of two wheels) each keep their own. The first lookup from a call site
// asks the loader, which takes its lock and may allocate. Later ones do neither.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// Each hooked symbol has one Symbol, which is constant-initialised.
struct Symbol {
  const char* name;
  void* next;  // atomic: RTLD_NEXT result, for libc functions that exist once
};

// The real function of libc. (A process has one libc.) Not null if libc has the function.
void* RealLibc(Symbol* symbol);

// False if the C library that has loaded us is not glibc. Hooks then only call the real functions.
bool IsGlibc();

// Finds all functions of libc. Called by the constructor, since the search takes more than a
// kilobyte of stack, which a hook in a signal handler may not have.
void FindLibc();

// The definition that the caller at `return_address` would have got without the agent; nullptr if
// there is none; the caller of this function counts that. The order is that of ld.so: RTLD_NEXT
// with the version that the caller needs, then the object of the return address (dlopen NOLOAD +
// dlsym/dlvsym). All other objects come last, since a tail call can hide the caller. Results inside
// the agent are rejected.
// Cost: 10 to 19 us for the first call from a site, then a table lookup (24 ns with the check that
// neither caller nor definer was unloaded).
void* RealForCaller(Symbol* symbol, void* return_address);

// The definition in the object that contains `address` (libjpeg: cinfo->mem->alloc_small).
void* RealInObjectOf(Symbol* symbol, const void* address);

// True if `address` lies in the agent.
bool InsideAgent(const void* address);

}  // namespace penstock::agent
