// SPDX-License-Identifier: Apache-2.0
//
// What tune tries for a recording: settings of the loader, and fixes that need no edit of the
// program. The cheapest come first.
#include "analyzer/tune/candidates.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "analyzer/main/tune.h"
#include "analyzer/report/overrides.h"
#include "tests/analyzer/synthetic.h"
#include "traces/trace.h"

namespace penstock::analyzer::testing {
namespace {

// Two workers that decode all the time and fault their memory in for each sample.
traces::TraceData FaultsEachSample(double decode = 4, const std::string& allocator = "") {
  Synthetic run;
  run.costs = Always({.read = 0.1, .decode = decode, .augment = 1.5, .collate = 0.5, .step = 1});
  traces::TraceData data = MakeSynthetic(run);
  data.facts["host.fault_ns"] = "1000";
  const double end = 1000 + static_cast<double>(run.batches) * (decode + 2.2) / run.workers;
  for (std::uint32_t p = 1; p <= 2; ++p) {
    if (!allocator.empty()) data.processes[p].facts["allocator"] = allocator;
    const double rate = 1000.0 * run.batch_size / (decode + 2.2);  // faults a millisecond
    for (double at = 1000; at < end; at += 20) {
      AddCounter(data, "minor_faults", p, at, rate * (at - 1000));
    }
  }
  return data;
}

std::vector<TuneCandidate> CandidatesOf(traces::TraceData data, std::size_t most = 5) {
  const auto trace = traces::MakeTrace(std::move(data));
  return TuneCandidates(*trace, Diagnose(*trace), {most, 0, {}});
}

const TuneCandidate* CandidateOf(const std::vector<TuneCandidate>& candidates,
                                 const std::string& text) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const auto& one) { return one.setting.Override() == text; });
  return found == candidates.end() ? nullptr : &*found;
}

TEST(TuneCandidatesTest, TheMallocFixIsFoundWithItsPredictionAndItsVariables) {
  const auto candidates = CandidatesOf(FaultsEachSample());
  const TuneCandidate* fix = CandidateOf(candidates, "malloc=keep");
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->reasons, (std::vector<std::string>{"plan", "allocator-page-faults"}));
  ASSERT_TRUE(fix->predicted);
  EXPECT_GT(fix->predicted->speedup, 1.5);
  ASSERT_EQ(fix->paste.size(), 1u);
  EXPECT_NE(fix->paste[0].find("MALLOC_TRIM_THRESHOLD_=268435456"), std::string::npos);
}

TEST(TuneCandidatesTest, UnderJemallocPillowKeepsItsBlocks) {
  EXPECT_NE(CandidateOf(CandidatesOf(FaultsEachSample(4, "jemalloc")), "pillow_blocks=16"),
            nullptr);
  // For other allocators, no fix is known that needs no edit of the program.
  for (const TuneCandidate& one : CandidatesOf(FaultsEachSample(4, "mimalloc"))) {
    EXPECT_TRUE(one.setting.outside.empty()) << one.setting.Override();
  }
}

TEST(TuneCandidatesTest, TheThreadFixIsFound) {
  Synthetic run;
  run.costs = Always({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.cores = 4;
  traces::TraceData data = MakeSynthetic(run);
  for (std::uint32_t p = 1; p < data.processes.size(); ++p) {
    for (int i = 0; i < 100; ++i) {
      AddCounter(data, "cpu_ns", p, 1000 + 50.0 * i, 1.8 * 50e6 * i);
      AddCounter(data, "threads", p, 1000 + 50.0 * i, 8);
    }
  }
  const auto candidates = CandidatesOf(std::move(data));
  const TuneCandidate* fix = CandidateOf(candidates, "threads=1,cv2_threads=0");
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->reasons, std::vector<std::string>{"cpu-oversubscribed"});
  EXPECT_FALSE(fix->predicted);  // no rule predicts its gain
}

// If malloc keeps its memory, fewer workers suffice. The plan considers both changes together.
TEST(TuneCandidatesTest, WorkersAndMallocAreThePlansTogether) {
  const auto candidates = CandidatesOf(FaultsEachSample(12));
  const auto together = std::find_if(candidates.begin(), candidates.end(), [](const auto& one) {
    return one.setting.loader && one.setting.outside == std::vector<std::string>{"malloc=keep"};
  });
  ASSERT_NE(together, candidates.end());
  EXPECT_EQ(together->reasons, (std::vector<std::string>{"plan", "allocator-page-faults"}));
  ASSERT_TRUE(together->predicted);
  for (const TuneCandidate& one : candidates) {
    if (!one.predicted || &one == &*together) continue;
    EXPECT_GE(together->predicted->speedup, 0.97 * one.predicted->speedup)
        << one.setting.Override();
  }
}

TEST(TuneCandidatesTest, StandInOrderOfTheirCostAndEachOnce) {
  const auto candidates = CandidatesOf(FaultsEachSample(12));
  ASSERT_GE(candidates.size(), 2u);
  int before = 0;
  for (const TuneCandidate& one : candidates) {
    const int workers = one.setting.loader ? one.setting.loader->workers : 2;
    EXPECT_GE(workers, before) << one.setting.Override();
    before = workers;
    EXPECT_EQ(std::count_if(candidates.begin(), candidates.end(),
                            [&](const auto& other) { return other.setting == one.setting; }),
              1);
  }
}

TEST(TuneCandidatesTest, AreNoMoreThanAskedFor) {
  EXPECT_EQ(CandidatesOf(FaultsEachSample(12), 1).size(), 1u);
  EXPECT_LE(CandidatesOf(FaultsEachSample(12), 2).size(), 2u);
}

TEST(TuneCandidatesTest, TuneTakesTheMallocFixWhereItGainsAsMuch) {
  const TuneRunner run = [](const TuneSetting& setting) -> Result<TuneRun> {
    const auto& outside = setting.outside;
    const bool keeps = std::find(outside.begin(), outside.end(), "malloc=keep") != outside.end();
    return TuneRun{traces::MakeTrace(FaultsEachSample(keeps ? 1.2 : 4)), {}};
  };
  const auto result = Tune(run, {});
  ASSERT_TRUE(result);
  ASSERT_GT(result->taken, 0u);
  const TuneArm& taken = result->arms[result->taken - 1];
  EXPECT_EQ(taken.candidate.setting.Override(), "malloc=keep");
  EXPECT_GT(taken.ratio.low, 1.05);
}

TEST(OverridesTest, SayWhatHeldWhatDidNotAndWhatNothingTook) {
  traces::TraceData data = MakeSynthetic({});
  data.facts["record.override"] = "workers=2,threads=1,cv2_threads=0,malloc=jemalloc";
  data.facts["override.threads"] = "1";
  data.facts["override.malloc"] = "jemalloc";
  data.processes[0].facts["override.workers"] = "2";
  data.processes[1].facts["override.lost.threads"] = "OMP_NUM_THREADS=4";
  data.processes[1].facts["allocator"] = "jemalloc";
  const auto trace = traces::MakeTrace(std::move(data));
  const auto notes = Overrides(*trace);
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0].state, OverrideState::kHeld);
  EXPECT_EQ(notes[1].state, OverrideState::kLost);
  EXPECT_EQ(notes[1].found, "OMP_NUM_THREADS=4");
  EXPECT_EQ(notes[2].state, OverrideState::kUnused);
  EXPECT_EQ(notes[3].state, OverrideState::kHeld);
  EXPECT_EQ(English(OverridesSaid(notes)),
            "workers=2, malloc=jemalloc; not in effect, something else was found: threads=1 "
            "(OMP_NUM_THREADS=4); not used by anything in the run: cv2_threads=0");
  EXPECT_TRUE(OverridesSaid({}).empty());
}

TEST(OverridesTest, ADamagedFactIsNoChangeThatHeld) {
  traces::TraceData data = MakeSynthetic({});
  data.facts["record.override"] = "malloc,=,workers";
  data.processes[0].facts["allocator"] = "libc";
  const auto trace = traces::MakeTrace(std::move(data));
  const auto notes = Overrides(*trace);
  EXPECT_EQ(notes.size(), 3u);
  for (const OverrideNote& note : notes) EXPECT_NE(note.state, OverrideState::kHeld) << note.change;
}

}  // namespace
}  // namespace penstock::analyzer::testing
