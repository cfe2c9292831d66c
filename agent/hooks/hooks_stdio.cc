// SPDX-License-Identifier: Apache-2.0
//
// Hooks on stdio: libc calls its own read() for streams, past the hook on read().

// Without this macro glibc's headers define getline() inline.
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif

#include <stdio.h>
#include <string.h>

#include "agent/core/pending_reads.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/stream.h"

using penstock::agent::DescriptorOf;
using penstock::agent::ReadCall;

#define PENSTOCK_FREAD(name, parameters, arguments)                         \
  PENSTOCK_EXPORT size_t name parameters {                                  \
    ReadCall call(DescriptorOf(file));                                      \
    const size_t got = PENSTOCK_REAL_AS(name, size_t parameters) arguments; \
    call.Done(static_cast<int64_t>(got * size));                            \
    return got;                                                             \
  }

PENSTOCK_FREAD(fread, (void* to, size_t size, size_t count, FILE* file), (to, size, count, file))
PENSTOCK_FREAD(fread_unlocked, (void* to, size_t size, size_t count, FILE* file),
               (to, size, count, file))
PENSTOCK_FREAD(__fread_chk, (void* to, size_t room, size_t size, size_t count, FILE* file),
               (to, room, size, count, file))
PENSTOCK_FREAD(__fread_unlocked_chk, (void* to, size_t room, size_t size, size_t count, FILE* file),
               (to, room, size, count, file))

#define PENSTOCK_FGETS(name, parameters, arguments)                    \
  PENSTOCK_EXPORT char* name parameters {                              \
    ReadCall call(DescriptorOf(file));                                 \
    char* got = PENSTOCK_REAL_AS(name, char* parameters) arguments;    \
    call.Done(got != nullptr ? static_cast<int64_t>(strlen(got)) : 0); \
    return got;                                                        \
  }

PENSTOCK_FGETS(fgets, (char* to, int size, FILE* file), (to, size, file))
PENSTOCK_FGETS(fgets_unlocked, (char* to, int size, FILE* file), (to, size, file))
PENSTOCK_FGETS(__fgets_chk, (char* to, size_t room, int size, FILE* file), (to, room, size, file))
PENSTOCK_FGETS(__fgets_unlocked_chk, (char* to, size_t room, int size, FILE* file),
               (to, room, size, file))

#define PENSTOCK_GETLINE(name, parameters, arguments)                         \
  PENSTOCK_EXPORT ssize_t name parameters {                                   \
    ReadCall call(DescriptorOf(file));                                        \
    const ssize_t got = PENSTOCK_REAL_AS(name, ssize_t parameters) arguments; \
    call.Done(got);                                                           \
    return got;                                                               \
  }

PENSTOCK_GETLINE(getline, (char** line, size_t* room, FILE* file), (line, room, file))
PENSTOCK_GETLINE(getdelim, (char** line, size_t* room, int stop, FILE* file),
                 (line, room, stop, file))
PENSTOCK_GETLINE(__getdelim, (char** line, size_t* room, int stop, FILE* file),
                 (line, room, stop, file))
