// SPDX-License-Identifier: Apache-2.0
//
// Reads files that are cut at any byte or have any one bit flipped. No such file may crash the
// reader or yield a span that was not recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/traces/support.h"
#include "traces/recording/recording.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using testing::Bytes;
using ::testing::IsEmpty;
using testing::Known;
using testing::SmallRecording;

// Drains exactly these bytes, as OpenTrace() does, but without a copy of the whole file.
std::unique_ptr<Trace> DrainAll(std::span<std::byte> bytes) {
  RecordingDrain drain(bytes, false);
  if (!drain.CheckHeader()) {
    return nullptr;
  }
  TraceBuilder builder;
  drain.Finish(builder);
  return builder.Build();
}

std::unique_ptr<Trace> Open(std::vector<std::byte> bytes) {
  auto trace = OpenTraceBytes(std::move(bytes), "test");
  return trace ? std::move(*trace) : nullptr;
}

// A small packed trace with every kind of section.
std::vector<std::byte> SmallPacked() {
  const testing::TempFolder folder;
  RecordingWriter recording = SmallRecording({.chunks = 2});
  testing::WriteFile(folder / "r", Bytes(recording));
  EXPECT_TRUE(PackTrace(folder / "r", folder / "p").has_value());
  return testing::ReadFile(folder / "p");
}

TEST(DamageTest, ARecordingCutAtAnyByteIsReadAsFarAsItGoes) {
  RecordingWriter recording = SmallRecording({.chunks = 2});
  std::vector<std::byte> whole = Bytes(recording);
  const auto sound = DrainAll(whole);
  ASSERT_NE(sound, nullptr);
  const Known known(*sound);
  std::uint64_t before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // In the empty part of a chunk the file is cut at every 331st byte only.
    const std::size_t in_chunk =
        size < wire::kHeaderSize ? size : (size - wire::kHeaderSize) % wire::kChunkSize;
    if (in_chunk > 6000 && size % 331 != 0) {
      continue;
    }
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto trace = DrainAll(cut);
    if (trace == nullptr) {
      ASSERT_LT(size, wire::kHeaderSize);
      continue;
    }
    ASSERT_THAT(known.Invented(*trace), IsEmpty()) << size;
    ASSERT_TRUE(trace->losses().truncated) << size;
    ASSERT_GE(trace->span_count() + 1, before) << size;  // + 1: the unfinished span may be missing
    before = trace->span_count();
  }
}

TEST(DamageTest, ARecordingWithAnyBitFlippedYieldsNoInventedSpan) {
  RecordingWriter recording = SmallRecording({.chunks = 2});
  std::vector<std::byte> bytes = Bytes(recording);
  const auto sound = DrainAll(bytes);
  ASSERT_NE(sound, nullptr);
  const Known known(*sound);
  std::uint64_t reported = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::size_t in_chunk =
        at < wire::kHeaderSize ? at : (at - wire::kHeaderSize) % wire::kChunkSize;
    const bool used = in_chunk < 5000;
    if (!used && at % 61 != 0) {
      continue;
    }
    for (int bit = 0; bit < 8; ++bit) {
      const std::byte flip{static_cast<unsigned char>(1 << bit)};
      bytes[at] ^= flip;
      const auto trace = DrainAll(bytes);
      if (trace != nullptr) {
        ASSERT_THAT(known.Invented(*trace), IsEmpty()) << "byte " << at << " bit " << bit;
        reported += trace->losses().any() ? 1u : 0u;
      }
      bytes[at] ^= flip;
    }
  }
  EXPECT_GT(reported, 1000u);
}

TEST(DamageTest, AFlippedBitInARecordCostsThatRecordAlone) {
  RecordingWriter recording = SmallRecording();
  std::vector<std::byte> bytes = Bytes(recording);
  const auto sound = DrainAll(bytes);
  // Flips a bit in each span record of the two chunks.
  for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
    for (std::uint32_t i = 0; i < recording.chunk(chunk).committed; ++i) {
      const std::size_t at = wire::kHeaderSize + chunk * std::size_t{wire::kChunkSize} +
                             wire::kChunkHeaderSize + i * std::size_t{wire::kRecordSize};
      if (bytes[at] != std::byte{wire::kKindSpan}) {
        continue;
      }
      bytes[at + 20] ^= std::byte{4};
      const auto trace = DrainAll(bytes);
      EXPECT_EQ(trace->losses().damaged_records, 1u);
      EXPECT_EQ(trace->span_count() + 1, sound->span_count());
      bytes[at + 20] ^= std::byte{4};
    }
  }
}

TEST(DamageTest, AChunkWithAWrongMagicIsSkippedAndCounted) {
  RecordingWriter recording = SmallRecording();
  recording.chunk(0).magic ^= 1;
  const auto trace = DrainAll(recording.memory());
  EXPECT_EQ(trace->losses().damaged_chunks, 1u);
  EXPECT_GT(trace->span_count(), 0u);
}

TEST(DamageTest, ACountBeyondTheChunkIsDamageAndWhatIsThereIsRead) {
  RecordingWriter recording = SmallRecording();
  const auto sound = DrainAll(recording.memory());
  recording.chunk(1).committed = 0x7fffffff;
  const auto trace = DrainAll(recording.memory());
  EXPECT_EQ(trace->losses().damaged_chunks, 1u);
  EXPECT_EQ(trace->span_count(), sound->span_count());
}

TEST(DamageTest, ATimeFarOutsideTheRunIsDamage) {
  RecordingWriter recording({.chunks = 2});
  const std::uint32_t slot = recording.AddProcess(1, 1, wire::kRoleOther, -1);
  RecordingWriter::Thread thread(recording, slot, 1, "t");
  const std::uint64_t start = recording.options().start_ns;
  thread.Write(SpanRecord(recording, wire::kRead, 0, start, 1000));
  thread.Write(SpanRecord(recording, wire::kRead, 0, start, 1'000'000'000'000'000'000));
  const auto trace = DrainAll(recording.memory());
  EXPECT_EQ(trace->span_count(), 1u);
  EXPECT_EQ(trace->losses().damaged_records, 1u);
}

TEST(DamageTest, ATimeThatNoPackedTraceHoldsIsDamageWhateverAnAnchorSays) {
  RecordingWriter recording({.chunks = 2});
  const std::uint32_t slot = recording.AddProcess(1, 1, wire::kRoleOther, -1);
  RecordingWriter::Thread thread(recording, slot, 1, "t");
  recording.AddAnchor(3'000'000'000'000'000'000);
  thread.Write(SpanRecord(recording, wire::kRead, 0, recording.options().start_ns, 1000));
  thread.Write(SpanRecord(recording, wire::kRead, 0, 2'900'000'000'000'000'000, 1000));
  const auto trace = DrainAll(recording.memory());
  EXPECT_EQ(trace->span_count(), 1u);
  EXPECT_EQ(trace->losses().damaged_records, 1u);
}

TEST(DamageTest, AForgedNumberOfCallsCostsNoOtherRow) {
  RecordingWriter recording({.chunks = 2});
  RecordingWriter::Thread thread(recording, recording.AddProcess(1, 1, wire::kRoleOther, -1), 1,
                                 "t");
  wire::Record call =
      SpanRecord(recording, wire::kStageNone, 0, recording.options().start_ns, 1000);
  call.kind = wire::kKindCall;
  call.stage = wire::kCallFunction;
  call.sample = wire::CallPlace(1, 0);
  for (const std::uint64_t count : {std::uint64_t{3}, ~std::uint64_t{0}}) {
    call.bytes = count;
    thread.Write(call);
  }
  const testing::TempFolder folder;
  testing::WriteFile(folder / "r", Bytes(recording));
  ASSERT_TRUE(PackTrace(folder / "r", folder / "p").has_value());
  const auto trace = Open(testing::ReadFile(folder / "p"));
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->call_rows().size(), 2u);
  EXPECT_EQ(trace->call_rows()[0].count, 3u);
}

TEST(DamageTest, APackedTraceCutAtAnyByteIsReadAsFarAsItGoes) {
  const std::vector<std::byte> whole = SmallPacked();
  const auto sound = Open(whole);
  ASSERT_NE(sound, nullptr);
  const Known known(*sound);
  std::uint64_t readable = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto trace = Open({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    if (trace != nullptr) {
      ++readable;
      ASSERT_THAT(known.Invented(*trace), IsEmpty()) << size;
      ASSERT_TRUE(trace->losses().unsealed) << size;
    }
  }
  EXPECT_GT(readable, whole.size() / 2);
}

TEST(DamageTest, APackedTraceWithAnyBitFlippedYieldsNoInventedSpan) {
  std::vector<std::byte> bytes = SmallPacked();
  const auto sound = Open(bytes);
  ASSERT_NE(sound, nullptr);
  const Known known(*sound);
  std::uint64_t readable = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      const std::byte flip{static_cast<unsigned char>(1 << bit)};
      bytes[at] ^= flip;
      if (const auto trace = Open(bytes)) {
        ++readable;
        ASSERT_THAT(known.Invented(*trace), IsEmpty()) << "byte " << at << " bit " << bit;
      }
      bytes[at] ^= flip;
    }
  }
  // The file cannot be read if a bit of the magic or of the major version is wrong.
  EXPECT_GE(readable + 8 * 10, bytes.size() * 8);
}

TEST(DamageTest, DamageInOneSectionLeavesTheOthersReadable) {
  const testing::TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  const ThreadId thread = (*packer)->AddThread({.process = (*packer)->AddProcess({}), .tid = 1});
  for (int i = 0; i < 3000; ++i) {
    Span span;
    span.start.value = i;
    span.bytes.value = static_cast<std::uint64_t>(i) * 2'654'435'761u;
    (*packer)->AddSpan(thread, span);
    if (i % 1000 == 999) {
      ASSERT_TRUE((*packer)->Flush().has_value());
    }
  }
  ASSERT_TRUE((*packer)->Finish().has_value());
  std::vector<std::byte> bytes = testing::ReadFile(folder / "t");
  bytes[bytes.size() / 2] ^= std::byte{1};
  const auto trace = Open(bytes);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->span_count(), 2000u);
  EXPECT_EQ(trace->losses().damaged_chunks, 1u);
}

}  // namespace
}  // namespace penstock::traces
