// SPDX-License-Identifier: Apache-2.0
#include "traces/recording/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/traces/support.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using testing::SmallRecording;

bool Nobody(std::uint32_t, std::uint64_t, std::uint32_t) {
  return false;
}

std::uint32_t NameHash(std::string_view name) {
  return static_cast<std::uint32_t>(wire::HashOf(name.data(), name.size()));
}

std::unique_ptr<Trace> DrainAll(RecordingWriter& recording) {
  RecordingDrain drain(recording.memory(), false);
  EXPECT_TRUE(drain.CheckHeader().has_value());
  TraceBuilder builder;
  drain.Finish(builder);
  return builder.Build();
}

TEST(DrainTest, ReadsEverythingASmallRecordingHolds) {
  RecordingWriter recording = SmallRecording();
  const auto trace = DrainAll(recording);
  EXPECT_EQ(trace->span_count(), 19u);  // 8 x (read, sample), 2 waits, 1 unfinished
  EXPECT_EQ(trace->events().size(), 2u);
  ASSERT_EQ(trace->counters().size(), 1u);
  EXPECT_EQ(trace->String(trace->counters()[0].name), "rss_bytes");
  EXPECT_EQ(trace->processes()[trace->counters()[0].process.value].pid, 101u);
  EXPECT_EQ(trace->threads().size(), 2u);
  EXPECT_FALSE(trace->losses().any());
}

TEST(DrainTest, ProcessesCarryTheirTexts) {
  RecordingWriter recording = SmallRecording();
  const auto trace = DrainAll(recording);
  ASSERT_EQ(trace->processes().size(), 2u);
  const ProcessInfo& consumer = trace->processes()[0];
  EXPECT_EQ(consumer.role, wire::kRoleConsumer);
  EXPECT_THAT(consumer.command, ::testing::ElementsAre("python", "train.py", "--epochs", "1"));
  EXPECT_EQ(consumer.facts.at("loader.0.num_workers"), "1");
  EXPECT_THAT(consumer.libraries, ::testing::ElementsAre("/usr/lib/libjpeg.so.62"));
  EXPECT_EQ(trace->processes()[1].worker_id, 0);
}

TEST(DrainTest, APreloadRecordingSaysWhatARecordedRunSays) {
  RecordingWriter recording = SmallRecording();
  const auto trace = DrainAll(recording);
  EXPECT_EQ(trace->facts().at("record.mode"), "preload");
  EXPECT_EQ(trace->facts().at("command"), "python train.py --epochs 1");
  EXPECT_EQ(trace->facts().at("host"), "testhost");
}

TEST(DrainTest, LinearCoverageIsThePairThatTheProcessTook) {
  RecordingWriter recording = SmallRecording();
  wire::ProcessSlot& slot = recording.header().processes[1];
  slot.bytes_hooked = 5000;
  slot.hooked_last = 4000;
  slot.rchar_at_start = 1000;
  slot.rchar_last = 5200;
  const auto trace = DrainAll(recording);
  EXPECT_EQ(trace->processes()[1].bytes_hooked.value, 4000u);
  EXPECT_EQ(trace->processes()[1].bytes_kernel.value, 4200u);
}

TEST(DrainTest, SpansCarryTheirPathAndTimes) {
  RecordingWriter recording = SmallRecording();
  const auto trace = DrainAll(recording);
  const std::vector<Span> spans = trace->Spans(ThreadId{1});
  ASSERT_GE(spans.size(), 2u);
  EXPECT_EQ(spans[0].stage, StageId::kSample);
  EXPECT_EQ(spans[0].cpu.value, 5'900'000);
  EXPECT_EQ(spans[1].stage, StageId::kRead);
  EXPECT_EQ(trace->String(spans[1].object), "/data/train/class000/image_00000.jpg");
  EXPECT_EQ(trace->String(spans[1].name), "posix");
  EXPECT_EQ(spans[1].busy.value, 50'000);
  EXPECT_EQ(spans[1].start.value, spans[0].start.value + 1000);
}

TEST(DrainTest, WhatADeadThreadWasDoingIsVisible) {
  RecordingWriter recording = SmallRecording();
  const auto trace = DrainAll(recording);
  std::vector<Span> unfinished;
  for (const Span& span : trace->Spans(ThreadId{1})) {
    if ((span.flags & wire::kFlagUnfinished) != 0) {
      unfinished.push_back(span);
    }
  }
  ASSERT_EQ(unfinished.size(), 1u);
  EXPECT_EQ(unfinished[0].stage, StageId::kRead);
  EXPECT_EQ(unfinished[0].sample, 1010);
  EXPECT_EQ(unfinished[0].end(), trace->threads()[1].last);
  EXPECT_GT(unfinished[0].duration.value, 0);
}

TEST(DrainTest, OnlyTheNewestChunkOfAThreadSaysWhatItWasDoing) {
  RecordingWriter recording({.mode = wire::kLinear, .chunks = 3});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  wire::Inflight open{};
  open.stage = wire::kSample;
  open.start = recording.options().start_ns;
  thread.Open(open);
  for (std::uint32_t i = 0; i < 2 * wire::kRecordsPerChunk; ++i) {
    thread.Write(SpanRecord(recording, wire::kRead, 0, recording.options().start_ns + i * 10, 5));
  }
  const auto trace = DrainAll(recording);
  EXPECT_EQ(trace->span_count(), 2 * wire::kRecordsPerChunk + 1u);
}

TEST(DrainTest, ATextThatComesAfterItsFirstUseIsFound) {
  RecordingWriter recording({.chunks = 4});
  const std::uint32_t slot = recording.AddProcess(1, 1, wire::kRoleOther, -1);
  RecordingWriter::Thread user(recording, slot, 1, "user");
  RecordingWriter::Thread author(recording, slot, 2, "author");
  const std::string path = "/data/a_path_that_is_longer_than_one_record_of_text_can_hold.jpg";
  wire::Record record =
      SpanRecord(recording, wire::kRead, NameHash("posix"), recording.options().start_ns, 10);
  record.object = wire::HashOf(path.data(), path.size());
  user.Write(record);
  author.Text(wire::kTextString, path);
  author.Text(wire::kTextString, "posix");
  const auto trace = DrainAll(recording);
  const Span span = trace->Spans(ThreadId{0}).at(0);
  EXPECT_EQ(trace->String(span.name), "posix");
  EXPECT_EQ(trace->String(span.object), path);
}

TEST(DrainTest, ATextThatNeverComesShowsItsNumber) {
  RecordingWriter recording({.chunks = 1});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  wire::Record record = SpanRecord(recording, wire::kRead, 0xabcd1234, 1'000'000'000'000, 10);
  record.object = 0x1122334455667788;
  thread.Write(record);
  const auto trace = DrainAll(recording);
  const Span span = trace->Spans(ThreadId{0}).at(0);
  EXPECT_EQ(trace->String(span.name), "#abcd1234");
  EXPECT_EQ(trace->String(span.object), "#1122334455667788");
}

TEST(DrainTest, DroppedRecordsAreCountedOnce) {
  RecordingWriter recording({.mode = wire::kLinear, .chunks = 1});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  for (std::uint32_t i = 0; i < wire::kRecordsPerChunk + 17; ++i) {
    thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000 + i, 1));
  }
  EXPECT_EQ(DrainAll(recording)->losses().dropped_events, 17u);
}

TEST(DrainTest, AThreadWithoutAProcessSlotIsKeptAndCounted) {
  RecordingWriter recording({.chunks = 1});
  RecordingWriter::Thread thread(recording, wire::kMaxProcesses, 9, "t");
  thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000, 1));
  const auto trace = DrainAll(recording);
  EXPECT_EQ(trace->span_count(), 1u);
  EXPECT_EQ(trace->losses().lost_threads, 1u);
  EXPECT_EQ(trace->processes()[0].pid, 4242u);
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

// A thread is killed while it has its old and its new chunk, with the same pending reads in both.
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

// If a collector is killed, another one reads the records that were not flushed from the ring.
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

TEST(DrainTest, AnOperationInFlightOfADeadThreadIsShown) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 1});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  thread.Write(SpanRecord(recording, wire::kRead, 0, 1'000'000'000'000, 5));
  recording.chunk(0).operation.start = 1'000'000'000'002;
  recording.chunk(0).operation.sample = 7;
  recording.chunk(0).operation.stage = wire::kDecode;
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  drain.Finish(builder);
  const auto trace = builder.Build();
  const std::vector<Span> spans = trace->Spans(ThreadId{0});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[1].stage, StageId::kDecode);
  EXPECT_EQ(spans[1].sample, 7);
  EXPECT_EQ(spans[1].flags, wire::kFlagUnfinished);
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

// Writers and the drain run at the same time, like agents and collector. For ThreadSanitizer too.
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
