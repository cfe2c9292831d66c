// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/traces/support.h"
#include "traces/base/file.h"
#include "traces/pack.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using traces::testing::TempFolder;

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

TEST(OutputFileTest, ALeftoverIsReplaced) {
  const TempFolder folder;
  std::ofstream(folder / "t.part") << "of a program that was killed";
  auto file = OutputFile::Create(folder / "t", ".part");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(TextOf(folder / "t.part"), "");
}

TEST(OutputFileTest, WhatIsNoFileIsNotReplaced) {
  const TempFolder folder;
  fs::create_directory(folder / "t");
  ASSERT_EQ(::mkfifo((folder / "f").c_str(), 0600), 0);  // as a device, which only root can make
  for (const char* name : {"t", "f"}) {
    const auto file = OutputFile::Create(folder / name, ".part");
    ASSERT_FALSE(file.has_value()) << name;
    EXPECT_EQ(file.error().kind, ErrorKind::kOutput);
    EXPECT_FALSE(fs::exists((folder / name) += ".part"));
  }
  EXPECT_FALSE(OutputFile::Create("/dev/null", ".part").has_value());
}

TEST(OutputFileTest, NobodyTakesTheFileOfTheNextWriterAway) {
  const TempFolder folder;
  for (int round = 0; round < 300; ++round) {
    auto first = OutputFile::Create(folder / "t", ".part");
    ASSERT_TRUE(first.has_value());
    std::atomic<bool> waits{false};
    std::jthread next([&] {
      for (;;) {  // gets in the moment that the first one lets go
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
