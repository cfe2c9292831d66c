// SPDX-License-Identifier: Apache-2.0
#include "agent/hooks/exec_target.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

bool ReadAt(int fd, void* to, size_t size, uint64_t offset) {
  return sys::Call(SYS_pread64, fd, sys::Pointer(to), static_cast<long>(size),
                   static_cast<long>(offset)) == static_cast<long>(size);
}

// Whether `path` is a regular file. Nothing else is opened, since execve() fails for it anyway.
// Opening a pipe would let its writer go on, and reading it would consume its data.
__attribute__((noinline)) bool IsRegularFile(int dir, const char* path) {
  struct stat st;
  return sys::Call(SYS_newfstatat, dir, sys::Pointer(path), sys::Pointer(&st), 0) == 0 &&
         S_ISREG(st.st_mode);
}

// Whether the program needs the sanitizer's library. Looks only at the first libraries that the
// program names, since the sanitizer's library is one of them. lld puts the search path
// (DT_RUNPATH) before the names of libraries.
bool NeedsSanitizer(int fd, const Elf64_Phdr& dynamic, size_t loads, ProgramFile* program) {
  Elf64_Dyn* const entries = program->entries;
  __builtin_memset(entries, 0, sizeof program->entries);
  const size_t size =
      dynamic.p_filesz < sizeof program->entries ? dynamic.p_filesz : sizeof program->entries;
  if (!ReadAt(fd, entries, size, dynamic.p_offset)) {
    return false;
  }
  uint64_t texts = 0;
  for (const Elf64_Dyn& entry : program->entries) {
    for (size_t i = 0; entry.d_tag == DT_STRTAB && i < loads; ++i) {
      const Elf64_Phdr& load = program->segments[i];
      if (entry.d_un.d_ptr - load.p_vaddr < load.p_filesz) {
        texts = load.p_offset + (entry.d_un.d_ptr - load.p_vaddr);
      }
    }
  }
  int left = texts != 0 ? 4 : 0;  // names to look at
  for (size_t i = 0; left > 0 && i < kDynamicEntries; ++i) {
    if (entries[i].d_tag != DT_NEEDED) {
      continue;
    }
    --left;
    char name[24] = {};
    sys::Call(SYS_pread64, fd, sys::Pointer(name), sizeof name - 1,
              static_cast<long>(texts + entries[i].d_un.d_val));
    if (StartsWith(name, "libasan.so") || StartsWith(name, "libclang_rt.asan")) {
      return true;
    }
  }
  return false;
}

// Judges a 64-bit program whose header has been read.
ExecTarget JudgeProgram(int fd, ProgramFile* program) {
  const unsigned count =
      program->head.e_phnum < kProgramSegments ? program->head.e_phnum : kProgramSegments;
  if (!ReadAt(fd, program->segments, count * sizeof program->segments[0], program->head.e_phoff)) {
    return ExecTarget::kOther;
  }
  ExecTarget target = ExecTarget::kOther;
  Elf64_Phdr dynamic = {};
  size_t loads = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Elf64_Phdr segment = program->segments[i];
    if (segment.p_type == PT_INTERP) {
      char* const name = program->interpreter;
      const long n = sys::Call(SYS_pread64, fd, sys::Pointer(name),
                               static_cast<long>(sizeof program->interpreter - 1),
                               static_cast<long>(segment.p_offset));
      name[n > 0 ? n : 0] = 0;
      const char* base = BaseName(name);
      // musl's loader can load the agent, which then does nothing. So the agent stays in
      // LD_PRELOAD, and programs that this one starts can be traced again.
      target = StartsWith(base, "ld-linux")  ? ExecTarget::kLoads
               : StartsWith(base, "ld-musl") ? ExecTarget::kOther
                                             : ExecTarget::kRefuses;
    } else if (segment.p_type == PT_DYNAMIC) {
      dynamic = segment;
    } else if (segment.p_type == PT_LOAD) {
      program->segments[loads++] = segment;
    }
  }
  return target == ExecTarget::kLoads && NeedsSanitizer(fd, dynamic, loads, program)
             ? ExecTarget::kSanitized
             : target;
}

// Returns the path in "#! /path argument" and terminates it there. nullptr if this is no script.
char* ScriptInterpreter(char* text) {
  if (text[0] != '#' || text[1] != '!') {
    return nullptr;
  }
  char* path = text + 2;
  while (*path == ' ' || *path == '\t') {
    ++path;
  }
  char* end = path;
  while (*end != 0 && *end != ' ' && *end != '\t' && *end != '\n') {
    ++end;
  }
  *end = 0;
  return path;
}

}  // namespace

ExecTarget LookAtProgram(int dir, const char* path, ProgramFile* program) {
  constexpr int kFiles = 5;  // files to look at: scripts and the program
  const uint16_t own_machine =
#if defined(__x86_64__)
      EM_X86_64;
#else
      EM_AARCH64;
#endif
  ExecTarget target = ExecTarget::kOther;
  for (int i = 0; i < kFiles && path != nullptr; ++i) {
    if (!IsRegularFile(dir, path)) {
      break;
    }
    // O_NONBLOCK: the file may have been replaced by a pipe, whose opening would wait for a writer.
    const int fd = sys::OpenAt(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
      break;
    }
    path = nullptr;
    dir = AT_FDCWD;
    Elf64_Ehdr& head = program->head;
    const long got = sys::Read(fd, &head, sizeof head);
    if (got >= EI_NIDENT && __builtin_memcmp(head.e_ident, ELFMAG, 4) == 0) {
      const bool ours = got == static_cast<long>(sizeof head) &&
                        head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == own_machine &&
                        head.e_phentsize == sizeof(Elf64_Phdr);
      target = ours ? JudgeProgram(fd, program) : ExecTarget::kRefuses;
    } else if (got > 2) {
      const long n = sys::Call(SYS_pread64, fd, sys::Pointer(program->interpreter),
                               static_cast<long>(sizeof program->interpreter - 1), 0);
      program->interpreter[n > 0 ? n : 0] = 0;
      path = ScriptInterpreter(program->interpreter);
    }
    sys::Close(fd);
  }
  return target;
}

}  // namespace penstock::agent
