// SPDX-License-Identifier: Apache-2.0

#include "agent/hooks/exec_target.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>

namespace penstock::agent {
namespace {

// The parts of an ELF file that LookAtProgram() reads.
struct Program {
  Elf64_Ehdr head;
  Elf64_Phdr segments[3];
  Elf64_Dyn entries[3];
  char interpreter[32];
  char texts[32];
};

Program NeedsSanitizerAfter(Elf64_Sxword first_tag) {
  Program file = {};
  std::memcpy(file.head.e_ident, ELFMAG, SELFMAG);
  file.head.e_ident[EI_CLASS] = ELFCLASS64;
#if defined(__x86_64__)
  file.head.e_machine = EM_X86_64;
#else
  file.head.e_machine = EM_AARCH64;
#endif
  file.head.e_phoff = offsetof(Program, segments);
  file.head.e_phentsize = sizeof(Elf64_Phdr);
  file.head.e_phnum = 3;
  file.segments[0].p_type = PT_INTERP;
  file.segments[0].p_offset = offsetof(Program, interpreter);
  file.segments[1].p_type = PT_DYNAMIC;
  file.segments[1].p_offset = offsetof(Program, entries);
  file.segments[1].p_filesz = sizeof file.entries;
  file.segments[2].p_type = PT_LOAD;
  file.segments[2].p_filesz = sizeof file;
  file.entries[0].d_tag = first_tag;
  file.entries[1].d_tag = DT_NEEDED;
  file.entries[1].d_un.d_val = 1;
  file.entries[2].d_tag = DT_STRTAB;
  file.entries[2].d_un.d_ptr = offsetof(Program, texts);
  std::strcpy(file.interpreter, "/lib64/ld-linux-x86-64.so.2");
  std::strcpy(file.texts + 1, "libasan.so.8");
  return file;
}

class ExecTargetTest : public testing::Test {
 protected:
  void TearDown() override { unlink(path_.c_str()); }

  ExecTarget LookAt(const Program& file) {
    std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(&file), sizeof file);
    return Look();
  }
  ExecTarget Look() {
    ProgramFile program = {};
    return LookAtProgram(AT_FDCWD, path_.c_str(), &program);
  }

  std::string path_ = testing::TempDir() + "penstock_program_" + std::to_string(getpid());
};

// In the dynamic section, GNU ld writes the names of libraries before the search path. lld writes
// the search path first.
TEST_F(ExecTargetTest, FindsTheSanitizerInFilesOfEitherLinker) {
  EXPECT_EQ(LookAt(NeedsSanitizerAfter(DT_NEEDED)), ExecTarget::kSanitized);
  EXPECT_EQ(LookAt(NeedsSanitizerAfter(DT_RUNPATH)), ExecTarget::kSanitized);
}

// open() of a pipe without a writer would wait for a writer.
TEST_F(ExecTargetTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0700), 0);
  EXPECT_EQ(Look(), ExecTarget::kOther);
}

TEST_F(ExecTargetTest, TakesNoDataFromAPipe) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0700), 0);
  const int pipe = open(path_.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_EQ(write(pipe, "#!/bin/sh\n", 10), 10);
  EXPECT_EQ(Look(), ExecTarget::kOther);
  char data[32];
  EXPECT_EQ(read(pipe, data, sizeof data), 10);
  close(pipe);
}

}  // namespace
}  // namespace penstock::agent
