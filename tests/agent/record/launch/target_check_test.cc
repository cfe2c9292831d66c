// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/target_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

// Returns an ELF file for this machine with this PT_INTERP, or a static one if `interpreter` is "".
std::string Elf(const std::string& interpreter, unsigned char elf_class = ELFCLASS64) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf_class;
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#else
  header.e_machine = EM_X86_64;
#endif
  header.e_phoff = sizeof header;
  header.e_phnum = interpreter.empty() ? 0 : 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_INTERP;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = interpreter.size() + 1;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return bytes + interpreter + '\0';
}

class TargetTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/penstock-target-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Put(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    const std::string path = folder_ / name;
    std::ofstream(path) << bytes;
    chmod(path.c_str(), mode);
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(TargetTest, OrdinaryProgramGetsNoWarning) {
  const auto report = CheckTarget(Put("a", Elf("/lib64/ld-linux-x86-64.so.2")), "", "");
  EXPECT_EQ(report.status, 0);
  EXPECT_TRUE(report.preload);
  EXPECT_TRUE(report.warnings.empty());
}

TEST_F(TargetTest, MuslRunsUntraced) {
  const auto report = CheckTarget(Put("a", Elf("/lib/ld-musl-x86_64.so.1")), "", "");
  EXPECT_FALSE(report.preload);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("musl"), std::string::npos);
}

TEST_F(TargetTest, StaticProgramIsNamedButTraced) {
  const auto report = CheckTarget(Put("a", Elf("")), "", "");
  EXPECT_TRUE(report.preload);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("static"), std::string::npos);
}

TEST_F(TargetTest, OtherWordSizeRunsUntraced) {
  EXPECT_FALSE(CheckTarget(Put("a", Elf("/lib/ld.so", ELFCLASS32)), "", "").preload);
}

TEST_F(TargetTest, ScriptsAreFollowedToTheirInterpreter) {
  Put("musl-python", Elf("/lib/ld-musl-x86_64.so.1"));
  const std::string script = Put("s", "#!/usr/bin/env -S musl-python -u\nprint()\n");
  EXPECT_FALSE(CheckTarget(script, folder_.string(), "").preload);
  const std::string direct = Put("d", "#! " + folder_.string() + "/musl-python\n");
  EXPECT_FALSE(CheckTarget(direct, "", "").preload);
}

TEST_F(TargetTest, ScriptThatNamesItselfEnds) {
  EXPECT_EQ(CheckTarget(Put("loop", "#!" + folder_.string() + "/loop\n"), "", "").status, 0);
}

TEST_F(TargetTest, SanitizedProgramNeedsItsLibraryFirst) {
  const std::string program = Put("a", Elf("/lib64/ld-linux-x86-64.so.2") + "libasan.so.8");
  EXPECT_FALSE(CheckTarget(program, "", "").preload);
  EXPECT_TRUE(CheckTarget(program, "", "/usr/lib/libasan.so.8").preload);
}

TEST_F(TargetTest, OtherTracersAreNamed) {
  const auto report = CheckTarget(Put("a", Elf("/lib64/ld-linux-x86-64.so.2")), "",
                                  "/x/libjemalloc.so:/opt/libdarshan.so");
  EXPECT_TRUE(report.preload);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("libdarshan.so"), std::string::npos);
}

TEST_F(TargetTest, WhatCannotRunIsSaidAsAShellWould) {
  EXPECT_EQ(CheckTarget("no-such-program", "/usr/bin", "").status, 127);
  EXPECT_EQ(CheckTarget((folder_ / "none").string(), "", "").status, 127);
  EXPECT_EQ(CheckTarget(Put("plain", "text", 0644), "", "").status, 126);
  EXPECT_EQ(CheckTarget(folder_.string(), "", "").status, 126);
  EXPECT_EQ(CheckTarget("", "/usr/bin", "").status, 127);
}

// The interpreter is "?" if its name lies behind the place where the file is cut.
TEST(ProgramFileTest, CutElfNeverNamesAnotherInterpreter) {
  const std::string interpreter = "/lib64/ld-linux-x86-64.so.2";
  const std::string whole = Elf(interpreter);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const ProgramFile file = ParseProgram(std::string_view(whole).substr(0, size));
    const std::string_view found = file.interpreter;
    EXPECT_TRUE(found == "?" || interpreter.rfind(found, 0) == 0) << size << ": " << found;
  }
}

}  // namespace
}  // namespace penstock::record
