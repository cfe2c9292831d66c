// SPDX-License-Identifier: Apache-2.0
//
// The preview of a long trace must agree with its spans; otherwise no preview is read.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/traces/support.h"
#include "traces/base/xxh64.h"
#include "traces/packed/packed_preview.h"
#include "traces/preview.h"

namespace penstock::traces {
namespace {

using testing::TempFolder;

// Some 80,000 spans of a training process and two workers. With `marked`, the training process
// records one step, else none. Parents are recorded after their children.
void WriteRun(Packer& out, bool marked = false) {
  std::vector<ThreadId> threads;
  for (std::uint32_t p = 0; p < 3; ++p) {
    ProcessInfo info;
    info.pid = 100 + p;
    info.role = p == 0 ? wire::kRoleConsumer : wire::kRoleWorker;
    info.worker_id = static_cast<std::int32_t>(p) - 1;
    threads.push_back(
        out.AddThread({.process = out.AddProcess(info), .tid = 100 + p, .name = "t"}));
  }
  out.SetFact("command", "train");
  std::int64_t at = 5'000'000'000;
  for (std::uint32_t batch = 0; batch < 400; ++batch) {
    const std::int64_t began = at;
    const ThreadId worker = threads[1 + batch % 2];
    for (int s = 0; s < 50; ++s) {
      const std::int64_t sample = at;
      for (const StageId stage : {StageId::kRead, StageId::kDecode, StageId::kAugment}) {
        const std::int64_t length = 1000 + (s * 37 + static_cast<int>(stage) * 911) % 700;
        out.AddSpan(worker, {.start = TimeNs{at},
                             .duration = TimeNs{length},
                             .batch = {batch, 1},
                             .stage = stage,
                             .depth = 2});
        at += length + 10;
      }
      out.AddSpan(worker, {.start = TimeNs{sample},
                           .duration = TimeNs{at - sample},
                           .batch = {batch, 1},
                           .stage = StageId::kSample,
                           .depth = 1});
    }
    out.AddSpan(worker, {.start = TimeNs{began},
                         .duration = TimeNs{at - began},
                         .batch = {batch, 1},
                         .stage = StageId::kFetch});
    out.AddSpan(threads[0], {.start = TimeNs{began},
                             .duration = TimeNs{(at - began) / 3},
                             .batch = {batch, 1},
                             .stage = marked && batch == 7 ? StageId::kStep : StageId::kWait});
    out.AddEvent(
        {.at = TimeNs{at + 100}, .thread = threads[0], .type = EventType::kBatchDelivered});
    at += 2000;
  }
}

void Pack(const std::filesystem::path& path, bool marked = false) {
  auto packer = CreatePacked(path);
  ASSERT_TRUE(packer.has_value());
  WriteRun(**packer, marked);
  ASSERT_TRUE((*packer)->Finish().has_value());
}

// A recording with the spans of a trace, each in a record of its thread, ordered by their ends.
RecordingWriter RecordingOf(const Trace& trace) {
  RecordingOptions options;
  options.chunks = static_cast<std::uint32_t>(trace.span_count() / 1000 + 16);
  RecordingWriter recording(options);
  for (std::uint32_t t = 0; t < trace.threads().size(); ++t) {
    const ProcessInfo& info = trace.processes()[trace.threads()[t].process.value];
    const std::uint32_t slot = recording.AddProcess(info.pid, 7, info.role, info.worker_id);
    RecordingWriter::Thread thread(recording, slot, trace.threads()[t].tid, "t");
    std::vector<Span> spans = trace.Spans(ThreadId{t});
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.end() != b.end() ? a.end() < b.end() : a.depth > b.depth;
    });
    const std::int64_t shift = static_cast<std::int64_t>(options.start_ns) - trace.begin().value;
    for (const Span& span : spans) {
      wire::Record record = SpanRecord(recording, static_cast<wire::Stage>(span.stage), 0,
                                       static_cast<std::uint64_t>(span.start.value + shift),
                                       static_cast<std::uint64_t>(span.duration.value));
      record.batch = span.batch.index;
      record.generation = span.batch.generation;
      record.depth = span.depth;
      EXPECT_TRUE(thread.Write(record));
    }
  }
  return recording;
}

void ExpectSame(const Preview& a, const Preview& b) {
  EXPECT_EQ(a.begin, b.begin);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.spans, b.spans);
  ASSERT_EQ(a.threads.size(), b.threads.size());
  for (std::size_t t = 0; t < a.threads.size(); ++t) {
    EXPECT_EQ(a.threads[t].thread, b.threads[t].thread);
    EXPECT_EQ(a.threads[t].spans, b.threads[t].spans);
    EXPECT_EQ(a.threads[t].totals, b.threads[t].totals);
    EXPECT_EQ(a.threads[t].levels, b.threads[t].levels) << "thread " << t;
  }
  ASSERT_EQ(a.processes.size(), b.processes.size());
  for (std::size_t p = 0; p < a.processes.size(); ++p) {
    EXPECT_EQ(a.processes[p].pid, b.processes[p].pid);
  }
  ASSERT_EQ(a.thread_infos.size(), b.thread_infos.size());
  for (std::size_t t = 0; t < a.thread_infos.size(); ++t) {
    EXPECT_EQ(a.thread_infos[t].tid, b.thread_infos[t].tid);
    EXPECT_EQ(a.thread_infos[t].process, b.thread_infos[t].process);
  }
}

TEST(PreviewTest, OfAPackedFileIsWhatItsSpansGive) {
  const TempFolder folder;
  for (const bool marked : {false, true}) {
    Pack(folder / "t.penstock", marked);
    const auto trace = OpenTrace(folder / "t.penstock");
    ASSERT_TRUE(trace.has_value());
    const auto read = ReadPreview(folder / "t.penstock");
    ASSERT_TRUE(read.has_value());
    ExpectSame(*read, MakePreview(**trace));
    EXPECT_EQ(read->facts.at("command"), "train");
    // If no step was recorded, each interval between two waits of the training process is a step.
    const auto steps = read->threads[0].totals[static_cast<std::size_t>(StageId::kStep)].count;
    EXPECT_EQ(steps, marked ? 1u : 399u);
  }
}

TEST(PreviewTest, OfARecordingIsWhatItsSpansGiveWithAnyNumberOfThreads) {
  const TempFolder folder;
  Pack(folder / "t.penstock");
  const auto packed = OpenTrace(folder / "t.penstock");
  ASSERT_TRUE(packed.has_value());
  RecordingWriter recording = RecordingOf(**packed);
  const auto trace = OpenTraceBytes(testing::Bytes(recording), "memory");
  ASSERT_TRUE(trace.has_value());
  ASSERT_EQ((*trace)->span_count(), (*packed)->span_count());
  const Preview made = MakePreview(**trace);
  for (const unsigned workers : {1u, 2u, 3u, 8u}) {
    const auto scanned = ScanRecording(recording.memory(), workers);
    ASSERT_TRUE(scanned.has_value());
    ExpectSame(*scanned, made);
  }
}

TEST(PreviewTest, ARecordingWithOperationsInFlightShowsThem) {
  RecordingWriter recording = testing::SmallRecording();
  const auto trace = OpenTraceBytes(testing::Bytes(recording), "memory");
  ASSERT_TRUE(trace.has_value());
  const auto scanned = ScanRecording(recording.memory(), 2);
  ASSERT_TRUE(scanned.has_value());
  ExpectSame(*scanned, MakePreview(**trace));
}

TEST(PreviewTest, ShortTracesHaveNone) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  const ThreadId thread = (*packer)->AddThread({.process = (*packer)->AddProcess({}), .tid = 1});
  for (int i = 0; i < 1000; ++i) (*packer)->AddSpan(thread, {.start = TimeNs{i}});
  ASSERT_TRUE((*packer)->Finish().has_value());
  EXPECT_FALSE(ReadPreview(folder / "t.penstock").has_value());
}

TEST(PreviewTest, CostsLittleInTheFile) {
  const TempFolder folder;
  Pack(folder / "t.penstock");
  const auto bytes = testing::ReadFile(folder / "t.penstock");
  const std::vector<std::byte> file(bytes.begin(), bytes.end());
  Losses losses;
  std::uint64_t previews = 0;
  for (const auto& section : packed::FindSections(file, losses).sections) {
    if (section.header.kind == packed::kPreview) previews += section.header.stored_size + 136;
  }
  EXPECT_GT(previews, 0u);
  // In this short trace the previews take less than a byte per span. In a trace of ten million
  // spans they take a hundredth of that.
  EXPECT_LT(static_cast<double>(previews) / 80'800, 1.0);
}

// The header and the offset of a section.
struct Place {
  packed::SectionHeader header;
  std::uint64_t offset;
};

std::vector<Place> PlacesOf(std::span<const std::byte> file) {
  Losses losses;
  std::vector<Place> places;
  for (const auto& section : packed::FindSections(file, losses).sections) {
    places.push_back({section.header, section.offset});
  }
  return places;
}

TEST(PreviewTest, DamageInItIsNotShownAndCostsNothingElse) {
  const TempFolder folder;
  Pack(folder / "t.penstock");
  const auto whole = testing::ReadFile(folder / "t.penstock");
  const auto trace = OpenTrace(folder / "t.penstock");
  ASSERT_TRUE(trace.has_value());
  int previews = 0;
  for (const Place& place : PlacesOf(whole)) {
    if (place.header.kind != packed::kPreview) continue;
    ++previews;
    for (std::uint32_t at = 0; at < place.header.stored_size; at += 97) {
      auto bytes = whole;
      bytes[place.offset + sizeof place.header + at] ^= std::byte{1};
      testing::WriteFile(folder / "d.penstock", bytes);
      ASSERT_FALSE(ReadPreview(folder / "d.penstock").has_value()) << at;
    }
    auto bytes = whole;
    bytes[place.offset + sizeof place.header] ^= std::byte{1};
    const auto damaged = OpenTraceBytes(bytes, "memory");
    ASSERT_TRUE(damaged.has_value());
    EXPECT_EQ((*damaged)->span_count(), (*trace)->span_count());
    EXPECT_FALSE((*damaged)->losses().any());
  }
  EXPECT_EQ(previews, 3);
}

TEST(PreviewTest, AFileCutAnywhereHasNone) {
  const TempFolder folder;
  Pack(folder / "t.penstock");
  const auto whole = testing::ReadFile(folder / "t.penstock");
  for (std::size_t left = 0; left < whole.size(); left += 1 + whole.size() / 300) {
    testing::WriteFile(folder / "c.penstock", std::span(whole).first(left));
    EXPECT_FALSE(ReadPreview(folder / "c.penstock").has_value()) << left;
  }
}

// The file `whole` with the preview sections of `other`. Each section is sound by itself.
std::vector<std::byte> WithPreviewsOf(std::span<const std::byte> other,
                                      std::span<const std::byte> whole) {
  std::vector<std::byte> out;
  std::vector<Place> contents;
  const auto copy = [&](std::span<const std::byte> from, const Place& place) {
    contents.push_back({place.header, out.size()});
    const auto part = from.subspan(place.offset, sizeof place.header + place.header.stored_size);
    out.insert(out.end(), part.begin(), part.end());
  };
  out.assign(whole.begin(), whole.begin() + sizeof(packed::PackedHeader));
  for (const Place& place : PlacesOf(whole)) {
    if (place.header.kind != packed::kPreview) copy(whole, place);
  }
  for (const Place& place : PlacesOf(other)) {
    if (place.header.kind == packed::kPreview) copy(other, place);
  }
  ByteWriter table;
  for (const Place& place : contents) {
    table.Raw(std::as_bytes(std::span(&place.offset, 1)));
    table.Raw(std::as_bytes(std::span(&place.header, 1)));
  }
  packed::SectionEncoder encoder;
  const auto section = encoder.Encode(
      {.kind = packed::kContents, .items = static_cast<std::uint32_t>(contents.size())},
      table.bytes());
  packed::PackedFooter footer{};
  footer.contents_offset = out.size();
  footer.check = Xxh64(&footer.contents_offset, sizeof footer.contents_offset);
  std::memcpy(footer.magic, packed::kEndMagic, sizeof footer.magic);
  out.insert(out.end(), section->begin(), section->end());
  const auto tail = std::as_bytes(std::span(&footer, 1));
  out.insert(out.end(), tail.begin(), tail.end());
  return out;
}

TEST(PreviewTest, ThatOfOtherSpansIsNotShown) {
  const TempFolder folder;
  Pack(folder / "a.penstock");
  Pack(folder / "b.penstock", true);
  const auto a = testing::ReadFile(folder / "a.penstock");
  const auto b = testing::ReadFile(folder / "b.penstock");
  testing::WriteFile(folder / "own.penstock", WithPreviewsOf(a, a));
  EXPECT_TRUE(ReadPreview(folder / "own.penstock").has_value());
  testing::WriteFile(folder / "other.penstock", WithPreviewsOf(b, a));
  EXPECT_FALSE(ReadPreview(folder / "other.penstock").has_value());
  EXPECT_TRUE(OpenTrace(folder / "other.penstock").has_value());
}

TEST(PreviewTest, RepackingMakesItAnew) {
  const TempFolder folder;
  Pack(folder / "a.penstock");
  ASSERT_TRUE(PackTrace(folder / "a.penstock", folder / "b.penstock").has_value());
  const auto a = ReadPreview(folder / "a.penstock");
  const auto b = ReadPreview(folder / "b.penstock");
  ASSERT_TRUE(a.has_value() && b.has_value());
  ExpectSame(*a, *b);
}

// The bytes of the example in traces/FORMAT.md.
TEST(PreviewTest, ItsBytesAreThoseOfTheDocument) {
  PreviewBuilder builder(ThreadId{0}, TimeNs{5}, TimeNs{1'000'005}, 4, {});
  builder.Add(5, 250'000, StageId::kDecode);
  const PreviewThread thread = builder.Take();
  ByteWriter out;
  packed::WritePreview(thread, {.sections = 0x0807060504030201, .spans = 1}, out);
  std::vector<int> expected = {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 0x16, 0, 0, 0, 0, 1, 0xa0, 0xc2, 0x1e};
  expected.insert(expected.end(), 38, 0);
  for (const int byte : {1, 1, 4, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0}) {
    expected.push_back(byte);
  }
  expected.insert(expected.end(), 8, 0);
  std::vector<int> bytes;
  for (const std::byte byte : out.bytes()) bytes.push_back(std::to_integer<int>(byte));
  EXPECT_EQ(bytes, expected);
  packed::PreviewBinding binding;
  PreviewThread read;
  read.thread = thread.thread;
  ASSERT_TRUE(packed::ReadPreviewThread(out.bytes(), binding, read));
  EXPECT_EQ(read, thread);
  EXPECT_EQ(binding, (packed::PreviewBinding{0x0807060504030201, 1}));
}

TEST(PreviewTest, ALaterVersionsStagesAreNotGuessed) {
  PreviewBuilder builder(ThreadId{0}, TimeNs{0}, TimeNs{1000}, 4, {});
  builder.Add(0, 250, StageId::kDecode);
  PreviewThread thread = builder.Take();
  thread.levels[0].cells[0].stage[0] = wire::kStageCount;
  ByteWriter out;
  packed::WritePreview(thread, {}, out);
  packed::PreviewBinding binding;
  PreviewThread read;
  EXPECT_FALSE(packed::ReadPreviewThread(out.bytes(), binding, read));
}

TEST(PreviewTest, AStopIsHeard) {
  RecordingWriter recording = testing::SmallRecording();
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(ScanRecording(recording.memory(), 2, source.get_token()).has_value());
}

}  // namespace
}  // namespace penstock::traces
