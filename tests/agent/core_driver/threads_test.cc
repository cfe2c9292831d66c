// SPDX-License-Identifier: Apache-2.0
//
// Many threads write while a drain takes their records. Each span is taken once or counted as
// dropped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "tests/agent/core_driver/ring.h"
#include "traces/wire.h"

namespace penstock::agent::driver {
namespace {

// Checks that no span was taken twice and that, of `writers` x `each` spans, exactly `lost` are
// missing.
void ExpectAll(const Taken& taken, std::uint64_t writers, std::uint64_t each, std::uint64_t lost) {
  EXPECT_EQ(taken.twice, 0u);
  EXPECT_EQ(taken.wrong, 0u);
  EXPECT_EQ(taken.losses.damaged_records, 0u);
  EXPECT_EQ(taken.losses.damaged_chunks, 0u);
  EXPECT_LE(taken.spans.size(), writers);
  EXPECT_EQ(taken.count + lost, writers * each);
}

TEST(CoreThreadsTest, ThreadsThatWriteAtOnceLoseNothing) {
  Ring ring(64);
  ring.StartDraining(200);
  constexpr std::uint64_t kWriters = 8;
  constexpr std::uint64_t kEach = 5 * kRecordsOfChunk + 17;
  std::vector<std::thread> threads;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    threads.emplace_back([w] {
      for (std::uint64_t n = 0; n < kEach; ++n) WriteSpan(static_cast<std::int64_t>(w), n);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  ExpectAll(taken, kWriters, kEach, dropped);
  EXPECT_EQ(taken.losses.dropped_events, dropped);
  EXPECT_EQ(ring.ChunksInUse(), 0u);
}

// Hundreds of threads write a few spans each and end. States and chunks are used again and again.
TEST(CoreThreadsTest, ThreadsThatComeAndGoLoseNothing) {
  Ring ring(128);
  ring.StartDraining(100);
  constexpr std::uint64_t kWriters = 600;
  constexpr std::uint64_t kEach = 3;
  for (std::uint64_t w = 0; w < kWriters; w += 12) {
    std::vector<std::thread> threads;
    for (std::uint64_t i = w; i < w + 12; ++i) {
      threads.emplace_back([i] {
        for (std::uint64_t n = 0; n < kEach; ++n) WriteSpan(static_cast<std::int64_t>(i), n);
        Begin(wire::kDecode, 0, __builtin_frame_address(0), false);  // left open
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::uint64_t dropped = ring.Dropped();
  ExpectAll(ring.StopDraining(), kWriters, kEach, dropped);
  EXPECT_EQ(ring.ChunksInUse(), 0u);
}

// Six threads share two chunks, and the drain comes only every 2 ms.
TEST(CoreThreadsTest, WhatFindsNoChunkIsCounted) {
  Ring ring(2);
  ring.StartDraining(2000);
  constexpr std::uint64_t kWriters = 6;
  constexpr std::uint64_t kEach = 20000;
  std::vector<std::thread> threads;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    threads.emplace_back([w] {
      for (std::uint64_t n = 0; n < kEach; ++n) WriteSpan(static_cast<std::int64_t>(w), n);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t dropped = ring.Dropped();
  const Taken& taken = ring.StopDraining();
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(taken.losses.dropped_events, dropped);
  // The command line and the facts of the process are records too, so up to 200 more may be
  // dropped.
  EXPECT_EQ(taken.twice, 0u);
  EXPECT_EQ(taken.wrong, 0u);
  EXPECT_GE(taken.count + dropped, kWriters * kEach);
  EXPECT_LE(taken.count + dropped, kWriters * kEach + 200);
  EXPECT_EQ(ring.ChunksInUse(), 0u);
}

// Several threads write nested spans, operations, events, counters and texts.
TEST(CoreThreadsTest, EveryTextIsSentOnceAndEverySpanHasItsEnd) {
  Ring ring(64);
  ring.StartDraining(200);
  constexpr int kWriters = 6;
  constexpr int kEach = 400;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([w] {
      for (int n = 0; n < kEach; ++n) {
        const std::string own = fmt::format("text {} of {}", n, w);
        const std::string shared = fmt::format("text {} of all, {}", n,
                                               std::string(static_cast<std::size_t>(n % 300), 'x'));
        Intern(own.data(), own.size());
        Intern(shared.data(), shared.size());
        const Context context{n, static_cast<std::uint32_t>(w), 1};
        const Token sample = BeginPython(wire::kSample, 0, &context);
        const Token inner = Begin(wire::kAugment, 0, nullptr, true);
        if (Operation* o = AddOperation(&own); o != nullptr) {
          ShowOperation(wire::kAugment, 0, Now());
          HideOperation();
          o->key = nullptr;
        }
        if (n % 7 == 0) {
          Cancel(inner);
        } else {
          End(inner, 1, 2, 0);
        }
        End(sample, 0, 0, 0);
        EmitEvent(wire::kBatchDelivered, context, n);
        EmitCounter(1, n);
        SetFeature(wire::kFeaturePython);
        AddHooked(1);
        AddMapped(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ring.Dropped(), 0u);
  EXPECT_EQ(g_slot->bytes_hooked, static_cast<std::uint64_t>(kWriters) * kEach);
  const Taken& taken = ring.StopDraining();
  EXPECT_EQ(taken.losses.damaged_records, 0u);
  EXPECT_EQ(taken.events, static_cast<std::uint64_t>(kWriters) * kEach);
  EXPECT_EQ(taken.unfinished, 0u);
}

}  // namespace
}  // namespace penstock::agent::driver
