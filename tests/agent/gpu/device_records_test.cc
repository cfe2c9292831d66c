// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/device_records.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "agent/core/linear_chunks.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "tests/agent/core/recorder_fixture.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

constexpr std::uint32_t kListed = 1 << 16;        // calls that wait in the table for their work
constexpr std::uint32_t kThread = (1 << 22) + 1;  // beyond the largest id of a thread

void Launch(std::uint32_t correlation, std::uint32_t tid) {
  const std::uint64_t now = Now();
  AddCall({now, now, correlation, tid, "cudaLaunchKernel", CallClass::kLaunch, true});
}

// Returns the stages of the records in the chunks of thread `tid`. EndRound(true) frees these
// chunks.
std::vector<Stage> Written(std::uint32_t tid) {
  std::vector<Stage> stages;
  for (std::uint32_t i = 0; i < g_header->chunk_count; ++i) {
    const wire::ChunkHeader* chunk = ChunkAt(i);
    if (!IsInUse(chunk) || chunk->tid != tid) continue;
    const auto* records = reinterpret_cast<const wire::Record*>(
        reinterpret_cast<const char*>(chunk) + wire::kChunkHeaderSize);
    for (std::uint32_t at = 0; at < chunk->committed; ++at) {
      stages.push_back(static_cast<Stage>(records[at].stage));
    }
  }
  return stages;
}

// A launch that is captured into a CUDA graph starts no work. Here that is call 1. Calls with a
// number larger by kListed share its place in the table, but call kListed + 1 is not recorded.
TEST_F(RecorderTest, ACallWithoutWorkIsWrittenWhenTheListIsFull) {
  ASSERT_TRUE(PrepareDeviceRecords());
  Launch(1, kThread);
  for (std::uint32_t correlation = 2; correlation <= kListed; ++correlation) {
    Launch(correlation, kThread + 1);
  }
  EXPECT_TRUE(Written(kThread).empty());
  Launch(kListed + 2, kThread + 1);
  EXPECT_EQ(Written(kThread), std::vector<Stage>{wire::kCall});
  EndRound(true);
}

TEST_F(RecorderTest, AWaitMayComeBeforeItsCall) {
  ASSERT_TRUE(PrepareDeviceRecords());
  const std::uint32_t tid = kThread + 2;
  const std::uint64_t now = Now();
  AddSync(7, now, now + 10);  // inside cudaFree
  AddSync(8, now, now + 10);  // the same wait as call 8
  AddSync(9, now, now + 10);  // its call is not recorded
  AddCall({now, now + 20, 7, tid, "cudaFree", CallClass::kOther, true});
  AddCall({now, now + 20, 8, tid, "cudaStreamSynchronize", CallClass::kSync, true});
  EXPECT_EQ(Written(tid), (std::vector<Stage>{wire::kCall, wire::kSync}));
  EndRound(false);
  EXPECT_EQ(Written(tid), (std::vector<Stage>{wire::kCall, wire::kSync, wire::kSync}));
  EndRound(false);
  EXPECT_EQ(Written(tid).size(), 3u) << "each wait once";
  EndRound(true);
}

}  // namespace
}  // namespace penstock::agent
