// SPDX-License-Identifier: Apache-2.0
//
// Workers copy memory of the training process before any growth can be measured.
#include "analyzer/memory/copied_memory.h"

#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analyzer/advice/memory_forecast.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_memory.h"

namespace penstock::analyzer {
namespace {

using testing::AddCounter;
using testing::FindingOf;
using testing::MemoryOf;
using testing::Told;
using testing::TwoWorkers;
using testing::WithMemory;

constexpr double kParent = 400e6;  // anonymous memory of the training process

struct Early {
  double copied = 246e6;
  double fresh = 20e6;
  double faults = 100e3;
  int walks = 2;         // readings of a worker's memory: too few for a slope
  double available = 0;  // bytes; 0: not recorded
  std::string start_method = "fork";
};

double EvidenceOf(const Finding& finding, std::string_view key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == key) return std::get<double>(value);
  }
  return std::nan("");
}

traces::TraceData CopiedEarly(const Early& early) {
  const auto course = [&](double) {
    return testing::Walk{early.copied + early.fresh, kParent - early.copied, 0};
  };
  Told told;
  told.walks = early.walks;
  told.available = early.available;
  traces::TraceData data = WithMemory(TwoWorkers(), course, told);
  data.processes[0].facts["loader.0.start_method"] = early.start_method;
  for (const std::uint32_t worker : {1u, 2u}) {
    AddCounter(data, "rss_anon_bytes", worker, 1001, kParent);
    AddCounter(data, "minor_faults", worker, 1001, 100);
    AddCounter(data, "rss_anon_bytes", worker, 1005, kParent + early.fresh);
    AddCounter(data, "minor_faults", worker, 1005, early.faults);
  }
  return data;
}

std::optional<Finding> FoundIn(const Early& early) {
  return FindingOf("worker-memory-copied", CopiedEarly(early));
}

TEST(CopiedMemoryTest, IsToldFromTwoWalks) {
  const MemoryModel memory = MemoryOf(CopiedEarly({}));
  EXPECT_FALSE(memory.known);  // too few for a slope
  ASSERT_TRUE(memory.copied);
  EXPECT_NEAR(memory.copied->copied, 246e6, 1e6);
  EXPECT_NEAR(memory.copied->fresh, 20e6, 1e6);
  EXPECT_NEAR(memory.copied->parent, kParent, 1e6);
}

TEST(CopiedMemoryTest, TheParentIsReadWhereItWasForked) {
  // The parent made the shared data just before the workers start. The last reading of its memory
  // before the start is older than the data.
  traces::TraceData data = CopiedEarly({});
  AddCounter(data, "rss_anon_bytes", 0, 600, kParent / 4);
  AddCounter(data, "rss_anon_bytes", 0, 1051, kParent);
  const MemoryModel memory = MemoryOf(std::move(data));
  ASSERT_TRUE(memory.copied);
  EXPECT_NEAR(memory.copied->parent, kParent, 1e6);
  EXPECT_NEAR(memory.copied->fresh, 20e6, 1e6);
}

// The second walk comes after the training process has ended: then all pages are the worker's own.
TEST(CopiedMemoryTest, MemoryAfterTheEndOfTheTrainingProcessIsNotCopied) {
  traces::TraceData data = CopiedEarly({.copied = 10e6});
  AddCounter(data, "rss_bytes", 0, 8000, kParent);
  for (const std::uint32_t worker : {1u, 2u}) {
    for (const char* name : {"private_dirty_bytes", "anonymous_bytes", "pss_anon_bytes"}) {
      AddCounter(data, name, worker, 9000, kParent + 20e6);
    }
  }
  const MemoryModel memory = MemoryOf(std::move(data));
  ASSERT_TRUE(memory.copied);
  EXPECT_NEAR(memory.copied->copied, 10e6, 1e6);
}

TEST(CopiedMemoryTest, NewMemoryIsNoCopy) {
  const MemoryModel memory = MemoryOf(CopiedEarly({.copied = 10e6, .fresh = 256e6}));
  ASSERT_TRUE(memory.copied);
  EXPECT_NEAR(memory.copied->copied, 10e6, 1e6);
  EXPECT_FALSE(FoundIn({.copied = 10e6, .fresh = 256e6}));
}

TEST(CopiedMemoryTest, APageThatWasCopiedFaulted) {
  // Each copied page causes a page fault, so private pages without page faults are no copies.
  const MemoryModel memory = MemoryOf(CopiedEarly({.faults = 5000}));
  ASSERT_TRUE(memory.copied);
  EXPECT_LE(memory.copied->copied, 5000 * 4096.0);
  EXPECT_FALSE(FoundIn({.faults = 5000}));
}

TEST(CopiedMemoryTest, TheFindingSaysItInBytes) {
  const auto finding = FoundIn({});
  ASSERT_TRUE(finding);
  EXPECT_NEAR(EvidenceOf(*finding, "copied_bytes"), 246e6, 1e6);
  EXPECT_EQ(EvidenceOf(*finding, "minor_faults"), 100e3);
  EXPECT_NE(English(finding->seen).find("each of 2 workers has copied 246 MB of the 400 MB"),
            std::string::npos)
      << English(finding->seen);
  EXPECT_FALSE(finding->predicted);
  EXPECT_EQ(finding->severity, Severity::kInfo);
  EXPECT_EQ(English(finding->action).find("bounds"), std::string::npos);
}

TEST(CopiedMemoryTest, TheFindingSpeaksOfOneWorkerInTheSingular) {
  traces::TraceData data = CopiedEarly({});
  data.processes[0].facts["loader.0.num_workers"] = "1";
  const auto finding = FindingOf("worker-memory-copied", std::move(data));
  ASSERT_TRUE(finding);
  const std::string seen = English(finding->seen);
  EXPECT_EQ(seen.find("the only worker has copied"), 0u) << seen;
  EXPECT_EQ(seen.find("in all"), std::string::npos) << seen;
}

TEST(CopiedMemoryTest, TheFindingSaysWhereMemoryBoundsTheWorkers) {
  const auto finding = FoundIn({.available = 1e9});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::kWarning);
  // 1 GB is left, and two workers use 266 MB each. A worker that copies everything needs 420 MB, so
  // three fit.
  EXPECT_EQ(EvidenceOf(*finding, "workers_that_fit"), 3);
  EXPECT_NE(English(finding->action).find("bounds the number of workers"), std::string::npos);
  EXPECT_NE(English(finding->action).find("has room for 3 workers."), std::string::npos)
      << English(finding->action);
  const auto none = FoundIn({.available = 1e8});
  ASSERT_TRUE(none);
  EXPECT_NE(English(none->action).find("fewer than there are"), std::string::npos);
}

TEST(CopiedMemoryTest, WorkersThatAreNotForkedCopyNothing) {
  EXPECT_FALSE(FoundIn({.start_method = "spawn"}));
}

TEST(CopiedMemoryTest, LittleIsNoFinding) {
  EXPECT_FALSE(FoundIn({.copied = 40e6}));
}

}  // namespace
}  // namespace penstock::analyzer
