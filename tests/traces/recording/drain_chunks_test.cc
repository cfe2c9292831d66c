// SPDX-License-Identifier: Apache-2.0
//
// Drains while the recording goes on: which chunks are given back and when, and what is read again.
#include "traces/recording/recording.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/traces/support.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using testing::NameHash;
using testing::SmallRecording;

bool Nobody(std::uint32_t, std::uint64_t, std::uint32_t) {
  return false;
}

TEST(DrainTest, ARecycledRingLosesNothing) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 3});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  constexpr std::uint32_t kRecords = 20'000;
  for (std::uint32_t i = 0; i < kRecords; ++i) {
    ASSERT_TRUE(thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000 + i * 10, 5)));
    if (i % 700 == 0) {
      drain.Drain(builder, Nobody);
      drain.Release();
    }
  }
  drain.Finish(builder);
  drain.Release();
  const auto trace = builder.Build();
  EXPECT_EQ(trace->span_count(), kRecords);
  EXPECT_EQ(trace->threads().size(), 1u);
  EXPECT_FALSE(trace->losses().any());
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(recording.chunk(i).state, wire::kChunkFree);
  }
}

TEST(DrainTest, ADeadThreadsChunkIsGivenBack) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 1});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000, 5));
  wire::Inflight open{};
  open.stage = wire::kDecode;
  open.start = 1'000'000'000'001;
  thread.Open(open);
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  EXPECT_EQ(drain.Drain(builder, Nobody), 1u);
  EXPECT_EQ(recording.chunk(0).state, wire::kChunkOwned);
  drain.Drain(builder, [](std::uint32_t pid, std::uint64_t, std::uint32_t) { return pid == 1; });
  drain.Release();
  EXPECT_EQ(recording.chunk(0).state, wire::kChunkFree);
  EXPECT_EQ(recording.chunk(0).inflight_depth, 0u);
  drain.Finish(builder);
  EXPECT_EQ(builder.Build()->span_count(), 2u);
}

// A thread is killed while it owns its old and its new chunk, with the same pending reads in both.
// It dies between the collector's visits to the two chunks.
TEST(DrainTest, ReadsThatArePendingInTwoChunksAreOneSpan) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 3});
  const std::uint32_t slot = recording.AddProcess(7, 1, wire::kRoleOther, -1);
  const auto write = [&](std::uint32_t tid) {
    RecordingWriter::Thread thread(recording, slot, tid, "t");
    ASSERT_TRUE(thread.Write(SpanRecord(recording, wire::kDecode, 0, 1'000'000'000'000, 5)));
  };
  write(7);
  write(7);
  for (const std::uint32_t i : {0u, 1u}) {
    wire::PendingRead& read = recording.chunk(i).pending[0];
    read.first = recording.chunk(i).anchor.ticks + 10;
    read.last = read.first + 10;
    read.bytes = 4096;
  }
  recording.chunk(1).previous = recording.chunk(0).anchor.ticks;
  recording.chunk(1).anchor.ticks += 1;
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  int asked = 0;
  const auto dies = [&](std::uint32_t, std::uint64_t, std::uint32_t) { return ++asked > 1; };
  for (int round = 0; round < 3; ++round) {
    drain.Drain(builder, dies);
    drain.Release();
  }
  drain.Finish(builder);
  const auto trace = builder.Build();
  EXPECT_EQ(trace->span_count(), 3u);
  EXPECT_EQ(recording.chunk(0).state, wire::kChunkFree);
  EXPECT_EQ(recording.chunk(1).state, wire::kChunkFree);
}

// A process is killed after the compare-and-swap that takes a chunk, before it stores its pid.
TEST(DrainTest, AChunkWhoseClaimerDiedIsGivenBack) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 2});
  const std::uint32_t slot = recording.AddProcess(7, 1, wire::kRoleOther, -1);
  RecordingWriter::Thread other(recording, recording.AddProcess(8, 1, wire::kRoleOther, -1), 8,
                                "t");
  recording.chunk(0).state = wire::kChunkOwned | (slot + 1) << wire::kChunkClaimerShift;
  ASSERT_TRUE(other.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000, 5)));
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  drain.Drain(builder, Nobody);
  drain.Release();
  EXPECT_NE(recording.chunk(0).state, wire::kChunkFree) << "it is alive";
  std::uint32_t asked = ~0u;
  drain.Drain(builder, [&](std::uint32_t pid, std::uint64_t, std::uint32_t tid) {
    asked = pid == 7 ? tid : asked;
    return pid == 7;
  });
  EXPECT_EQ(asked, 0u) << "any thread of it may have claimed";
  EXPECT_EQ(recording.chunk(0).state, wire::kChunkFree);
  EXPECT_EQ(recording.chunk(1).state & wire::kChunkStateMask, wire::kChunkOwned);
  drain.Finish(builder);
  EXPECT_EQ(builder.Build()->span_count(), 1u);
}

// If a collector is killed, another one reads from the ring the records that were not flushed.
TEST(DrainTest, WhatIsNotReleasedIsReadAgain) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 2});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  const auto write = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000 + i * 10, 5));
    }
  };
  const auto left = [&] {
    RecordingDrain drain(recording.memory(), true);
    drain.ContinueFrom(1);
    TraceBuilder builder;
    return drain.Drain(builder, Nobody);
  };
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  write(1500);  // one full chunk and half of the next
  EXPECT_EQ(drain.Drain(builder, Nobody), 1500u);
  EXPECT_EQ(left(), 1500u);
  drain.SaveProgress(1);
  EXPECT_EQ(left(), 0u);
  drain.Release();
  EXPECT_EQ(left(), 0u);
  write(10);
  EXPECT_EQ(left(), 10u);
}

TEST(DrainTest, ADrainTellsTheProcessOfASlot) {
  RecordingWriter recording = SmallRecording();
  RecordingDrain drain(recording.memory(), false);
  TraceBuilder builder;
  ProcessId id;
  EXPECT_FALSE(drain.ProcessOf(101, 5010, &id));
  drain.Drain(builder, Nobody);
  ASSERT_TRUE(drain.ProcessOf(101, 5010, &id));
  EXPECT_EQ(builder.Take().processes.at(id.value).pid, 101u);
}

// Writers and the drain run at the same time, like agents and collector. ThreadSanitizer can check
// this test.
TEST(DrainTest, DrainingWhileThreadsWriteLosesNothing) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 12});
  const std::uint32_t slot = recording.AddProcess(1, 1, wire::kRoleOther, -1);
  constexpr std::uint32_t kThreads = 3;
  constexpr std::uint32_t kRecords = 30'000;
  std::atomic<std::uint32_t> running{kThreads};
  std::vector<std::thread> writers;
  std::atomic<std::uint64_t> written{0};
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      RecordingWriter::Thread thread(recording, slot, 10 + t, "writer");
      thread.Text(wire::kTextString, "name" + std::to_string(t));
      for (std::uint32_t i = 0; i < kRecords; ++i) {
        wire::Record record =
            SpanRecord(recording, wire::kRead, NameHash("name" + std::to_string(t)),
                       1'000'000'000'000 + i * 100, 50);
        record.bytes = i;
        while (!thread.Write(record)) {
          std::this_thread::yield();
        }
        written.fetch_add(1, std::memory_order_relaxed);
      }
      thread.Exit();
      running.fetch_sub(1, std::memory_order_release);
    });
  }
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  while (running.load(std::memory_order_acquire) != 0) {
    drain.Drain(builder, Nobody);
    drain.Release();
    std::this_thread::yield();
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  drain.Finish(builder);
  const auto trace = builder.Build();
  EXPECT_EQ(trace->span_count(), written.load());
  EXPECT_EQ(trace->span_count(), kThreads * kRecords);
  EXPECT_EQ(trace->losses().damaged_records, 0u);
  for (std::uint32_t t = 0; t < trace->threads().size(); ++t) {
    const std::vector<Span> spans = trace->Spans(ThreadId{t});
    for (std::size_t i = 0; i < spans.size(); ++i) {
      ASSERT_EQ(spans[i].bytes.value, i);
    }
  }
}

// A linear recording that grows while it is read.
TEST(DrainTest, ALinearRecordingIsReadIncrementally) {
  RecordingWriter recording({.mode = wire::kLinear, .chunks = 40});
  const std::uint32_t slot = recording.AddProcess(1, 1, wire::kRoleOther, -1);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    RecordingWriter::Thread thread(recording, slot, 1, "t");
    for (std::uint32_t i = 0; i < 30'000; ++i) {
      thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000 + i * 10, 5));
    }
    done.store(true, std::memory_order_release);
  });
  RecordingDrain drain(recording.memory(), false);
  TraceBuilder builder;
  std::uint64_t taken = 0;
  while (!done.load(std::memory_order_acquire)) {
    taken += drain.Drain(builder, Nobody);
    std::this_thread::yield();
  }
  writer.join();
  drain.Finish(builder);
  EXPECT_LE(taken, 30'000u);
  EXPECT_EQ(builder.Build()->span_count(), 30'000u);
}

}  // namespace
}  // namespace penstock::traces
