// SPDX-License-Identifier: Apache-2.0
//
// Drains recordings in which reads were pending when their thread was killed. traces/FORMAT.md,
// "What was pending", has a table of the moments at which a thread may be killed.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/traces/support.h"
#include "traces/recording/recording.h"
#include "traces/trace_builder.h"
#include "traces/validate.h"

namespace penstock::traces {
namespace {

constexpr std::uint64_t kBytes = 1000;

class PendingTest : public ::testing::TestWithParam<wire::FileMode> {
 protected:
  PendingTest()
      : recording_({.mode = GetParam(), .chunks = 4}),
        slot_(recording_.AddProcess(70, 7, wire::kRoleOther, -1)),
        thread_(recording_, slot_, 70, "t") {
    // A first record, so that the thread has a chunk.
    thread_.Write(SpanRecord(recording_, wire::kDecode, 0, Start(), 10));
  }

  [[nodiscard]] std::uint64_t Start() const { return recording_.options().start_ns; }

  // Makes a read of `bytes` pending in chunk `i`, in entry `place`.
  wire::PendingRead& Pend(std::uint32_t i, std::uint32_t place, std::uint64_t bytes = kBytes) {
    wire::PendingRead& read = recording_.chunk(i).pending[place];
    read.object = 5;
    read.first = recording_.Ticks(Start() + 100);
    read.last = recording_.Ticks(Start() + 300);
    read.busy = recording_.Ticks(Start() + 150) - recording_.Ticks(Start());
    read.bytes = bytes;
    read.sample = 17;
    read.batch = 3;
    read.generation = 1;
    return read;
  }

  wire::Record RecordOf(const wire::PendingRead& read) {
    wire::Record record{};
    record.kind = wire::kKindSpan;
    record.stage = wire::kRead;
    record.start = read.first;
    record.duration = read.last - read.first;
    record.work = read.busy;
    record.bytes = read.bytes;
    record.sample = read.sample;
    record.object = read.object;
    record.batch = read.batch;
    record.generation = read.generation;
    record.flags = wire::kFlagBusy;
    return record;
  }

  wire::ProcessSlot& Slot() { return recording_.header().processes[slot_]; }

  struct Found {
    std::uint64_t bytes = 0;
    std::uint64_t spans = 0;
    Span last;
    ProcessInfo process;
  };
  Found Drain() {
    RecordingDrain drain(recording_.memory(), false);
    TraceBuilder builder;
    drain.Finish(builder);
    const auto trace = builder.Build();
    Found found;
    found.process = trace->processes()[0];
    for (std::uint32_t i = 0; i < trace->threads().size(); ++i) {
      for (const Span& span : trace->Spans(ThreadId{i})) {
        if (span.stage == StageId::kRead) {
          found.bytes += span.bytes.value;
          ++found.spans;
          found.last = span;
        }
      }
    }
    return found;
  }

  RecordingWriter recording_;
  std::uint32_t slot_;
  RecordingWriter::Thread thread_;
};

INSTANTIATE_TEST_SUITE_P(Modes, PendingTest, ::testing::Values(wire::kLinear, wire::kRing),
                         [](const auto& param) {
                           return std::string(param.param == wire::kRing ? "ring" : "linear");
                         });

TEST_P(PendingTest, APendingReadBecomesASpan) {
  Pend(0, 2);
  Slot().bytes_dataset = kBytes;
  const Found found = Drain();
  EXPECT_EQ(found.bytes, kBytes);
  EXPECT_EQ(found.spans, 1u);
  EXPECT_EQ(found.last.sample, 17);
  EXPECT_EQ(found.last.duration.value, 200);
  EXPECT_EQ(found.last.busy.value, 150);
  EXPECT_EQ(found.last.flags, wire::kFlagBusy);
  EXPECT_EQ(found.process.bytes_dataset.value, kBytes);
  EXPECT_TRUE(found.process.counted);
  EXPECT_EQ(found.process.bytes_open.value, 0u);
}

TEST_P(PendingTest, APendingReadWithoutBytesBecomesNoSpan) {
  Pend(0, 0, 0);
  EXPECT_EQ(Drain().spans, 0u);
}

TEST_P(PendingTest, AReadThatWasBeingCountedMayBeMissing) {
  Pend(0, 0);
  recording_.chunk(0).counting = 64;
  Slot().bytes_dataset = kBytes + 64;
  const Found found = Drain();
  EXPECT_EQ(found.bytes, kBytes);
  EXPECT_EQ(found.process.bytes_open.value, 64u);
}

TEST_P(PendingTest, APendingReadCountsUntilItsRecordIsThere) {
  Pend(0, 1);
  recording_.chunk(0).closing = wire::Closing(1, recording_.chunk(0).committed);
  EXPECT_EQ(Drain().bytes, kBytes);
  EXPECT_EQ(Drain().spans, 1u);
}

TEST_P(PendingTest, APendingReadNoLongerCountsBesideItsRecord) {
  const wire::PendingRead read = Pend(0, 1);
  recording_.chunk(0).closing = wire::Closing(1, recording_.chunk(0).committed);
  thread_.Write(RecordOf(read));
  EXPECT_EQ(Drain().bytes, kBytes);
  EXPECT_EQ(Drain().spans, 1u);
  // Other pending reads still count.
  Pend(0, 3, 5);
  EXPECT_EQ(Drain().bytes, kBytes + 5);
  recording_.chunk(0).pending[1].bytes = 0;
  EXPECT_EQ(Drain().bytes, kBytes + 5);
  recording_.chunk(0).closing = 0;
  EXPECT_EQ(Drain().bytes, kBytes + 5);
}

TEST_P(PendingTest, AReadThatWasJustCountedAsLostIsInASpanAndOpen) {
  Pend(0, 0);
  recording_.chunk(0).closing = wire::Closing(0, wire::kClosingLost);
  Slot().bytes_lost = kBytes;
  const Found found = Drain();
  EXPECT_EQ(found.bytes, kBytes);
  EXPECT_EQ(found.process.bytes_lost.value, kBytes);
  EXPECT_EQ(found.process.bytes_open.value, kBytes);
}

// Makes the header of chunk `to` as the agent does before it gives up chunk `from`.
void TakeOver(RecordingWriter& recording, std::uint32_t from, std::uint32_t to, std::uint32_t pid) {
  const wire::ChunkHeader& old = recording.chunk(from);
  wire::ChunkHeader& chunk = recording.chunk(to);
  std::memcpy(&chunk, &old, sizeof chunk);
  chunk.index = to;
  chunk.sequence = old.sequence + 1;
  chunk.committed = 0;
  chunk.previous = old.anchor.ticks;
  chunk.anchor.ticks += 1000;
  chunk.anchor.monotonic_ns += 1000;
  chunk.state = wire::kChunkOwned;
  chunk.pid = pid;
}

TEST_P(PendingTest, TheOldChunkCountsUntilTheNewOneIsClaimed) {
  Pend(0, 0);
  TakeOver(recording_, 0, 1, 0);
  EXPECT_EQ(Drain().bytes, kBytes);
  EXPECT_EQ(Drain().process.pid, 70u);
}

TEST_P(PendingTest, OfTwoOwnedChunksTheOneThatNamesTheOtherCounts) {
  Pend(0, 0);
  TakeOver(recording_, 0, 1, 70);
  EXPECT_EQ(Drain().bytes, kBytes);
  EXPECT_EQ(Drain().spans, 1u);
}

TEST_P(PendingTest, PendingReadsOfAFullChunkNoLongerCount) {
  Pend(0, 0);
  TakeOver(recording_, 0, 1, 70);
  recording_.chunk(0).state = wire::kChunkFull;
  EXPECT_EQ(Drain().bytes, kBytes);
  recording_.chunk(1).pending[0].bytes = 0;
  EXPECT_EQ(Drain().bytes, 0u);
}

// A thread ended without giving its chunk back, and a later thread has the same tid.
TEST_P(PendingTest, TwoThreadsThatHadTheSameNumberBothCount) {
  Pend(0, 0);
  RecordingWriter::Thread later(recording_, slot_, 70, "t");
  later.Write(SpanRecord(recording_, wire::kDecode, 0, Start() + 1000, 10));
  Pend(1, 0, 5);
  EXPECT_EQ(Drain().bytes, kBytes + 5);
}

// Without a collector, a thread writes its full chunk to the file, with a pending read, and goes on
// in the same memory. It is killed before it stores the new chunk's own anchor.
TEST_P(PendingTest, AChunkInTheFileDoesNotCountBesideItsSuccessor) {
  if (GetParam() != wire::kLinear) return;
  Pend(0, 0);
  TakeOver(recording_, 0, 1, 70);
  recording_.chunk(1).anchor.ticks = recording_.chunk(1).previous;  // not yet stored
  recording_.chunk(1).pending[0].bytes += 7;
  EXPECT_EQ(Drain().bytes, kBytes + 7);
}

TEST_P(PendingTest, AnExecedProcessHasTheBytesOfBothPrograms) {
  Pend(0, 0);
  Slot().bytes_dataset = kBytes;
  Slot().state = wire::kProcessReplaced;
  const std::uint32_t next = recording_.AddProcess(70, 7, wire::kRoleOther, -1);
  RecordingWriter::Thread other(recording_, next, 70, "t");
  other.Write(SpanRecord(recording_, wire::kDecode, 0, Start() + 1000, 10));
  Pend(1, 0, 20);
  recording_.header().processes[next].bytes_dataset = 20;
  const Found found = Drain();
  EXPECT_EQ(found.bytes, kBytes + 20);
  EXPECT_EQ(found.process.bytes_dataset.value, kBytes + 20);
}

TEST(PendingRingTest, TheThreadsOfAnExecedProcessAreDead) {
  RecordingWriter recording({.mode = wire::kRing, .chunks = 4});
  const std::uint32_t slot = recording.AddProcess(70, 7, wire::kRoleOther, -1);
  RecordingWriter::Thread thread(recording, slot, 70, "t");
  thread.Write(SpanRecord(recording, wire::kDecode, 0, recording.options().start_ns, 10));
  RecordingDrain drain(recording.memory(), true);
  TraceBuilder builder;
  const auto nobody = [](std::uint32_t, std::uint64_t, std::uint32_t) { return false; };
  drain.Drain(builder, nobody);
  drain.Release();
  EXPECT_EQ(recording.chunk(0).state, wire::kChunkOwned);
  recording.header().processes[slot].state = wire::kProcessReplaced;
  drain.Drain(builder, nobody);
  drain.Release();
  EXPECT_EQ(recording.chunk(0).state, wire::kChunkFree);
}

TEST(PendingOldTest, MinorVersion0CountedNoBytes) {
  RecordingWriter recording({.mode = wire::kLinear, .chunks = 2});
  recording.header().minor = 0;
  const std::uint32_t slot = recording.AddProcess(70, 7, wire::kRoleOther, -1);
  RecordingWriter::Thread thread(recording, slot, 70, "t");
  thread.Write(SpanRecord(recording, wire::kDecode, 0, recording.options().start_ns, 10));
  recording.header().processes[slot].bytes_dataset = 999;
  RecordingDrain drain(recording.memory(), false);
  TraceBuilder builder;
  drain.Finish(builder);
  EXPECT_FALSE(builder.Build()->processes()[0].counted);
}

TEST(BalanceTest, ReadsThatAreMissingAreAProblem) {
  RecordingWriter recording = testing::SmallRecording();
  testing::TempFolder folder;
  testing::WriteFile(folder / "a.recording", testing::Bytes(recording));
  auto report = ValidateTrace(folder / "a.recording");
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->sound());
  EXPECT_EQ(report->balanced, 2u);
  EXPECT_GT(report->files.in_spans.value, 0u);
  EXPECT_EQ(report->files.in_spans, report->files.counted);

  recording.header().processes[1].bytes_dataset += 4096;
  testing::WriteFile(folder / "b.recording", testing::Bytes(recording));
  report = ValidateTrace(folder / "b.recording");
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_NE(report->problems[0].find("4096 bytes less"), std::string::npos) << report->problems[0];

  // Bytes may be missing if a thread was killed while it was counting a read of at least that size.
  recording.chunk(1).counting = 5000;
  testing::WriteFile(folder / "c.recording", testing::Bytes(recording));
  report = ValidateTrace(folder / "c.recording");
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->sound()) << ToJson(*report);
  EXPECT_EQ(report->files.open.value, 4096u);
}

}  // namespace
}  // namespace penstock::traces
