// SPDX-License-Identifier: Apache-2.0
//
// Followed units: from records to trees, packed, copied, cut and damaged.
#include "traces/call_trees.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/traces/call_tree_maker.h"
#include "tests/traces/support.h"
#include "traces/recording/recording.h"
#include "traces/trace_builder.h"
#include "traces/translate.h"

namespace penstock::traces {
namespace {

using testing::FollowedRecording;
using testing::FollowedUnit;

constexpr TimeNs FollowedMs(std::int64_t n) {
  return TimeNs{n * 1'000'000};
}

ProcessInfo OneProcess() {
  ProcessInfo process;
  process.pid = 1;
  return process;
}

std::unique_ptr<Trace> ReadFollowed(std::span<std::byte> bytes) {
  RecordingDrain drain(bytes, false);
  if (!drain.CheckHeader()) return nullptr;
  TraceBuilder builder;
  drain.Finish(builder);
  return builder.Build();
}

// Each row as a line of text, with its times and texts.
std::multiset<std::string> FollowedRows(const Trace& trace) {
  std::multiset<std::string> rows;
  for (const UnitRow& u : trace.unit_rows()) {
    rows.insert(fmt::format("unit {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", u.at.value,
                            u.duration.value, u.cost.value, u.ordinary.value, u.sample,
                            trace.String(u.name), u.batch.index, u.batch.generation, u.events,
                            u.nodes, u.neighbours, StageName(u.stage), u.flags, u.spread,
                            u.thread.value));
  }
  for (const CallRow& c : trace.call_rows()) {
    rows.insert(fmt::format("call {} {} {} {} {} {} {} {} {} {} {} {}", c.at.value, c.total.value,
                            c.own.value, c.cost.value, c.count, trace.String(c.name),
                            trace.String(c.file), c.line, c.node, c.parent,
                            static_cast<int>(c.kind), c.thread.value));
  }
  return rows;
}

// Each row with its times only: damage may destroy a text but leave its row intact.
std::multiset<std::string> BareRows(const Trace& trace) {
  std::multiset<std::string> rows;
  for (const UnitRow& u : trace.unit_rows()) {
    rows.insert(fmt::format("{} {} {} {} {} {} {}", u.at.value, u.duration.value, u.cost.value,
                            u.ordinary.value, u.sample, u.events, u.nodes));
  }
  for (const CallRow& c : trace.call_rows()) {
    rows.insert(fmt::format("{} {} {} {} {} {} {} {}", c.at.value, c.total.value, c.own.value,
                            c.count, c.line, c.node, c.parent, static_cast<int>(c.kind)));
  }
  return rows;
}

TEST(CallTreesTest, RecordsBecomeATreeWithNamesPlacesAndTimes) {
  RecordingWriter recording = FollowedRecording();
  const auto trace = ReadFollowed(recording.memory());
  const CallTrees all = ReadCallTrees(*trace);
  EXPECT_EQ(all.lost_rows, 0u);
  ASSERT_EQ(all.trees.size(), 2u);
  const CallTree& tree = all.trees[0];
  EXPECT_TRUE(tree.complete);
  EXPECT_EQ(tree.unit.stage, StageId::kSample);
  EXPECT_EQ(tree.unit.sample, 40);
  EXPECT_EQ(tree.unit.batch.index, 7u);
  EXPECT_EQ(tree.unit.duration, FollowedMs(12));
  EXPECT_EQ(tree.unit.ordinary, FollowedMs(9));
  EXPECT_EQ(tree.unit.neighbours, 16);
  EXPECT_EQ(tree.unit.events, 5000u);
  EXPECT_EQ(tree.unit.spread, 25);
  EXPECT_EQ(trace->String(tree.unit.name), "Pictures");
  EXPECT_EQ(tree.total(), FollowedMs(10));
  EXPECT_EQ(tree.own(), FollowedMs(1));
  ASSERT_EQ(tree.nodes.size(), 3u);
  EXPECT_EQ(trace->String(tree.nodes[0].name), "__getitem__");
  EXPECT_EQ(trace->String(tree.nodes[0].file), "/home/a/data.py");
  EXPECT_EQ(tree.nodes[0].line, 40u);
  EXPECT_EQ(tree.nodes[0].cost, FollowedMs(1));
  EXPECT_EQ(tree.nodes[0].parent, kNoCall);
  EXPECT_EQ(tree.nodes[1].kind, CallKind::kLine);
  EXPECT_EQ(tree.nodes[1].line, 47u);
  EXPECT_EQ(tree.nodes[1].count, 4096u);
  EXPECT_EQ(tree.nodes[1].own, FollowedMs(6));
  EXPECT_EQ(tree.nodes[1].parent, 0u);
  EXPECT_EQ(tree.nodes[2].kind, CallKind::kBuiltin);
  EXPECT_EQ(trace->String(tree.nodes[2].name), "numpy.random.choice");
  EXPECT_EQ(tree.nodes[2].parent, 1u);
  EXPECT_TRUE(all.trees[1].complete);
}

TEST(CallTreesTest, TicksOfAnotherClockAreConverted) {
  RecordingWriter recording =
      FollowedRecording({.clock = wire::kClockTsc, .ticks_per_second = 2'500'000'000, .chunks = 2});
  const auto trace = ReadFollowed(recording.memory());
  ASSERT_EQ(trace->unit_rows().size(), 2u);
  EXPECT_NEAR(static_cast<double>(trace->unit_rows()[0].duration.value), 12e6, 2);
  EXPECT_NEAR(static_cast<double>(trace->call_rows()[0].cost.value), 1e6, 2);
}

TEST(CallTreesTest, APackedTraceAndItsCopyHaveTheSameRows) {
  const testing::TempFolder folder;
  RecordingWriter recording = FollowedRecording();
  testing::WriteFile(folder / "r", testing::Bytes(recording));
  ASSERT_TRUE(PackTrace(folder / "r", folder / "p").has_value());
  ASSERT_TRUE(PackTrace(folder / "p", folder / "q").has_value());
  const std::multiset<std::string> rows = FollowedRows(*ReadFollowed(recording.memory()));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(FollowedRows(**OpenTrace(folder / "p")), rows);
  EXPECT_EQ(FollowedRows(**OpenTrace(folder / "q")), rows);
}

TEST(CallTreesTest, AFlightRecorderDropsOldUnitsWithTheirCalls) {
  const testing::TempFolder folder;
  auto packer = CreatePacked(folder / "t", {.keep = FollowedMs(1000)});
  ASSERT_TRUE(packer.has_value());
  const ProcessId process = (*packer)->AddProcess(OneProcess());
  const ThreadId thread = (*packer)->AddThread({.process = process, .tid = 1});
  for (int i = 0; i < 20; ++i) {
    const TimeNs at = FollowedMs(1'000'000 + i * 500);
    (*packer)->AddSpan(thread,
                       {.start = at, .duration = FollowedMs(400), .stage = StageId::kSample});
    FollowedUnit unit(
        {.at = at, .duration = FollowedMs(10), .thread = thread, .stage = StageId::kSample});
    unit.Function("f", "/a.py", 3, {.total = FollowedMs(9), .own = FollowedMs(9)});
    unit.AddTo(**packer);
    ASSERT_TRUE((*packer)->Flush().has_value());
  }
  ASSERT_TRUE((*packer)->Finish().has_value());
  const auto trace = OpenTrace(folder / "t");
  ASSERT_TRUE(trace.has_value());
  const CallTrees all = ReadCallTrees(**trace);
  ASSERT_GE(all.trees.size(), 2u);
  EXPECT_LE(all.trees.size(), 4u);
  EXPECT_EQ(all.lost_rows, 0u);
  EXPECT_EQ((*trace)->String(all.trees.back().nodes.at(0).name), "f");
}

TEST(CallTreesTest, RowsWithoutTheirUnitOrParentAreLeftOutAndCounted) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess(OneProcess());
  const ThreadId thread = builder.AddThread({.process = process, .tid = 1});
  builder.AddUnit({.at = FollowedMs(5), .duration = FollowedMs(3), .thread = thread, .nodes = 4});
  builder.AddCall({.at = FollowedMs(5),
                   .total = FollowedMs(2),
                   .own = FollowedMs(2),
                   .thread = thread,
                   .node = 0});
  builder.AddCall(
      {.at = FollowedMs(5), .thread = thread, .node = 2, .parent = 1});  // there is no node 1
  builder.AddCall({.at = FollowedMs(5), .thread = thread, .node = 3, .parent = 2});
  builder.AddCall({.at = FollowedMs(5), .thread = thread, .node = 0});       // node 0 once more
  builder.AddCall({.at = FollowedMs(6), .thread = thread, .node = 0});       // its unit is missing
  builder.AddCall({.at = FollowedMs(5), .thread = ThreadId{9}, .node = 0});  // no thread: dropped
  const CallTrees all = ReadCallTrees(*builder.Build());
  ASSERT_EQ(all.trees.size(), 1u);
  EXPECT_EQ(all.trees[0].nodes.size(), 1u);
  EXPECT_EQ(all.trees[0].nodes[0].total, FollowedMs(2));
  EXPECT_FALSE(all.trees[0].complete);
  EXPECT_EQ(all.lost_rows, 4u);
}

TEST(CallTreesTest, ARecordingCutOrWithAFlippedBitYieldsNoInventedRow) {
  RecordingWriter recording = FollowedRecording();
  std::vector<std::byte> bytes = testing::Bytes(recording);
  const std::multiset<std::string> whole = BareRows(*ReadFollowed(bytes));
  const std::size_t begin = wire::kHeaderSize + wire::kChunkHeaderSize;
  std::uint64_t damaged = 0;
  for (std::size_t at = begin; at < begin + 20 * std::size_t{wire::kRecordSize}; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte{static_cast<unsigned char>(1 << bit)};
      const auto trace = ReadFollowed(bytes);
      bytes[at] ^= std::byte{static_cast<unsigned char>(1 << bit)};
      const std::multiset<std::string> rows = BareRows(*trace);
      ASSERT_TRUE(std::includes(whole.begin(), whole.end(), rows.begin(), rows.end())) << at;
      damaged += trace->losses().damaged_records;
    }
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    const std::multiset<std::string> rows = BareRows(*ReadFollowed(cut));
    ASSERT_TRUE(std::includes(whole.begin(), whole.end(), rows.begin(), rows.end())) << at;
  }
  EXPECT_GT(damaged, 1000u);
}

TEST(CallTreesTest, APackedTraceCutOrWithAFlippedBitYieldsNoInventedRow) {
  const testing::TempFolder folder;
  RecordingWriter recording = FollowedRecording();
  testing::WriteFile(folder / "r", testing::Bytes(recording));
  ASSERT_TRUE(PackTrace(folder / "r", folder / "p").has_value());
  std::vector<std::byte> bytes = testing::ReadFile(folder / "p");
  const std::multiset<std::string> whole = BareRows(**OpenTraceBytes(bytes, "whole"));
  ASSERT_EQ(whole.size(), 6u);
  std::uint64_t reported = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= std::byte{4};
    const auto trace = OpenTraceBytes(bytes, "flipped");
    bytes[at] ^= std::byte{4};
    std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    const auto cut = OpenTraceBytes(std::move(part), "cut");
    for (const auto* one : {&trace, &cut}) {
      if (!*one) continue;
      const std::multiset<std::string> rows = BareRows(***one);
      ASSERT_TRUE(std::includes(whole.begin(), whole.end(), rows.begin(), rows.end())) << at;
      reported += (**one)->losses().any() ? 1u : 0u;
    }
  }
  EXPECT_GT(reported, bytes.size() / 2);
}

}  // namespace
}  // namespace penstock::traces
