// SPDX-License-Identifier: Apache-2.0
//
// Buffers for names and texts that are too big for a stack: a hook may run in a signal handler on
// an alternate stack of a few kilobytes, most of which the kernel's frame takes.
// agent/CMakeLists.txt limits the frames of the agent. Threads: any; a buffer belongs to the thread
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
  // nullptr if all are taken.
  char* data() const { return data_; }

 private:
  uint32_t index_;
  char* data_;
};

// Sets the place of the process token (agent/core/process.h), for FreeScratchOfOthers(). The token
// is 0 in a forked child that has not attached.
void SetScratchGuard(const volatile uint64_t* token);
// To be called in a forked child that has no process token yet: frees the buffers that other
// threads of the parent held. Buffers of exec hooks stay taken, and so do buffers that were taken
// before the parent attached. A hook that gets no buffer uses the stack.
void FreeScratchOfOthers();

// Memory for the exec hooks, which read the program's file and change the new environment. A child
// that shares its parent's memory (vfork) never gives its buffer back, so the next child of the
// same thread takes over that buffer.
struct ExecScratch {
  const void* owner;  // atomic
  char found[4096];   // the program's path, if it is searched for in PATH
  char line[8192];    // LD_PRELOAD
  char* environment[1024];
  alignas(16) char program[2560];  // the parts of the program's file that are read
};
// nullptr if all are taken.
ExecScratch* TakeExecScratch();
void ReleaseExecScratch(ExecScratch* scratch);

}  // namespace penstock::agent

// Defines `name` as kScratch bytes for this scope, on the stack if every buffer is taken.
#define PENSTOCK_SCRATCH(name)                        \
  const ::penstock::agent::Scratch name##_scratch;    \
  char* const name = name##_scratch.data() != nullptr \
                         ? name##_scratch.data()      \
                         : static_cast<char*>(__builtin_alloca(::penstock::agent::kScratch))
