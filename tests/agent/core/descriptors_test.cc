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

  // Returns whether CloseScope makes the program's close of `fd` wait until the agent has closed
  // its own descriptor. Here the agent never closes it, so the wait ends after 50,000 short pauses.
  static bool Waits(int fd) {
    const auto begin = std::chrono::steady_clock::now();
    const CloseScope scope(fd);
    return std::chrono::steady_clock::now() - begin > std::chrono::microseconds(20);
  }
};

// The agent gets a number that the program has closed by a call without a hook, such as closedir().
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

// A signal handler may attach a forked child while the interrupted thread holds a descriptor of the
// agent.
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
