// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/traces/support.h"
#include "traces/base/file.h"
#include "traces/pack.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using traces::testing::TempFolder;

// Called by the fsync() at the end of this file, so that a test sees when a file or a folder is
// synced.
std::function<void(bool is_folder)> g_on_fsync;
// While this is set, ftruncate() fails.
bool g_no_cut = false;
// While this is set, an exclusive lock needs a descriptor that is open for writing, as on NFS.
bool g_locks_of_nfs = false;

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string TextOf(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(OutputFileTest, AppearsUnderItsNameWhenItIsComplete) {
  const TempFolder folder;
  auto file = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->Append(AsBytes("whole")).has_value());
  EXPECT_FALSE(fs::exists(folder / "t"));
  ASSERT_TRUE(file->Commit().has_value());
  EXPECT_EQ(TextOf(folder / "t"), "whole");
  EXPECT_FALSE(fs::exists(folder / "t.part"));
}

TEST(OutputFileTest, ASecondWriterIsRefusedAndHarmsNothing) {
  const TempFolder folder;
  auto first = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(first->Append(AsBytes("first")).has_value());
  const auto second = OutputFile::Create(folder / "t", ".part");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::kOutput);
  EXPECT_NE(second.error().message.find("being written"), std::string::npos);
  EXPECT_EQ(TextOf(folder / "t.part"), "first");
  ASSERT_TRUE(first->Commit().has_value());
  EXPECT_TRUE(OutputFile::Create(folder / "t", ".part").has_value());
}

TEST(OutputFileTest, ReplacesATemporaryFileOfAKilledWriter) {
  const TempFolder folder;
  std::ofstream(folder / "t.part") << "of a program that was killed";
  auto file = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(TextOf(folder / "t.part"), "");
}

TEST(OutputFileTest, RefusesToReplaceAFolderFifoOrDevice) {
  const TempFolder folder;
  fs::create_directory(folder / "t");
  ASSERT_EQ(::mkfifo((folder / "f").c_str(), 0600), 0);  // no device: that needs root
  for (const char* name : {"t", "f"}) {
    const auto file = OutputFile::Create(folder / name, ".part");
    ASSERT_FALSE(file.has_value()) << name;
    EXPECT_EQ(file.error().kind, ErrorKind::kOutput);
    EXPECT_FALSE(fs::exists((folder / name) += ".part"));
  }
  EXPECT_FALSE(OutputFile::Create("/dev/null", ".part").has_value());
}

TEST(OutputFileTest, AFinishingWriterLeavesTheNextWritersFile) {
  const TempFolder folder;
  for (int round = 0; round < 300; ++round) {
    auto first = OutputFile::Create(folder / "t", ".part");
    ASSERT_TRUE(first.has_value());
    std::atomic<bool> waits{false};
    std::jthread next([&] {
      for (;;) {  // succeeds as soon as the first writer gives up its lock
        auto second = OutputFile::Create(folder / "t", ".part");
        waits = true;
        if (!second) continue;
        EXPECT_TRUE(second->Append(AsBytes("second")).has_value());
        EXPECT_TRUE(second->Commit().has_value());
        return;
      }
    });
    while (!waits) std::this_thread::yield();
    round % 2 == 0 ? first->Discard() : static_cast<void>(first->Commit().has_value());
    next.join();
    ASSERT_EQ(TextOf(folder / "t"), "second") << "round " << round;
    ASSERT_FALSE(fs::exists(folder / "t.part"));
  }
}

TEST(OutputFileTest, RefusesLinksAndFifosUnderTheTemporaryName) {
  const TempFolder folder;
  std::ofstream(folder / "victim") << "victim's";
  fs::create_symlink(folder / "victim", folder / "a.part");
  fs::create_hard_link(folder / "victim", folder / "b.part");
  fs::create_symlink(folder / "nothing", folder / "c.part");
  ASSERT_EQ(::mkfifo((folder / "d.part").c_str(), 0600), 0);
  for (const char* name : {"a", "b", "c", "d"}) {
    const auto file = OutputFile::Create(folder / name, ".part");
    ASSERT_FALSE(file.has_value()) << name;
    EXPECT_EQ(file.error().kind, ErrorKind::kOutput);
  }
  EXPECT_EQ(TextOf(folder / "victim"), "victim's");
  EXPECT_FALSE(fs::exists(folder / "nothing"));
  for (const char* name : {"a.part", "b.part", "d.part"}) {
    EXPECT_FALSE(FileLock::Take(folder / name).has_value()) << name;
  }
}

TEST(OutputFileTest, PrivateFilesAre0600AndOthersFollowTheUmask) {
  const TempFolder folder;
  const mode_t before = ::umask(0022);
  for (const bool alone : {false, true}) {
    auto file = OutputFile::Create(folder / "t", ".part", {.private_to_owner = alone});
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->Commit().has_value());
    struct stat info {};
    ASSERT_EQ(::stat((folder / "t").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777u, alone ? 0600u : 0644u);
  }
  ::umask(before);
}

TEST(OutputFileTest, KeepsAFileThatMayNotBeReplacedAndTakesAnotherName) {
  const TempFolder folder;
  auto file = OutputFile::Create(folder / "t.x", ".part",
                                 {.may_replace = [](const fs::path&) { return false; }});
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->Append(AsBytes("new")).has_value());
  std::ofstream(folder / "t.x") << "old";
  ASSERT_TRUE(file->Commit().has_value());
  EXPECT_EQ(TextOf(folder / "t.x"), "old");
  EXPECT_NE(file->final_path(), folder / "t.x");
  EXPECT_EQ(TextOf(file->final_path()), "new");
  EXPECT_NE(file->note().find(file->final_path().string()), std::string::npos);
}

TEST(OutputFileTest, FreshNamesAreNotInUse) {
  const TempFolder folder;
  const fs::path first = FreshName(folder / "run.penstock", 1'700'000'000);
  EXPECT_EQ(first.extension(), ".penstock");
  EXPECT_EQ(first.filename().string().rfind("run.2023", 0), 0u) << first;
  std::ofstream(first) << "";
  const fs::path second = FreshName(folder / "run.penstock", 1'700'000'000);
  EXPECT_NE(second, first);
  std::ofstream(second.string() + ".part") << "";
  EXPECT_NE(FreshName(folder / "run.penstock", 1'700'000'000), second);
}

TEST(OutputFileTest, KeepsTheContentsWhenTheFileIsRemovedOrMoved) {
  const TempFolder folder;
  fs::create_directory(folder / "in");
  auto file = OutputFile::Create(folder / "in/t", ".part");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->Append(AsBytes("one ")).has_value());
  fs::remove(folder / "in/t.part");
  ASSERT_TRUE(file->KeepName().has_value());
  EXPECT_EQ(TextOf(folder / "in/t.part"), "one ");
  ASSERT_TRUE(file->Append(AsBytes("two ")).has_value());
  fs::rename(folder / "in", folder / "moved");
  ASSERT_TRUE(file->KeepName().has_value());
  ASSERT_TRUE(file->Append(AsBytes("three")).has_value());
  fs::remove_all(folder / "moved");
  ASSERT_TRUE(file->Commit().has_value());
  EXPECT_EQ(file->final_path().parent_path(), (folder / "t").parent_path());
  EXPECT_EQ(TextOf(file->final_path()), "one two three");
}

TEST(OutputFileTest, WhatAFailedAppendLeftIsOverwrittenIfItCannotBeCutOff) {
  const TempFolder folder;
  auto file = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(file.has_value());
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 4, .rlim_max = before.rlim_max};
  const auto on_limit = std::signal(SIGXFSZ, SIG_IGN);
  g_no_cut = true;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const bool appended = file->Append(AsBytes("too long")).has_value();
  ::setrlimit(RLIMIT_FSIZE, &before);
  g_no_cut = false;
  std::signal(SIGXFSZ, on_limit);
  EXPECT_FALSE(appended);
  EXPECT_EQ(file->size(), 0u);
  ASSERT_TRUE(file->Append(AsBytes("whole")).has_value());
  EXPECT_EQ(TextOf(folder / "t.part"), "whole");
}

TEST(OutputFileTest, AFileThatIsBeingWrittenIsNotTakenOnNfs) {
  const TempFolder folder;
  auto writer = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(writer.has_value());
  g_locks_of_nfs = true;
  const bool while_written = FileLock::Take(folder / "t.part").has_value();
  *writer = OutputFile();  // as if it had been killed
  const bool afterwards = FileLock::Take(folder / "t.part").has_value();
  g_locks_of_nfs = false;
  EXPECT_FALSE(while_written);
  EXPECT_TRUE(afterwards);
}

TEST(OutputFileTest, ARelativeNameWithoutItsFolderStaysInTheCurrentFolder) {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder / "");
  fs::create_directory("in");
  auto file = OutputFile::Create("in/t", ".part");
  const bool written = file.has_value() && file->Append(AsBytes("whole")).has_value();
  fs::remove_all("in");
  const bool finished = written && file->Commit().has_value();
  fs::current_path(before);
  ASSERT_TRUE(finished);
  EXPECT_EQ(file->final_path().parent_path(), fs::path("."));
  EXPECT_EQ(TextOf(folder / file->final_path().string()), "whole");
}

TEST(OutputFileTest, TheSuffixBelongsToTheNameThatIsTaken) {
  const TempFolder folder;
  auto old = OutputFile::Create(folder / "t", ".part");
  auto fresh = OutputFile::Create(folder / "t", ".part.new");
  ASSERT_TRUE(old.has_value() && fresh.has_value());
  ASSERT_TRUE(fresh->TakePlaceOf(*old).has_value());
  EXPECT_EQ(fresh->suffix(), ".part");
  // After KeepName() the file is there again, under the name that readers look for.
  fs::remove(folder / "t.part");
  ASSERT_TRUE(fresh->KeepName().has_value());
  EXPECT_TRUE(fs::exists(folder / "t.part"));
}

TEST(OutputFileTest, LeavesAnotherProgramsFileUnderItsNameAlone) {
  const TempFolder folder;
  auto file = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->Append(AsBytes("ours")).has_value());
  fs::remove(folder / "t.part");
  std::ofstream(folder / "t.part") << "theirs";
  ASSERT_TRUE(file->Commit().has_value());
  EXPECT_EQ(TextOf(folder / "t.part"), "theirs");
  EXPECT_EQ(TextOf(file->final_path()), "ours");
  auto other = OutputFile::Create(folder / "u", ".part");
  ASSERT_TRUE(other.has_value());
  fs::remove(folder / "u.part");
  std::ofstream(folder / "u.part") << "theirs";
  other->Discard();
  EXPECT_EQ(TextOf(folder / "u.part"), "theirs");
}

TEST(OutputFileTest, SyncsTheFileBeforeTheRenameAndTheFolderAfterIt) {
  const TempFolder folder;
  const fs::path final_path = folder / "t.penstock";
  std::vector<std::string> calls;
  g_on_fsync = [&](bool is_folder) {
    calls.push_back(std::string(is_folder ? "folder" : "file") +
                    (fs::exists(final_path) ? " with the name" : " without"));
  };
  auto packer = traces::CreatePacked(final_path);
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Flush().has_value());
  EXPECT_TRUE(calls.empty()) << "Flush() must not sync";
  ASSERT_TRUE((*packer)->Finish().has_value());
  g_on_fsync = nullptr;
  EXPECT_EQ(calls, (std::vector<std::string>{"file without", "folder with the name"}));
}

TEST(OutputFileTest, RenamesAnUnfinishedTraceOfAKilledWriter) {
  const TempFolder folder;
  {
    auto killed = traces::CreatePacked(folder / "t.penstock");
    ASSERT_TRUE(killed.has_value());
    (*killed)->SetFact("which", "the first");
    ASSERT_TRUE((*killed)->Flush().has_value());
  }
  auto packer = traces::CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Finish().has_value());
  std::vector<fs::path> aside;
  for (const auto& entry : fs::directory_iterator(folder / "")) {
    if (entry.path().extension() == ".part") aside.push_back(entry.path());
  }
  ASSERT_EQ(aside.size(), 1u);
  const auto trace = traces::OpenTrace(aside[0]);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ((*trace)->facts().at("which"), "the first");
}

TEST(OutputFileTest, ADiscardedTraceLeavesNothing) {
  const TempFolder folder;
  auto packer = traces::CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Flush().has_value());
  (*packer)->Discard();
  EXPECT_TRUE(fs::is_empty(folder / "."));
}

}  // namespace
}  // namespace penstock

extern "C" int fsync(int fd) {
  struct stat info {};
  if (penstock::g_on_fsync && fstat(fd, &info) == 0) penstock::g_on_fsync(S_ISDIR(info.st_mode));
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int ftruncate(int fd, off_t size) noexcept {
  if (penstock::g_no_cut) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(syscall(SYS_ftruncate, fd, size));
}

extern "C" int flock(int fd, int operation) noexcept {
  if (penstock::g_locks_of_nfs && (operation & LOCK_EX) != 0 &&
      (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return -1;
  }
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}
