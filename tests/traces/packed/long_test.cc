// SPDX-License-Identifier: Apache-2.0
//
// Traces like those of a whole day: many threads with few spans each, many sections, many names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/record/sample/forwarding_packer.h"
#include "tests/traces/support.h"
#include "traces/base/file.h"
#include "traces/order.h"
#include "traces/pack.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/section.h"
#include "traces/packed/string_table.h"
#include "traces/recording/recording.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"
#include "traces/wire.h"

namespace penstock::traces {
namespace {

using testing::TempFolder;

constexpr std::uint32_t kThreads = 144;

// Adds spans of each of many threads before every flush.
class Slow {
 public:
  explicit Slow(Packer& out) : out_(out) {
    const ProcessId process = out.AddProcess({});
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      threads_.push_back(out.AddThread({.process = process, .tid = t + 1}));
    }
  }

  void Flushes(int flushes, int spans) {
    for (int f = 0; f < flushes; ++f) {
      for (const ThreadId thread : threads_) {
        for (int s = 0; s < spans; ++s) {
          Span span;
          span.start.value = at_ += 1000 + at_ % 7;
          span.duration.value = 900;
          span.bytes.value = ++count_;
          span.stage = StageId::kRead;
          out_.AddSpan(thread, span);
        }
      }
      ASSERT_TRUE(out_.Flush().has_value());
    }
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  Packer& out_;
  std::vector<ThreadId> threads_;
  std::int64_t at_ = 1'000'000;
  std::uint64_t count_ = 0;
};

// How often each span occurs, by its number, which is in the field `bytes`. Checks the order of the
// spans.
std::map<std::uint64_t, int> Numbers(const Trace& trace) {
  std::map<std::uint64_t, int> numbers;
  for (std::uint32_t t = 0; t < trace.threads().size(); ++t) {
    std::uint64_t spans = 0;
    Span before;
    trace.ForEachBlock(ThreadId{t}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        EXPECT_TRUE(spans == 0 || !StartsBefore(span, before));
        ++numbers[span.bytes.value];
        ++spans;
        before = span;
      }
    });
    EXPECT_EQ(spans, trace.threads()[t].spans);
  }
  return numbers;
}

void ExpectEachOnce(const Trace& trace, std::uint64_t count) {
  const auto numbers = Numbers(trace);
  EXPECT_EQ(numbers.size(), count);
  EXPECT_EQ(trace.span_count(), count);
  for (const auto& [number, times] : numbers) ASSERT_EQ(times, 1) << number;
}

std::size_t Sections(const std::filesystem::path& path, packed::SectionKind kind) {
  const auto file = MappedFile::Open(path);
  Losses losses;
  const auto list = packed::FindSections(file->bytes(), losses);
  std::size_t count = 0;
  for (const packed::SectionRef& section : list.sections) count += section.header.kind == kind;
  return count;
}

TEST(LongTest, FewSpansOfManyThreadsDoNotCostASectionEach) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  Slow slow(**packer);
  slow.Flushes(400, 4);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenTrace(folder / "t");
  ASSERT_TRUE(trace.has_value());
  EXPECT_FALSE((*trace)->losses().any());
  ExpectEachOnce(**trace, slow.count());
  // A section for each thread and flush would be 57,600.
  EXPECT_LT(Sections(folder / "t", packed::kSpans), 2000u);
  EXPECT_FALSE(std::filesystem::exists(folder / "t.part.tail"));
}

TEST(LongTest, WhatWasFlushedIsThereWithoutAnEnd) {
  const TempFolder folder;
  std::uint64_t count = 0;
  {
    auto packer = CreatePacked(folder / "t");
    ASSERT_TRUE(packer.has_value());
    Slow slow(**packer);
    for (int i = 0; i < 4; ++i) {
      slow.Flushes(20, i < 3 ? 3 : 600);  // few spans at first, then many
      slow.Flushes(1, 1);
      count = slow.count();
      const auto trace = OpenTrace(folder / "t.part");
      ASSERT_TRUE(trace.has_value());
      ExpectEachOnce(**trace, count);
    }
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "t.part.tail"));
  const auto trace = OpenTrace(folder / "t.part");  // its writer has died
  ASSERT_TRUE(trace.has_value());
  ExpectEachOnce(**trace, count);
}

TEST(LongTest, ADamagedTailCostsWhatIsDamaged) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  Slow slow(**packer);
  slow.Flushes(10, 3);
  const std::vector<std::byte> whole = testing::ReadFile(folder / "t.part.tail");
  ASSERT_GT(whole.size(), sizeof(packed::TailHeader));
  const auto expected = OpenTrace(folder / "t.part");
  const auto sound = Numbers(**expected);
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 60) {
    testing::WriteFile(folder / "t.part.tail", std::span(whole).first(size));
    const auto trace = OpenTrace(folder / "t.part");
    ASSERT_TRUE(trace.has_value());
    for (const auto& [number, times] : Numbers(**trace)) {
      ASSERT_EQ(times, 1);
      ASSERT_TRUE(sound.contains(number));
    }
  }
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 60 + 1) {
    std::vector<std::byte> flipped = whole;
    flipped[at] ^= std::byte{4};
    testing::WriteFile(folder / "t.part.tail", flipped);
    const auto trace = OpenTrace(folder / "t.part");
    ASSERT_TRUE(trace.has_value());
    ASSERT_LE((*trace)->span_count(), slow.count());
    for (const auto& [number, times] : Numbers(**trace)) ASSERT_TRUE(sound.contains(number));
  }
}

TEST(LongTest, TheTailOfAnotherFileIsNotRead) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  auto other = CreatePacked(folder / "other");
  ASSERT_TRUE(packer.has_value() && other.has_value());
  Slow slow(**packer);
  Slow stranger(**other);
  (*other)->SetFact("command", "another");
  slow.Flushes(10, 3);
  stranger.Flushes(10, 3);
  const auto before = OpenTrace(folder / "t.part");
  testing::WriteFile(folder / "t.part.tail", testing::ReadFile(folder / "other.part.tail"));
  const auto after = OpenTrace(folder / "t.part");
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_EQ((*before)->span_count(), slow.count());
  EXPECT_LT((*after)->span_count(), slow.count());
}

TEST(LongTest, AnIdThatWasForgottenGetsItsTextFromWhereverItIs) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  const std::string path = "/data/17.jpg";
  const std::string name = "RandomCrop";
  const auto hash = [](const std::string& text) { return wire::HashOf(text.data(), text.size()); };
  char object[18];
  char low[10];
  std::snprintf(object, sizeof object, "#%016llx", static_cast<unsigned long long>(hash(path)));
  std::snprintf(low, sizeof low, "#%08x", static_cast<unsigned>(hash(name)));
  Packer& out = **packer;
  const StringId early = out.AddString(object);
  const StringId first = out.AddString(path);
  ASSERT_TRUE(out.Flush().has_value());
  const StringId second = out.AddString(path);
  const StringId late = out.AddString(object);
  const StringId named = out.Intern(name);
  const StringId short_id = out.AddString(low);
  const StringId unknown = out.AddString("#0123456789abcdef");
  ASSERT_TRUE(out.Finish().has_value());
  const auto trace = OpenTrace(folder / "t");
  ASSERT_TRUE(trace.has_value());
  for (const StringId id : {early, first, second, late}) EXPECT_EQ((*trace)->String(id), path);
  EXPECT_EQ((*trace)->String(named), name);
  EXPECT_EQ((*trace)->String(short_id), name);
  EXPECT_EQ((*trace)->String(unknown), "#0123456789abcdef");
}

TEST(LongTest, ACacheOfIdsForgetsOnlyWhenItIsFull) {
  constexpr std::size_t kSlots = 1u << 16;
  IdCache cache(kSlots);
  bool inserted = false;
  const auto key = [](std::uint32_t i) { return wire::HashOf("file", 4) * (2 * i + 1); };
  for (std::uint32_t i = 0; i < kSlots * 3 / 5; ++i) cache.At(key(i), &inserted) = i;
  for (std::uint32_t i = 0; i < kSlots * 3 / 5; ++i) {
    ASSERT_NE(cache.Find(key(i)), nullptr) << i;
    ASSERT_EQ(*cache.Find(key(i)), i);
  }
  EXPECT_FALSE(cache.overflowed());
  for (std::uint32_t i = 0; i < 4 * kSlots; ++i) {
    std::uint32_t& value = cache.At(key(i), &inserted);
    ASSERT_TRUE(inserted || value == i);  // never the value of another key
    value = i;
    ASSERT_NE(cache.Find(key(i)), nullptr);
  }
  EXPECT_TRUE(cache.overflowed());
}

// Notes how many thread and process ids are given out.
class Watching final : public record::ForwardingPacker {
 public:
  using ForwardingPacker::ForwardingPacker;
  ThreadId AddThread(const ThreadInfo& thread) override {
    const ThreadId id = inner().AddThread(thread);
    threads = std::max(threads, id.value + 1);
    return id;
  }
  ProcessId AddProcess(const ProcessInfo& process) override {
    const ProcessId id = inner().AddProcess(process);
    processes = std::max(processes, id.value + 1);
    return id;
  }
  std::uint32_t threads = 0;
  std::uint32_t processes = 0;
};

bool NobodyDies(std::uint32_t, std::uint64_t, std::uint32_t) {
  return false;
}

TEST(LongTest, ProcessesThatComeAndGoAreWrittenAndForgotten) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  Watching out(std::move(*packer));
  RecordingWriter ring({.mode = wire::kRing, .chunks = 600});
  RecordingDrain drain(ring.memory(), true);
  constexpr std::uint32_t kProcesses = 5000;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ended;
  for (std::uint32_t p = 0; p < kProcesses; ++p) {
    const std::uint32_t pid = 1000 + p;
    const std::uint32_t slot = ring.AddProcess(pid, p + 1, wire::kRoleWorker, 0);
    ASSERT_LT(slot, wire::kMaxProcesses);
    RecordingWriter::Thread thread(ring, slot, pid, "main");
    thread.Text(wire::kTextFact, "rank.rank=3");
    ASSERT_TRUE(thread.Write(SpanRecord(ring, wire::kRead, 0, 1'000'000'000'000 + p * 10, 5)));
    if (p == 0) continue;  // the first process stays and keeps its chunk
    thread.Exit();
    ended.emplace_back(pid, p + 1);
    if (ended.size() < 200) continue;
    drain.Drain(out, NobodyDies);
    drain.Retire(ended, out);
    EXPECT_EQ(ended.size(), 200u);  // their chunks are not released yet
    ASSERT_TRUE(out.Flush().has_value());
    drain.Release();
    for (wire::ProcessSlot& one : ring.header().processes) {
      if (one.pid != 1000) one.state = wire::kProcessFree;
    }
    drain.Retire(ended, out);
    EXPECT_TRUE(ended.empty());
  }
  drain.Finish(out);
  ASSERT_TRUE(out.Finish().has_value());
  EXPECT_LT(out.processes, 1700u);
  EXPECT_LT(out.threads, 1700u);
  const auto trace = OpenTrace(folder / "t");
  ASSERT_TRUE(trace.has_value());
  EXPECT_FALSE((*trace)->losses().any());
  ASSERT_EQ((*trace)->processes().size(), kProcesses);
  ASSERT_EQ((*trace)->threads().size(), kProcesses);
  for (std::uint32_t t = 0; t < kProcesses; ++t) {
    const ThreadInfo& thread = (*trace)->threads()[t];
    EXPECT_EQ(thread.spans, 1u);
    const ProcessInfo& process = (*trace)->processes()[thread.process.value];
    EXPECT_EQ(process.pid, thread.tid);
    EXPECT_EQ(process.rank, 3);
  }
}

TEST(LongTest, ThreadsThatComeAndGoAreWrittenAndForgotten) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  Watching out(std::move(*packer));
  RecordingWriter ring({.mode = wire::kRing, .chunks = 600});
  RecordingDrain drain(ring.memory(), true);
  const std::uint32_t slot = ring.AddProcess(7, 7, wire::kRoleOther, -1);
  constexpr std::uint32_t kMany = 20'000;
  for (std::uint32_t t = 0; t < kMany; ++t) {
    RecordingWriter::Thread thread(ring, slot, 100 + t, "short");
    ASSERT_TRUE(thread.Write(SpanRecord(ring, wire::kRead, 0, 1'000'000'000'000 + t * 10, 5)));
    thread.Exit();
    if (t % 500 != 499) continue;
    drain.Drain(out,
                [t](std::uint32_t, std::uint64_t, std::uint32_t tid) { return tid < 100 + t; });
    ASSERT_TRUE(out.Flush().has_value());
    drain.Release();
  }
  drain.Finish(out);
  ASSERT_TRUE(out.Finish().has_value());
  EXPECT_LT(out.threads, 12'000u);
  const auto trace = OpenTrace(folder / "t");
  ASSERT_TRUE(trace.has_value());
  EXPECT_FALSE((*trace)->losses().any());
  EXPECT_EQ((*trace)->threads().size(), kMany);
  EXPECT_EQ((*trace)->span_count(), kMany);
}

// In an earlier version, a file of more than 932,067 sections had no table of contents, and the
// memory for that table grew with the file.
TEST(LongTest, ContentsOfManySectionsAreWholeAndFoundAgain) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t");
  ASSERT_TRUE(packer.has_value());
  Slow slow(**packer);
  slow.Flushes(3, 1);
  const StringId name = (*packer)->Intern("rss_bytes");
  constexpr int kFlushes = 70'000;
  for (int i = 0; i < kFlushes; ++i) {
    (*packer)->AddCounter({.at = TimeNs{1'000'000 + i}, .name = name, .process = {}, .value = i});
    ASSERT_TRUE((*packer)->Flush().has_value());
  }
  slow.Flushes(3, 1);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenTrace(folder / "t");
  ASSERT_TRUE(trace.has_value());
  EXPECT_FALSE((*trace)->losses().any());
  EXPECT_EQ((*trace)->counters().size(), static_cast<std::size_t>(kFlushes));
  ExpectEachOnce(**trace, slow.count());

  // If the table is damaged, the sections are searched, and the trace counts as unsealed.
  std::vector<std::byte> bytes = testing::ReadFile(folder / "t");
  const auto footer = [&bytes] {
    packed::PackedFooter read;
    std::memcpy(&read, bytes.data() + bytes.size() - sizeof read, sizeof read);
    return read;
  };
  bytes[footer().contents_offset + sizeof(packed::SectionHeader) + 3] ^= std::byte{1};
  const auto damaged = OpenTraceBytes(bytes, "damaged");
  ASSERT_TRUE(damaged.has_value());
  EXPECT_TRUE((*damaged)->losses().unsealed);
  EXPECT_EQ((*damaged)->counters().size(), static_cast<std::size_t>(kFlushes));
  ExpectEachOnce(**damaged, slow.count());
}

}  // namespace
}  // namespace penstock::traces
