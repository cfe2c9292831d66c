// SPDX-License-Identifier: Apache-2.0
//
// What kind of program an exec would run: whether it can load the agent, and how.
#pragma once

#include <elf.h>
#include <stddef.h>

#include "agent/system/scratch.h"

namespace penstock::agent {

enum class ExecTarget {
  kOther,      // static, of musl or unreadable: the agent does no harm there, so nothing is changed
  kLoads,      // linked against glibc
  kSanitized,  // the same with AddressSanitizer, which must be loaded first
  kRefuses,    // its loader cannot load the agent and complains: 32 bits, another C library
};

constexpr size_t kDynamicEntries = 48;
constexpr unsigned kProgramSegments = 24;

// The parts of a program file that are read. Lies in ExecScratch::program.
struct ProgramFile {
  Elf64_Ehdr head;
  Elf64_Phdr segments[kProgramSegments];
  Elf64_Dyn entries[kDynamicEntries];
  char interpreter[256];
};
static_assert(sizeof(ProgramFile) <= sizeof ExecScratch::program);

// Looks at a program. A script counts as its interpreter, which the kernel starts with the same
// environment.
//
// `dir` and `path` are those of openat(). Makes system calls only, so that a vfork child may call
// it.
ExecTarget LookAtProgram(int dir, const char* path, ProgramFile* program);

}  // namespace penstock::agent
