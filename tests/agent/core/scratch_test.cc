// SPDX-License-Identifier: Apache-2.0

#include "agent/system/scratch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <thread>

#include "agent/core/process.h"

namespace penstock::agent {
namespace {

constexpr std::size_t kBuffers = 16;  // all buffers of a process
using AllBuffers = std::array<Scratch, kBuffers>;

// Acts as a parent and as the child that it forks. Both are this process; only the token changes.
class ScratchTest : public testing::Test {
 protected:
  void SetUp() override { SetScratchGuard(&token_); }
  void TearDown() override { SetScratchGuard(g_guard); }
  void BecomeAChild() { token_ = 0; }

  volatile std::uint64_t token_ = 4711;
};

TEST_F(ScratchTest, AForkedChildGetsTheBuffersOfItsParentsThreads) {
  std::latch taken(1);
  std::latch done(1);
  std::thread of_parent([&] {
    const AllBuffers buffers;
    EXPECT_NE(buffers.back().data(), nullptr);
    taken.count_down();
    done.wait();
  });
  taken.wait();
  EXPECT_EQ(Scratch().data(), nullptr);
  BecomeAChild();
  FreeScratchOfOthers();
  EXPECT_NE(Scratch().data(), nullptr);
  done.count_down();
  of_parent.join();
}

// Two threads of a child have their first event at the same time, and one of them attaches the
// process.
TEST_F(ScratchTest, AForkedChildKeepsTheBuffersOfItsOwnThreads) {
  BecomeAChild();
  std::latch taken(1);
  std::latch done(1);
  const char* held = nullptr;
  std::thread of_child([&] {
    const Scratch buffer;
    held = buffer.data();
    taken.count_down();
    done.wait();
  });
  taken.wait();
  FreeScratchOfOthers();
  EXPECT_NE(held, nullptr);
  {
    const AllBuffers buffers;
    for (const Scratch& buffer : buffers) EXPECT_NE(buffer.data(), held);
  }
  done.count_down();
  of_child.join();
}

}  // namespace
}  // namespace penstock::agent
