// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/traces/pytorch_stream.h"
#include "tests/traces/support.h"
#include "traces/base/xxh64.h"
#include "traces/order.h"
#include "traces/packed/block_merge.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/section.h"
#include "traces/trace_builder.h"

namespace penstock::traces {
namespace {

using testing::AllNumbers;
using testing::TempFolder;

Span RandomSpan(std::mt19937_64& random) {
  Span span;
  span.start.value = static_cast<std::int64_t>(random() % 1'000'000'000);
  span.duration.value = static_cast<std::int64_t>(random() % (random() % 2 == 0 ? 50 : 5'000'000));
  span.cpu.value = random() % 2 == 0 ? -1 : static_cast<std::int64_t>(random() % 6'000'000);
  span.busy.value = random() % 3 == 0 ? static_cast<std::int64_t>(random() % 6'000'000) : -1;
  span.bytes.value = random() % 3 == 0 ? random() : 0;
  span.sample = random() % 2 == 0 ? wire::kNoSample : static_cast<std::int64_t>(random());
  span.batch = random() % 4 == 0 ? BatchKey{}
                                 : BatchKey{static_cast<std::uint32_t>(random()),
                                            static_cast<std::uint16_t>(random())};
  span.stage = static_cast<StageId>(random() % 20);
  span.flags = static_cast<std::uint8_t>(random() & 0x3f);
  span.depth = static_cast<std::uint8_t>(random());
  return span;
}

std::unique_ptr<Trace> OpenPacked(const std::filesystem::path& path) {
  auto trace = OpenTrace(path);
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return trace ? std::move(*trace) : nullptr;
}

TEST(PackedTest, ReturnsEverySpanAsItWasAdded) {
  const TempFolder folder;
  std::mt19937_64 random(7);
  TraceBuilder memory;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  for (Packer* out : {static_cast<Packer*>(&memory), packer->get()}) {
    random.seed(7);
    const ProcessId process = out->AddProcess({});
    const ThreadId a = out->AddThread({.process = process, .tid = 1});
    const ThreadId b = out->AddThread({.process = process, .tid = 2});
    for (int i = 0; i < 150'000; ++i) {
      out->AddSpan(i % 5 == 0 ? b : a, RandomSpan(random));
    }
  }
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto packed = OpenPacked(folder / "t.penstock");
  const auto expected = memory.Build();
  EXPECT_EQ(packed->span_count(), 150'000u);
  EXPECT_EQ(AllNumbers(*packed), AllNumbers(*expected));
  EXPECT_FALSE(packed->losses().any());
}

TEST(PackedTest, ReturnsTablesAsTheyWereAdded) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  Packer& out = **packer;
  ProcessInfo process;
  process.pid = 7;
  process.parent = 1;
  process.role = wire::kRoleWorker;
  process.worker_id = 3;
  process.rank = 2;
  process.process_start = 99;
  process.comm = "python3";
  process.command = {"python", "a b", ""};
  process.libraries = {"/lib/libjpeg.so"};
  process.facts["loader.0.num_workers"] = "4";
  process.bytes_kernel.value = 12345;
  const ProcessId id = out.AddProcess({});
  out.UpdateProcess(id, process);
  const ThreadId thread = out.AddThread({.process = id, .tid = 8, .name = "first"});
  out.UpdateThread(thread, {.process = id, .tid = 8, .name = "second"});
  out.SetFact("command", "python train.py");
  out.AddEvent({.at = TimeNs{50},
                .thread = thread,
                .batch = {4, 2},
                .value = -3,
                .type = EventType::kBatchPut});
  out.AddEvent({.at = TimeNs{40},
                .thread = thread,
                .batch = {},
                .value = 1,
                .type = EventType::kNextEntered});
  out.AddCounter({.at = TimeNs{60}, .name = out.Intern("rss_bytes"), .process = id, .value = 77});
  out.SetLosses({.dropped_events = 5});
  out.SetRealtimeOffset(TimeNs{1'700'000'000});
  ASSERT_TRUE(out.Finish().has_value());

  const auto trace = OpenPacked(folder / "t.penstock");
  ASSERT_EQ(trace->processes().size(), 1u);
  const ProcessInfo& read = trace->processes()[0];
  EXPECT_EQ(read.pid, 7u);
  EXPECT_EQ(read.worker_id, 3);
  EXPECT_EQ(read.rank, 2);
  EXPECT_EQ(read.command, process.command);
  EXPECT_EQ(read.libraries, process.libraries);
  EXPECT_EQ(read.facts, process.facts);
  EXPECT_EQ(read.bytes_kernel.value, 12345u);
  EXPECT_EQ(trace->threads()[0].name, "second");
  EXPECT_EQ(trace->facts().at("command"), "python train.py");
  ASSERT_EQ(trace->events().size(), 2u);
  EXPECT_EQ(trace->events()[0].type, EventType::kNextEntered);
  EXPECT_EQ(trace->events()[1].value, -3);
  ASSERT_EQ(trace->counters().size(), 1u);
  EXPECT_EQ(trace->String(trace->counters()[0].name), "rss_bytes");
  EXPECT_EQ(trace->losses().dropped_events, 5u);
  EXPECT_EQ(trace->realtime_offset().value, 1'700'000'000);
  EXPECT_EQ(trace->begin().value, 40);
}

TEST(PackedTest, AnOffsetThatNoClockHasDoesNotCostTheLosses) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  (*packer)->SetLosses({.dropped_events = 5});
  (*packer)->SetRealtimeOffset(TimeNs{std::int64_t{1} << 62});
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenPacked(folder / "t.penstock");
  EXPECT_EQ(trace->losses().dropped_events, 5u);
  EXPECT_EQ(trace->losses().damaged_chunks, 0u);
  EXPECT_EQ(trace->realtime_offset().value, 0);
}

// The children are written first, their parent many blocks later.
TEST(PackedTest, AParentThatEndsManyBlocksLaterComesFirst) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  Packer& out = **packer;
  const ThreadId thread = out.AddThread({.process = out.AddProcess({}), .tid = 1});
  constexpr int kSpans = 300'000;
  for (int i = 0; i < kSpans; ++i) {
    Span span;
    span.start.value = 1000 + i * 10;
    span.duration.value = 8;
    span.depth = 1;
    out.AddSpan(thread, span);
  }
  Span startup;
  startup.start.value = 0;
  startup.duration.value = kSpans * 10 + 2000;
  startup.stage = StageId::kStartup;
  out.AddSpan(thread, startup);
  ASSERT_TRUE(out.Finish().has_value());

  const auto trace = OpenPacked(folder / "t.penstock");
  const std::vector<Span> spans = trace->Spans(thread);
  ASSERT_EQ(spans.size(), kSpans + 1u);
  EXPECT_EQ(spans[0].stage, StageId::kStartup);
  EXPECT_TRUE(std::is_sorted(spans.begin(), spans.end(), StartsBefore));
}

TEST(PackedTest, MoreOverlappingBlocksThanAreHeldStillComeInOrder) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  Packer& out = **packer;
  const ThreadId thread = out.AddThread({.process = out.AddProcess({}), .tid = 1});
  constexpr int kBlocks = 2 * static_cast<int>(packed::kMaxHeldBlocks) + 3;
  for (int block = 0; block < kBlocks; ++block) {
    for (int i = 0; i < 40; ++i) {
      Span span;
      span.start.value = i * 1000 + block;
      span.duration.value = 5;
      out.AddSpan(thread, span);
    }
    ASSERT_TRUE(out.Flush().has_value());
  }
  ASSERT_TRUE(out.Finish().has_value());
  const auto trace = OpenPacked(folder / "t.penstock");
  const std::vector<Span> spans = trace->Spans(thread);
  EXPECT_EQ(spans.size(), kBlocks * 40u);
  EXPECT_TRUE(std::is_sorted(spans.begin(), spans.end(), StartsBefore));
}

TEST(PackedTest, FinalNameAppearsOnlyWhenFinished) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Flush().has_value());
  EXPECT_FALSE(std::filesystem::exists(folder / "t.penstock"));
  EXPECT_TRUE(std::filesystem::exists(folder / "t.penstock.part"));
  ASSERT_TRUE((*packer)->Finish().has_value());
  EXPECT_TRUE(std::filesystem::exists(folder / "t.penstock"));
  EXPECT_FALSE(std::filesystem::exists(folder / "t.penstock.part"));
}

TEST(PackedTest, APartFileIsReadableAsFarAsItWasFlushed) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  Packer& out = **packer;
  const ThreadId thread = out.AddThread({.process = out.AddProcess({}), .tid = 1});
  for (int i = 0; i < 1000; ++i) {
    Span span;
    span.start.value = i;
    span.name = out.Intern("name" + std::to_string(i % 7));
    out.AddSpan(thread, span);
    if (i == 499) {
      ASSERT_TRUE(out.Flush().has_value());
    }
  }
  packer->reset();  // as in a crash, nothing more is written
  const auto trace = OpenPacked(folder / "t.penstock.part");
  EXPECT_EQ(trace->span_count(), 500u);
  EXPECT_TRUE(trace->losses().unsealed);
  EXPECT_EQ(trace->String(trace->Spans(thread)[6].name), "name6");
}

TEST(PackedTest, ASectionOfAnUnknownKindIsSkipped) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  const ThreadId thread = (*packer)->AddThread({.process = (*packer)->AddProcess({}), .tid = 1});
  (*packer)->AddSpan(thread, Span{});
  ASSERT_TRUE((*packer)->Flush().has_value());
  packer->reset();
  std::vector<std::byte> bytes = testing::ReadFile(folder / "t.penstock.part");
  packed::SectionEncoder encoder;
  const auto section = encoder.Encode({.kind = static_cast<packed::SectionKind>(77), .items = 1},
                                      std::as_bytes(std::span("of the future", 13)));
  ASSERT_TRUE(section.has_value());
  bytes.insert(bytes.begin() + sizeof(packed::PackedHeader), section->begin(), section->end());
  const auto trace = OpenTraceBytes(bytes, "test");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ((*trace)->span_count(), 1u);
  EXPECT_EQ((*trace)->losses().damaged_chunks, 0u);
}

TEST(PackedTest, AnotherMajorVersionIsRefusedWithARemedy) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Finish().has_value());
  std::vector<std::byte> bytes = testing::ReadFile(folder / "t.penstock");
  bytes[8] = std::byte{2};
  const auto trace = OpenTraceBytes(bytes, "old.penstock");
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().kind, ErrorKind::kInput);
  EXPECT_THAT(trace.error().message, ::testing::HasSubstr("old.penstock"));
}

TEST(PackedTest, ALaterMinorVersionIsRead) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Finish().has_value());
  std::vector<std::byte> bytes = testing::ReadFile(folder / "t.penstock");
  bytes[10] = std::byte{200};
  EXPECT_TRUE(OpenTraceBytes(bytes, "test").has_value());
}

TEST(PackedTest, AFileThatIsNotATraceIsRefused) {
  const TempFolder folder;
  testing::WriteFile(folder / "x", std::as_bytes(std::span("#!/bin/sh\n", 10)));
  const auto trace = OpenTrace(folder / "x");
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().kind, ErrorKind::kInput);
  EXPECT_FALSE(OpenTrace(folder / "missing").has_value());
  EXPECT_FALSE(OpenTrace("/tmp").has_value());
}

TEST(PackedTest, ATextSetLaterReplacesTheFirst) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  const StringId id = (*packer)->Intern("#1234");
  ASSERT_TRUE((*packer)->Flush().has_value());
  (*packer)->SetString(id, "decode");
  EXPECT_EQ((*packer)->Intern("decode"), id);
  ASSERT_TRUE((*packer)->Finish().has_value());
  EXPECT_EQ(OpenPacked(folder / "t.penstock")->String(id), "decode");
}

TEST(PackedTest, NoTextIsNumberZeroHoweverManyTextsThereAre) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  std::uint32_t last = 0;
  for (int i = 0; i < 3'000'000; ++i) last = (*packer)->Intern(std::to_string(i)).value;
  EXPECT_EQ(last, 3'000'000u);
  EXPECT_EQ((*packer)->Intern("").value, 0u);
  (*packer)->Discard();
}

TEST(PackedTest, TextsThatAreLargerThanASectionAreCut) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  const std::string large(packed::kMaxSectionBytes + 1, 'x');
  const StringId id = (*packer)->Intern(large);
  const StringId other = (*packer)->Intern("other");
  (*packer)->SetFact("large", large);
  (*packer)->SetFact("host", "a");
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenPacked(folder / "t.penstock");
  EXPECT_EQ(trace->losses().damaged_chunks, 0u);
  EXPECT_EQ(trace->String(id).size(), std::size_t{1} << 20);
  EXPECT_EQ(trace->String(other), "other");
  EXPECT_EQ(trace->facts().at("large").size(), std::size_t{1} << 20);
  EXPECT_EQ(trace->facts().at("host"), "a");
}

TEST(PackedTest, RepackingKeepsEverything) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "a.penstock");
  ASSERT_TRUE(packer.has_value());
  testing::WritePytorchLike({.images = 600}, **packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
  ASSERT_TRUE(PackTrace(folder / "a.penstock", folder / "b.penstock").has_value());
  const auto a = OpenPacked(folder / "a.penstock");
  const auto b = OpenPacked(folder / "b.penstock");
  EXPECT_EQ(AllNumbers(*a), AllNumbers(*b));
  EXPECT_EQ(testing::AllStrings(*a), testing::AllStrings(*b));
  EXPECT_EQ(a->events().size(), b->events().size());
}

TEST(PackedTest, WhatAKilledPackerLeftIsRemovedByTheNext) {
  const TempFolder folder;
  const auto write = [&](const char* name) {
    testing::WriteFile(folder / name, std::as_bytes(std::span("half", 4)));
  };
  write("b.penstock.4711.tmp");
  write("b.penstock.4712.tmp");  // its writer still holds the lock
  write("b.penstock.my.tmp");
  write("c.penstock.4711.tmp");
  write("a.penstock");
  const auto writer = FileLock::Take(folder / "b.penstock.4712.tmp");
  ASSERT_TRUE(writer.has_value());
  auto packer = CreatePacked(folder / "b.penstock", {.suffix = ".4713.tmp"});
  ASSERT_TRUE(packer.has_value());
  ASSERT_TRUE((*packer)->Finish().has_value());
  EXPECT_FALSE(std::filesystem::exists(folder / "b.penstock.4711.tmp"));
  for (const char* name : {"a.penstock", "b.penstock", "b.penstock.4712.tmp", "b.penstock.my.tmp",
                           "c.penstock.4711.tmp"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
}

TEST(PackedTest, ARealisticStreamTakesAtMostTwelveBytesPerSpan) {
  const TempFolder folder;
  auto packer = CreatePacked(folder / "t.penstock");
  ASSERT_TRUE(packer.has_value());
  const std::uint64_t spans = testing::WritePytorchLike({.images = 50'000}, **packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto size = std::filesystem::file_size(folder / "t.penstock");
  const double per_span = static_cast<double>(size) / static_cast<double>(spans);
  RecordProperty("bytes_per_span", std::to_string(per_span));
  EXPECT_LE(per_span, 12.0);
}

}  // namespace
}  // namespace penstock::traces
