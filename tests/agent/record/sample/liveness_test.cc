// SPDX-License-Identifier: Apache-2.0
//
// Tests which processes and threads count as running. A folder of the test stands for /proc.
#include "agent/record/sample/liveness.h"

#include <cstdint>
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
  // Writes the stat file of a running process or thread that began at clock tick 99.
  void WriteStat(const std::string& folder) const {
    Write(folder + "/stat", "7 (x) S 1 1 1 0 -1 4 1 0 2 0 3 4 0 0 20 0 2 0 99 5 6 7 8 9\n");
  }

  std::string proc_;
  std::unique_ptr<wire::FileHeader> header_ = std::make_unique<wire::FileHeader>();
};

// The kernel uses the ids of ended threads again. If Liveness called a running thread dead, its
// chunk would be given to another thread as well.
TEST_F(ProcFolderTest, AThreadWithTheIdOfADeadOneRuns) {
  WriteStat("7");
  Liveness liveness(*header_, proc_);
  const ProcessKey process{7, 99};
  EXPECT_TRUE(liveness.ThreadIsDead(process, 8, kSecond));
  WriteStat("7/task/8");
  EXPECT_FALSE(liveness.ThreadIsDead(process, 8, kSecond + kSecond));
}

TEST_F(ProcFolderTest, ProcessesOfAnotherNamespaceAreSearchedForOnceASecond) {
  Write("self/ns/pid", "");  // its inode stands for our namespace
  WriteStat("71");
  Write("71/status", "Name:\tx\nNSpid:\t71\t5\n");
  WriteStat("72");
  Write("72/status", "Name:\tx\nNSpid:\t72\t6\n");
  for (std::uint32_t i = 0; i < 2; ++i) {
    wire::ProcessSlot& slot = header_->processes[i];
    slot.pid = 5 + i;
    slot.process_start = 99;
    slot.pid_namespace = 1;
    slot.state = wire::kProcessLive;
  }
  Liveness liveness(*header_, proc_);
  EXPECT_EQ(liveness.HostPid({5, 99}, kSecond), 71u);
  EXPECT_FALSE(liveness.HostPid({6, 99}, kSecond));
  EXPECT_EQ(Liveness(*header_, proc_).HostPid({6, 99}, kSecond), 72u);
  EXPECT_EQ(liveness.HostPid({6, 99}, kSecond + kSecond), 72u);
}

}  // namespace
}  // namespace penstock::record
