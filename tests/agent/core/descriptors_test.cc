// SPDX-License-Identifier: Apache-2.0

#include "agent/system/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "agent/core/process.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

class DescriptorsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(g_config.on);
    ForgetDescriptorsOfOthers();
  }
  void TearDown() override { ForgetDescriptorsOfOthers(); }

  static int OpenAsAgent() { return sys::Open("/dev/null", O_RDONLY | O_CLOEXEC); }

  // Whether a close of `fd` by the program waits for a descriptor that the agent holds all the
  // time. Such a wait is in vain, and ends after 50,000 pauses of some nanoseconds.
  static bool Waits(int fd) {
    const auto begin = std::chrono::steady_clock::now();
    const CloseScope scope(fd);
    return std::chrono::steady_clock::now() - begin > std::chrono::microseconds(20);
  }
};

// Calls such as closedir() close a number where no hook sees it.
TEST_F(DescriptorsTest, TheAgentsNumberIsNoLongerTheProgramsOwn) {
  const int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
  NoteOpened(number);
  close(number);  // nothing is hooked in this test
  const int fd = OpenAsAgent();
  ASSERT_EQ(fd, number);
  EXPECT_TRUE(Waits(fd));
  sys::Close(fd);
}

TEST_F(DescriptorsTest, ClosesWaitAgainAfterAWaitInVain) {
  const int slow = OpenAsAgent();
  EXPECT_TRUE(Waits(-1));
  sys::Close(slow);
  { const CloseScope finds_none_held(-1); }
  const int fd = OpenAsAgent();
  EXPECT_TRUE(Waits(-1));
  sys::Close(fd);
}

// A handler of a signal may attach a forked child while the thread that it interrupted holds one.
TEST_F(DescriptorsTest, AnAttachingChildForgetsNoLaterDescriptor) {
  const int held = OpenAsAgent();
  ForgetDescriptorsOfOthers();
  sys::Close(held);
  const int fd = OpenAsAgent();
  EXPECT_TRUE(Waits(-1));
  sys::Close(fd);
}

}  // namespace
}  // namespace penstock::agent
