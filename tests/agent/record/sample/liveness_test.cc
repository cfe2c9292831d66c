// SPDX-License-Identifier: Apache-2.0
//
// Which processes and threads run, according to a folder that looks like /proc.
#include "agent/record/sample/liveness.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace penstock::record {
namespace {

constexpr TimeNs kSecond{1'000'000'000};

class ProcFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/penstock-liveness-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    proc_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(proc_); }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(proc_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // A process or thread that runs and began at clock tick 99.
  void WriteStat(const std::string& folder) const {
    Write(folder + "/stat", "7 (x) S 1 1 1 0 -1 4 1 0 2 0 3 4 0 0 20 0 2 0 99 5 6 7 8 9\n");
  }

  std::string proc_;
  std::unique_ptr<wire::FileHeader> header_ = std::make_unique<wire::FileHeader>();
};

// The kernel gives ids of ended threads out again. If the chunk of a running thread counted as that
// of a dead one, another thread would get it too.
TEST_F(ProcFolderTest, AThreadWithTheIdOfADeadOneRuns) {
  WriteStat("7");
  Liveness liveness(*header_, proc_);
  const ProcessKey process{7, 99};
  EXPECT_TRUE(liveness.ThreadIsDead(process, 8, kSecond));
  WriteStat("7/task/8");
  EXPECT_FALSE(liveness.ThreadIsDead(process, 8, kSecond + kSecond));
}

}  // namespace
}  // namespace penstock::record
