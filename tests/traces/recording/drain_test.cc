// SPDX-License-Identifier: Apache-2.0
//
// Checks the trace that draining a recording gives.
#include "traces/recording/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/traces/support.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using testing::NameHash;
using testing::SmallRecording;

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

}  // namespace
}  // namespace penstock::traces
