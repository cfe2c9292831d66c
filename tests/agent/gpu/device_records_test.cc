// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/device_records.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "agent/core/linear_chunks.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "tests/agent/core/recorder_fixture.h"
#include "traces/wire.h"

namespace penstock::agent {
namespace {

constexpr std::uint32_t kListed = 1 << 16;        // calls that are kept until their work comes
constexpr std::uint32_t kThread = (1 << 22) + 1;  // beyond the largest id of a thread

void Launch(std::uint32_t correlation, std::uint32_t tid) {
  const std::uint64_t now = Now();
  AddCall({now, now, correlation, tid, "cudaLaunchKernel", CallClass::kLaunch, true});
}

// Whether a record of this thread was written.
bool HasChunk(std::uint32_t tid) {
  for (std::uint32_t i = 0; i < g_header->chunk_count; ++i) {
    const wire::ChunkHeader* chunk = ChunkAt(i);
    if (IsInUse(chunk) && chunk->tid == tid) return true;
  }
  return false;
}

// A launch that is captured into a CUDA graph starts no work. The call that would take its place in
// the table, number kListed + 1, is one that is not recorded.
TEST_F(RecorderTest, ACallWithoutWorkIsWrittenWhenTheListIsFull) {
  ASSERT_TRUE(PrepareDeviceRecords());
  Launch(1, kThread);
  for (std::uint32_t correlation = 2; correlation <= kListed; ++correlation) {
    Launch(correlation, kThread + 1);
  }
  EXPECT_FALSE(HasChunk(kThread));
  Launch(kListed + 2, kThread + 1);
  EXPECT_TRUE(HasChunk(kThread));
  EndRound(true);
}

}  // namespace
}  // namespace penstock::agent
