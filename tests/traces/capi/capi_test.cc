// SPDX-License-Identifier: Apache-2.0
//
// Tests three parts of the C API: followed calls as columns, penstock_trace_places(), and texts.
// tests/python/trace_test.py tests the other tables.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/traces/call_tree_maker.h"
#include "tests/traces/support.h"
#include "traces/capi/penstock_trace.h"
#include "traces/pack.h"

namespace penstock::traces {
namespace {

using testing::FollowedUnit;

constexpr TimeNs FollowedMs(std::int64_t n) {
  return TimeNs{n * 1'000'000};
}

// A sample with a function, a line of it and a builtin, then a step with one function.
void WriteUnits(const std::string& path) {
  auto packer = CreatePacked(path);
  ASSERT_TRUE(packer.has_value());
  ProcessInfo info;
  info.pid = 1;
  const ProcessId process = (*packer)->AddProcess(info);
  const ThreadId thread = (*packer)->AddThread({.process = process, .tid = 1});
  FollowedUnit sample({.at = FollowedMs(1000),
                       .duration = FollowedMs(10),
                       .cost = FollowedMs(1),
                       .sample = 40,
                       .thread = thread,
                       .batch = {.index = 7, .generation = 2},
                       .stage = StageId::kSample});
  const auto getitem = sample.Function("__getitem__", "/a/data.py", 40,
                                       {.total = FollowedMs(8), .own = FollowedMs(1)});
  const auto line =
      sample.Line(getitem, 47, {.total = FollowedMs(7), .own = FollowedMs(5), .count = 4096});
  sample.Builtin("choice", {.total = FollowedMs(2), .own = FollowedMs(2), .count = 64}, line);
  sample.AddTo(**packer);
  FollowedUnit step({.at = FollowedMs(2000),
                     .duration = FollowedMs(3),
                     .thread = thread,
                     .stage = StageId::kStep});
  step.Function("train", "/a/train.py", 9, {.total = FollowedMs(3), .own = FollowedMs(3)});
  step.AddTo(**packer);
  ASSERT_TRUE((*packer)->Finish().has_value());
}

class FollowedCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_ / "t.penstock";
    ASSERT_NO_FATAL_FAILURE(WriteUnits(path));
    ASSERT_EQ(penstock_trace_open(path.c_str(), &trace_), 0) << penstock_trace_message();
  }
  void TearDown() override { penstock_trace_close(trace_); }

  std::string Text(std::uint32_t id) {
    std::uint64_t end = 0;
    std::string text(100, ' ');
    const auto size = penstock_trace_texts(trace_, &id, 1, &end, text.data(), text.size());
    text.resize(static_cast<std::size_t>(size));
    return text;
  }

  const testing::TempFolder folder_;
  PenstockTrace* trace_ = nullptr;
};

TEST_F(FollowedCalls, AreARowForEachNodeWithItsUnit) {
  PenstockCounts counts{};
  counts.size = sizeof counts;
  penstock_trace_counts(trace_, &counts);
  ASSERT_EQ(counts.functions, 4u);
  std::vector<std::int64_t> own(4), total(4), unit_time(4), sample(4), batch(4), start(4);
  std::vector<std::uint64_t> calls(4);
  std::vector<std::uint32_t> unit(4), function(4), file(4), line(4);
  std::vector<std::int32_t> node(4), caller(4);
  std::vector<std::uint16_t> generation(4);
  std::vector<std::uint8_t> stage(4), kind(4), flags(4);
  PenstockFunctions out{};
  out.size = sizeof out;
  out.start = start.data();
  out.unit_time = unit_time.data();
  out.sample = sample.data();
  out.batch = batch.data();
  out.own = own.data();
  out.total = total.data();
  out.calls = calls.data();
  out.unit = unit.data();
  out.function = function.data();
  out.file = file.data();
  out.line = line.data();
  out.node = node.data();
  out.caller = caller.data();
  out.generation = generation.data();
  out.stage = stage.data();
  out.kind = kind.data();
  out.flags = flags.data();
  ASSERT_EQ(penstock_trace_functions(trace_, ~std::uint64_t{0}, &out), 4);
  using Longs = std::vector<std::int64_t>;
  using Numbers = std::vector<std::uint32_t>;
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(own, (Longs{1'000'000, 5'000'000, 2'000'000, 3'000'000}));
  EXPECT_EQ(total, (Longs{8'000'000, 7'000'000, 2'000'000, 3'000'000}));
  EXPECT_EQ(unit_time, (Longs{9'000'000, 9'000'000, 9'000'000, 3'000'000}));
  EXPECT_EQ(start, (Longs{1'000'000'000, 1'000'000'000, 1'000'000'000, 2'000'000'000}));
  EXPECT_EQ(sample, (Longs{40, 40, 40, -1}));
  EXPECT_EQ(batch, (Longs{7, 7, 7, -1}));
  EXPECT_EQ(generation[0], 2);
  EXPECT_EQ(calls, (std::vector<std::uint64_t>{1, 4096, 64, 1}));
  EXPECT_EQ(unit, (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(line, (Numbers{40, 47, 0, 9}));
  EXPECT_EQ(node, (std::vector<std::int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(caller, (std::vector<std::int32_t>{-1, 0, 1, -1}));
  const auto sampled = static_cast<std::uint8_t>(StageId::kSample);
  EXPECT_EQ(stage, (Bytes{sampled, sampled, sampled, static_cast<std::uint8_t>(StageId::kStep)}));
  EXPECT_EQ(kind, (Bytes{1, 3, 2, 1}));
  EXPECT_EQ(flags, (Bytes{wire::kUnitLines, wire::kUnitLines, wire::kUnitLines, 0}));
  EXPECT_EQ(Text(function[1]), "__getitem__");
  EXPECT_EQ(Text(file[1]), "/a/data.py");
  EXPECT_EQ(Text(function[2]), "choice");
  EXPECT_EQ(Text(file[2]), "");
  EXPECT_STREQ(penstock_trace_call(3), "line");
  EXPECT_EQ(penstock_trace_call(0), nullptr);
  EXPECT_EQ(penstock_trace_call(4), nullptr);
}

TEST_F(FollowedCalls, OfOneStageKeepTheNumberOfTheirUnit) {
  std::vector<std::uint32_t> unit(4);
  PenstockFunctions out{};
  out.size = sizeof out;
  out.unit = unit.data();
  const std::uint64_t steps = std::uint64_t{1} << static_cast<unsigned>(StageId::kStep);
  ASSERT_EQ(penstock_trace_functions(trace_, steps, &out), 1);
  EXPECT_EQ(unit[0], 1u);
}

TEST_F(FollowedCalls, DoNotFitIntoCountsOfAnOlderCaller) {
  PenstockCounts counts{};
  counts.size = offsetof(PenstockCounts, functions);
  counts.functions = 99;
  penstock_trace_counts(trace_, &counts);
  EXPECT_EQ(counts.functions, 99u);
  EXPECT_EQ(counts.size, offsetof(PenstockCounts, functions));
}

TEST_F(FollowedCalls, TextsThatDoNotFitAreCounted) {
  PenstockFunctions out{};
  out.size = sizeof out;
  std::vector<std::uint32_t> function(4);
  out.function = function.data();
  ASSERT_EQ(penstock_trace_functions(trace_, ~std::uint64_t{0}, &out), 4);
  const std::uint32_t ids[] = {function[0], function[2]};  // "__getitem__" and "choice"
  std::uint64_t ends[2] = {};
  std::string text(11, ' ');
  EXPECT_EQ(penstock_trace_texts(trace_, ids, 2, ends, text.data(), text.size()), 17);
  EXPECT_EQ(text, "__getitem__");
  EXPECT_EQ(ends[0], 11u);
  EXPECT_EQ(ends[1], 17u);
  text.resize(17);
  EXPECT_EQ(penstock_trace_texts(trace_, ids, 2, ends, text.data(), text.size()), 17);
  EXPECT_EQ(text, "__getitem__choice");
}

TEST(PlacesTest, AreThePositionsAmongTheSortedIdsThatOccur) {
  constexpr std::uint32_t kBound = 3001;
  for (const std::uint64_t rows : {0ULL, 1ULL, 1000ULL, 1'000'000ULL}) {  // a million: in 4 pieces
    std::vector<std::uint32_t> ids(rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
      ids[i] = static_cast<std::uint32_t>(i * 7919 % (kBound / 3) * 3 + 1);  // every third id
    }
    std::vector<std::uint32_t> column = ids;
    std::vector<std::uint32_t> places(kBound, 0);
    std::vector<std::uint32_t> used(std::min<std::uint64_t>(rows, kBound));
    const std::int64_t count =
        penstock_trace_places(column.data(), rows, places.data(), kBound, used.data());
    EXPECT_EQ(count, static_cast<std::int64_t>(std::min<std::uint64_t>(rows, kBound / 3)));
    used.resize(static_cast<std::size_t>(count));
    EXPECT_TRUE(std::is_sorted(used.begin(), used.end()));
    for (std::uint64_t i = 0; i < rows; ++i) {
      ASSERT_LT(column[i], used.size());
      ASSERT_EQ(used[column[i]], ids[i]);
    }
  }
}

// Leaves this process no room for the stack of another thread.
void AllowNoMoreThreads() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 20);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

TEST(PlacesDeathTest, AreFoundWithoutOtherThreads) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer needs the addresses";
#endif
  std::vector<std::uint32_t> column(1'000'000, 2);  // in 4 pieces
  std::vector<std::uint32_t> places(3, 0);
  std::vector<std::uint32_t> used(3, 0);
  EXPECT_EXIT(
      {
        AllowNoMoreThreads();
        const std::int64_t count = penstock_trace_places(column.data(), column.size(),
                                                         places.data(), places.size(), used.data());
        std::_Exit(count == 1 && used[0] == 2 && column.back() == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock::traces
