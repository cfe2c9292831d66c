// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "agent/record/collect/arena.h"
#include "agent/record/sample/clock.h"
#include "agent/record/sample/enrich.h"
#include "agent/record/sample/liveness.h"
#include "agent/record/sample/proc_sampler.h"
#include "traces/pack.h"
#include "traces/recording/recording.h"

namespace penstock::record {
namespace {

TEST(ProcSlotsTest, FreesTheSlotOfAReplacedProgramOnlyAfterTheTimeBetweenTwoDrains) {
  char name[] = "/tmp/penstock-slots-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::filesystem::path folder = name;
  ArenaRequest request;
  request.use_segment = false;
  request.shm_folder = folder;
  request.buffer = Bytes{1u << 20};
  auto arena = Arena::Create(request, Clock::Choose(true));
  ASSERT_TRUE(arena) << arena.error().message;
  auto packed = traces::CreatePacked(folder / "t");
  ASSERT_TRUE(packed) << packed.error().message;
  EnrichingPacker packer(std::move(*packed));
  traces::RecordingDrain drain(arena->memory(), true);
  ASSERT_TRUE(drain.CheckHeader());
  Liveness liveness(arena->header());
  ProcSampler sampler(arena->header(), drain, liveness, packer, MemoryWalks{});

  constexpr std::uint32_t kCount = wire::kMaxProcesses / 4;  // if fewer are taken, none is freed
  for (std::uint32_t i = 0; i < kCount; ++i) {
    arena->header().processes[i].pid = 1000 + i;
    arena->header().processes[i].state = wire::kProcessReplaced;
  }
  const auto replaced = [&] {
    std::uint32_t count = 0;
    for (const wire::ProcessSlot& slot : arena->header().processes) {
      count += slot.state == wire::kProcessReplaced ? 1u : 0u;
    }
    return count;
  };
  // A slot rests for 150 ms, which is longer than the collector waits between two drains.
  const TimeNs begin = MonotonicNow();
  sampler.FreeEnded(begin);
  EXPECT_EQ(replaced(), kCount);
  sampler.FreeEnded(begin + TimeNs{100'000'000});
  EXPECT_EQ(replaced(), kCount);
  sampler.FreeEnded(begin + TimeNs{300'000'000});
  EXPECT_EQ(replaced(), 0u);

  packer.Discard();
  arena->Unlink();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace penstock::record
