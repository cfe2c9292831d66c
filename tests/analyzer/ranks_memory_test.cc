// SPDX-License-Identifier: Apache-2.0
//
// Memory of several ranks: how much of its host's memory each may use, and how much all of them
// need.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "analyzer/predict/scenario.h"
#include "analyzer/ranks/rank_summary.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_memory.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer {
namespace {

using testing::AddBeside;
using testing::AddCounter;
using testing::AddShm;
using testing::FindingOf;
using testing::Leaking;
using testing::MemoryOf;
using testing::SideBySide;
using testing::Synthetic;
using testing::Walk;
using testing::WithMemory;

Walk Even(double) {
  return {};
}

// `data` as the trace of rank `rank`, which has the place `local` on its host.
traces::TraceData OfRank(traces::TraceData data, int rank, int local) {
  for (traces::ProcessInfo& process : data.processes) {
    process.rank = rank;
    process.local_rank = local;
  }
  return data;
}

traces::TraceData OnOneHost(int ranks) {
  traces::TraceData data = OfRank(WithMemory(Synthetic{}, Even), 0, 0);
  for (int rank = 1; rank < ranks; ++rank) {
    AddBeside(data, OfRank(WithMemory(Synthetic{}, Even), rank, rank),
              1000 * static_cast<std::uint32_t>(rank));
  }
  return data;
}

TEST(RanksMemoryTest, EachRankHasAnEqualPartOfWhatIsLeft) {
  traces::TraceData data = OnOneHost(8);
  data.facts["memory.total"] = "256000000000";
  data.facts["cgroup.memory_limit"] = "64000000000";
  AddCounter(data, "cgroup_memory_bytes", 0, 1005, 30e9);
  const MemoryModel memory = MemoryOf(std::move(data));
  EXPECT_EQ(memory.ranks, 8);
  EXPECT_EQ(memory.limit_of, "control group");
  EXPECT_DOUBLE_EQ(memory.limit, 8e9);
  EXPECT_DOUBLE_EQ(memory.room, (64e9 - 30e9) / 8);
}

// There is no counter of the memory that is left. Each worker takes 340 MB: its own memory, and its
// part of the shared memory.
TEST(RanksMemoryTest, WhatAllRanksUseIsTakenFromTheWhole) {
  EXPECT_NEAR(MemoryOf(OnOneHost(2)).room, 16e9 / 2 - 2 * 340e6, 1e6);
  traces::TraceData one = OfRank(WithMemory(Synthetic{}, Even), 1, 1);
  one.processes[0].facts["rank.local_size"] = "4";  // three of the four were not recorded
  EXPECT_NEAR(MemoryOf(std::move(one)).room, 16e9 / 4 - 2 * 340e6, 1e6);
}

TEST(RanksMemoryTest, CountersOfAnotherHostAreNotOurs) {
  traces::TraceData data =
      OfRank(WithMemory(Synthetic{}, Leaking, {.walks = 20, .available = 10e9}), 0, 0);
  traces::TraceData other =
      OfRank(WithMemory(Synthetic{}, Leaking, {.walks = 20, .available = 1e9}), 1, 0);
  AddShm(data, 0, 4096, 60e6);
  AddShm(other, 0, 500e6, 900e6);
  for (traces::ProcessInfo& process : data.processes) process.facts["part"] = "0";
  for (traces::ProcessInfo& process : other.processes) process.facts["part"] = "1";
  AddBeside(data, std::move(other), 1000);
  data.facts["part.0.boot_id"] = "one";
  data.facts["part.0.memory.total"] = "16000000000";
  data.facts["part.1.boot_id"] = "two";
  data.facts["part.1.memory.total"] = "2000000000";
  const MemoryModel memory = MemoryOf(std::move(data));
  EXPECT_EQ(memory.room, 10e9);
  EXPECT_EQ(memory.limit, 16e9);
  EXPECT_EQ(memory.shared.before, 4096);
  EXPECT_EQ(memory.shared.most, 60e6);
}

TEST(RanksMemoryTest, AWorkerIsTakenToBeOfTheSizeOfOurs) {
  traces::TraceData data = OfRank(WithMemory(Synthetic{}, Even), 0, 0);
  const auto large = [](double) { return Walk{2e9, 900e6}; };
  AddBeside(data, OfRank(WithMemory(Synthetic{}, large), 1, 1), 1000);
  const auto trace = traces::MakeTrace(std::move(data));
  const RunModel run = BuildRunModel(*trace);
  ASSERT_EQ(trace->processes()[run.loader().config.consumer.value].rank, 0);
  EXPECT_EQ(FactsOf(run, run.loader()).worker_bytes, 40e6);
}

TEST(RanksMemoryTest, BatchesOfAMillionRanksAreCounted) {
  traces::TraceData data = testing::MakeSynthetic(Synthetic{});
  data.facts["shm.size"] = "67108864";
  data.processes[0].rank = data.processes[0].local_rank = 3;
  data.processes[0].world_size = 1 << 20;
  data.processes[0].facts["rank.local_size"] = "1048576";
  data.processes[0].facts["loader.0.prefetch_factor"] = "2048";
  const auto finding = FindingOf("shared-memory-too-small", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_EQ(testing::Evidence(*finding, "batches_on_their_way"), 1048576.0 * 2 * 2049);
}

TEST(RanksMemoryTest, ALimitIsKnownWithoutTheSizeOfTheMachine) {
  traces::TraceData data = OnOneHost(2);
  data.facts.erase("memory.total");
  data.facts["cgroup.memory_limit"] = "8000000000";
  const auto trace = traces::MakeTrace(std::move(data));
  const RankSummary ranks = SummariseRanks(*trace, BuildRunModel(*trace));
  EXPECT_EQ(ranks.hosts[0].memory_limit, 4e9);
}

// Two ranks with four workers of 5 GB each need 40 GB; half of 64 GB is 32.
traces::TraceData TooLarge(const Synthetic& each) {
  traces::TraceData data = SideBySide(each, 2);
  data.facts["memory.total"] = "64000000000";
  for (std::uint32_t i = 0; i < data.processes.size(); ++i) {
    if (data.processes[i].role == wire::kRoleWorker) AddCounter(data, "uss_bytes", i, 1100, 5e9);
  }
  return data;
}

Synthetic FourWorkers() {
  Synthetic run;
  run.workers = 4;
  run.cores = 64;
  run.batches = 60;
  run.costs = testing::Always({1, 30, 5, 0.5, 0.1, 0.3, 4, 0});
  return run;
}

double WorkersThatFit(const Finding& finding) {
  for (const auto& [key, value] : finding.evidence) {
    if (key == "workers_that_fit") return std::get<double>(value);
  }
  return 0;
}

TEST(RanksExceedHostTest, TooMuchMemoryAsksForFewerWorkersNotForMore) {
  const auto finding = FindingOf("ranks-exceed-host", TooLarge(FourWorkers()));
  ASSERT_TRUE(finding);
  EXPECT_EQ(WorkersThatFit(*finding), 3);  // 32 / 40 of four workers, rounded down
  EXPECT_NE(English(finding->action).find("num_workers=3 "), std::string::npos)
      << English(finding->action);
}

TEST(RanksExceedHostTest, SaysNothingOfCoresThatAreNotKnown) {
  Synthetic run = FourWorkers();
  run.host_facts = false;
  const auto finding = FindingOf("ranks-exceed-host", TooLarge(run));
  ASSERT_TRUE(finding);
  EXPECT_EQ(English(finding->seen).find("cores"), std::string::npos) << English(finding->seen);
  EXPECT_NE(English(finding->seen).find("each: 40.0 GB of memory"), std::string::npos)
      << English(finding->seen);
  EXPECT_EQ(English(finding->action).find("cores"), std::string::npos) << English(finding->action);
  EXPECT_GE(WorkersThatFit(*finding), 1);
  EXPECT_LE(WorkersThatFit(*finding), 3);
}

}  // namespace
}  // namespace penstock::analyzer
