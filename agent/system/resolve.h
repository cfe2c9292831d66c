// SPDX-License-Identifier: Apache-2.0
//
// Finds the real function behind a hook, per call site: two libraries that export the same name
// (two libjpegs of two wheels) each keep their own. Lock-free, no heap of ours.
#pragma once

#include <stdint.h>

namespace penstock::agent {

// One per hooked symbol, constant-initialised.
struct Symbol {
  const char* name;
  void* next;  // atomic: RTLD_NEXT result, for libc functions that exist once
};

// A function of libc: one real definition per process. Never null for symbols libc has.
void* RealLibc(Symbol* symbol);

// False: another C library has loaded us. Hooks then call the real functions, and nothing else.
bool IsGlibc();

// Finds them all, for the constructor: the search takes more than a kilobyte of stack, which a hook
// in a signal handler may not have.
void FindLibc();

// The definition that the caller at `return_address` would have got without the agent.
// Order, that of ld.so itself: RTLD_NEXT with the version the caller needs, the DSO of the return
// address (dlopen NOLOAD + dlsym/dlvsym), every other object. Results inside the agent are
// rejected. nullptr: none (counted by the caller).
// Cost: a table lookup after the first call from a site (24 ns with the check that neither caller
// nor definer was unloaded), 10 to 19 us at the first.
void* RealForCaller(Symbol* symbol, void* return_address);

// The definition in the object that contains `address` (libjpeg: cinfo->mem->alloc_small).
void* RealInObjectOf(Symbol* symbol, const void* address);

// True if `address` lies in the agent itself.
bool InsideAgent(const void* address);

}  // namespace penstock::agent
