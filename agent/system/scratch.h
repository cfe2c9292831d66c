// SPDX-License-Identifier: Apache-2.0
//
// Buffers for names and texts that are too big for a stack: a hook may run in a signal handler on
// an alternate stack of a few kilobytes, most of which the kernel's frame takes. No frame of the
// agent is larger than agent/CMakeLists.txt allows. Threads: any; a buffer belongs to the thread
// that has taken it, until the end of the scope.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::agent {

inline constexpr size_t kScratch = 8256;

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  // nullptr: all are taken.
  char* data() const { return data_; }

 private:
  uint32_t index_;
  char* data_;
};

// In a forked child: what other threads of the parent held is free again.
void FreeScratchOfOthers();

// For the one that looks at what an exec would run, and changes its environment. A child that
// shares its parent's memory (vfork) never gives its own back; the next one of the same thread
// takes it.
struct ExecScratch {
  const void* owner;  // atomic
  char found[4096];   // the file, where it is searched for
  char line[8192];    // LD_PRELOAD
  char* environment[1024];
  alignas(16) char program[2560];  // what is read of it
};
// nullptr: all are taken.
ExecScratch* TakeExecScratch();
void ReleaseExecScratch(ExecScratch* scratch);

}  // namespace penstock::agent

// `name`: kScratch bytes for this scope; on the stack where every buffer is taken.
#define PENSTOCK_SCRATCH(name)                        \
  const ::penstock::agent::Scratch name##_scratch;    \
  char* const name = name##_scratch.data() != nullptr \
                         ? name##_scratch.data()      \
                         : static_cast<char*>(__builtin_alloca(::penstock::agent::kScratch))
