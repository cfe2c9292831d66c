// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/source_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

namespace penstock::analyzer {
namespace {

TEST(SourceLinesTest, ReadsAFileThatIsOlderThanTheRunOnly) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / "penstock_source_lines.py";
  std::ofstream(file) << "import os\ndef load():\n";
  const LineReader later = SourceLines(4e9);
  EXPECT_EQ(later(file.string(), 2), "def load():");
  EXPECT_EQ(later(file.string(), 0), std::nullopt);
  EXPECT_EQ(later(file.string(), 3), std::nullopt);
  EXPECT_EQ(SourceLines(1)(file.string(), 2), std::nullopt);
  EXPECT_EQ(later("dataset.py", 1), std::nullopt) << "a path that is not absolute";
  EXPECT_EQ(later("/proc/nosuch.py", 1), std::nullopt);
}

TEST(SourceLinesTest, AFileThatChangedWithinTheSecondOfTheBeginIsNotRead) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / "penstock_source_second.py";
  std::ofstream(file) << "import os\n";
  const timespec at = {1000, 900'000'000};
  const timespec times[] = {at, at};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  EXPECT_EQ(SourceLines(1000.5)(file.string(), 1), std::nullopt);
  EXPECT_EQ(SourceLines(1000.95)(file.string(), 1), "import os");
}

}  // namespace
}  // namespace penstock::analyzer
