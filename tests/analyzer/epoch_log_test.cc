// SPDX-License-Identifier: Apache-2.0
//
// The moment when the program began to make an iterator.
#include "analyzer/model/epoch_log.h"

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "analyzer/model/run_model.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kLogMs = 1'000'000;
constexpr ProcessId kProcess{0};

// With zip(a, b), the program makes the second iterator as soon as the first one is made. The hooks
// record the event of an iterator just before its span.
TEST(EpochLogTest, TheStartupOfTheIteratorBeforeIsNotItsOwn) {
  EpochLog log;
  log.AddStart({kProcess, 1}, 10 * kLogMs);
  log.AddStartup({kProcess, 1}, 10 * kLogMs + 2 * kUs, 310 * kLogMs);
  log.AddStart({kProcess, 2}, 310 * kLogMs + 100 * kUs);
  log.AddStartup({kProcess, 2}, 310 * kLogMs + 102 * kUs, 620 * kLogMs);
  EXPECT_EQ(log.StartOf({kProcess, 1}, 621 * kLogMs), 10 * kLogMs);
  EXPECT_EQ(log.StartOf({kProcess, 2}, 625 * kLogMs), 310 * kLogMs + 100 * kUs);
}

// DALI's hooks record the event at the first next(), soon after the iterator was made.
TEST(EpochLogTest, AStartupThatNamesNoIteratorIsThatOfTheNextOne) {
  EpochLog log;
  log.AddStartup({kProcess, 0}, 10 * kLogMs, 310 * kLogMs);
  log.AddStart({kProcess, 1}, 310 * kLogMs + 200 * kUs);
  log.AddStart({kProcess, 2}, 900 * kLogMs);
  EXPECT_EQ(log.StartOf({kProcess, 1}, 311 * kLogMs), 10 * kLogMs);
  EXPECT_EQ(log.StartOf({kProcess, 2}, 901 * kLogMs), 900 * kLogMs);
  EXPECT_EQ(log.StartOf({ProcessId{1}, 1}, 20 * kLogMs), 20 * kLogMs);  // another process
}

TEST(EpochLogTest, WithoutAnEventTheFirstWaitTells) {
  EpochLog log;
  log.AddStartup({kProcess, 3}, 10 * kLogMs, 310 * kLogMs);
  EXPECT_EQ(log.StartOf({kProcess, 3}, 310 * kLogMs + 500 * kUs), 10 * kLogMs);
  EXPECT_EQ(log.StartOf({kProcess, 3}, 400 * kLogMs), 400 * kLogMs);
}

// The start of the epoch that begins at 1000 ms, if a startup span with this batch ends then.
std::int64_t StartAfter(traces::BatchKey key) {
  traces::TraceData data = testing::MakeSynthetic(testing::Synthetic{});
  traces::Span startup;
  startup.stage = traces::StageId::kStartup;
  startup.start = testing::Ms(600);
  startup.duration = testing::Ms(400);
  startup.batch = key;
  data.spans[0].push_back(startup);
  return BuildRunModel(*traces::MakeTrace(std::move(data))).loader().epochs.at(0).start;
}

TEST(EpochLogTest, ASpanWithABatchOfTheLoopNamesNoIterator) {
  EXPECT_EQ(StartAfter({wire::kNoBatch, 7}), 1000 * kLogMs);  // the startup of iterator 7
  EXPECT_EQ(StartAfter({wire::kNoBatch, 1}), 600 * kLogMs);   // the startup of its own iterator
  EXPECT_EQ(StartAfter({3, 7}), 600 * kLogMs);                // it began while the loop had batch 3
}

}  // namespace
}  // namespace penstock::analyzer
