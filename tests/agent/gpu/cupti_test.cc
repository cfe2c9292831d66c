// SPDX-License-Identifier: Apache-2.0
//
// The agent in a program that uses CUDA, with doubles of driver, runtime and CUPTI: what the trace
// says against what the doubles did, and that nothing CUPTI does changes the program.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/agent/gpu/run.h"

namespace penstock::traces {
namespace {

constexpr int kSteps = 8;
constexpr const char* kOldCupti = PENSTOCK_GPU_DOUBLES "/cupti11/libcupti.so.11.2";

struct Truth {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t tid = 0;
  std::uint64_t bytes = 0;
};
struct Truths {
  std::map<std::uint32_t, Truth> calls, copies, sets, kernels;
  bool child = false;
};

class CuptiTest : public GpuRun {
 protected:
  static Variables With(Variables variables, const std::string& doubles = "driver:runtime:cupti") {
    std::string path;
    std::stringstream folders(doubles);
    for (std::string folder; std::getline(folders, folder, ':');) {
      path += (path.empty() ? "" : ":") + std::string(PENSTOCK_GPU_DOUBLES) + "/" + folder;
    }
    variables["LD_LIBRARY_PATH"] = path;
    return variables;
  }

  // Runs the training loop; its exit status is 7 and what it prints the same as without the agent.
  void Train(Variables variables, const std::string& doubles = "driver:runtime:cupti",
             const std::string& how = "train", int steps = kSteps) {
    truth_ = folder_ / "truth";
    std::filesystem::remove(truth_);
    variables = With(std::move(variables), doubles);
    const std::vector<std::string> words = {PENSTOCK_GPU_VICTIM, how, std::to_string(steps)};
    const int expected = Run(words, variables, false);
    const std::string printed = Printed();
    ASSERT_FALSE(printed.empty());
    variables["FAKE_TRUTH"] = truth_;
    const int status = Run(words, variables);
    ASSERT_EQ(status, expected) << "the exit status is the program's own";
    ASSERT_EQ(Printed(), printed) << "and so is what it prints";
    ASSERT_TRUE(WIFEXITED(status));
    trace = Open();
    ASSERT_NE(trace, nullptr);
  }

  Truths ReadTruth() {
    Truths truths;
    std::ifstream in(truth_);
    for (std::string what; in >> what;) {
      if (what == "child") {
        truths.child = true;
        continue;
      }
      std::uint32_t correlation = 0;
      Truth t;
      in >> correlation >> t.start >> t.end >> t.tid >> t.bytes;
      auto& to = what == "call"   ? truths.calls
                 : what == "copy" ? truths.copies
                 : what == "set"  ? truths.sets
                                  : truths.kernels;
      to[correlation] = t;
    }
    return truths;
  }

  std::string Fact(const std::string& key) {
    for (const ProcessInfo& process : trace->processes()) {
      if (const auto at = process.facts.find(key); at != process.facts.end()) return at->second;
    }
    return "";
  }

  // The copies and kernels of the trace are those of the doubles: times within 20 us, bytes,
  // device and stream, thread and batch of the call.
  void ExpectAgreement(bool exact_threads = true) {
    const Truths truths = ReadTruth();
    ASSERT_EQ(truths.copies.size(), std::size_t{3} * kSteps);
    ASSERT_EQ(truths.kernels.size(), std::size_t{2} * kSteps);
    std::map<std::uint32_t, Found> calls;
    for (const StageId stage : {StageId::kCall, StageId::kSync}) {
      for (const Found& call : SpansOf(*trace, stage)) {
        if (wire::HasCorrelation(call.span.sample)) {
          calls[wire::CorrelationOf(call.span.sample)] = call;
        }
      }
    }
    std::size_t seen = 0;
    for (const StageId stage : {StageId::kH2d, StageId::kCopy, StageId::kKernel}) {
      for (const Found& work : SpansOf(*trace, stage)) {
        ASSERT_TRUE(wire::HasCorrelation(work.span.sample)) << work.name;
        const std::uint32_t correlation = wire::CorrelationOf(work.span.sample);
        const auto& kind = stage == StageId::kKernel ? truths.kernels
                           : work.name == "memset"   ? truths.sets
                                                     : truths.copies;
        const auto truth = kind.find(correlation);
        ASSERT_NE(truth, kind.end()) << work.name << " " << correlation;
        EXPECT_NEAR(static_cast<double>(work.span.start.value),
                    static_cast<double>(truth->second.start), 20000);
        EXPECT_NEAR(static_cast<double>(work.span.end().value),
                    static_cast<double>(truth->second.end), 20000);
        EXPECT_EQ(work.span.bytes.value, truth->second.bytes);
        EXPECT_TRUE(wire::IsDeviceLane(work.thread.tid));
        EXPECT_EQ(wire::DeviceOfLane(work.thread.tid), 1u);
        ASSERT_EQ(calls.count(correlation), 1u) << "the call that started it";
        const Found& call = calls[correlation];
        if (exact_threads) {
          EXPECT_EQ(call.thread.tid, truth->second.tid) << call.name;
        }
        EXPECT_EQ(call.span.batch, work.span.batch);
        EXPECT_EQ(work.span.batch.generation, 3);
        EXPECT_NEAR(static_cast<double>(call.span.start.value),
                    static_cast<double>(truths.calls.at(correlation).start), 20000);
        ++seen;
      }
    }
    EXPECT_EQ(seen, truths.copies.size() + truths.kernels.size() + truths.sets.size());
    ExpectBatches();
  }

  // Each batch has its copies and kernels: three copies, two kernels, one memset.
  void ExpectBatches() {
    std::map<std::uint32_t, std::map<std::string, int>> of;
    for (const StageId stage : {StageId::kH2d, StageId::kCopy, StageId::kKernel}) {
      for (const Found& work : SpansOf(*trace, stage)) ++of[work.span.batch.index][work.name];
    }
    ASSERT_EQ(of.size(), std::size_t{kSteps});
    for (const auto& [batch, names] : of) {
      EXPECT_LT(batch, static_cast<std::uint32_t>(kSteps));
      const std::map<std::string, int> expected = {{"H2D pageable", 1},   {"H2D pinned", 1},
                                                   {"D2H pageable", 1},   {"memset", 1},
                                                   {"forward_kernel", 1}, {"backward_kernel", 1}};
      EXPECT_EQ(names, expected) << batch;
    }
  }

  std::size_t Works() {
    return SpansOf(*trace, StageId::kH2d).size() + SpansOf(*trace, StageId::kCopy).size() +
           SpansOf(*trace, StageId::kKernel).size();
  }

  std::filesystem::path truth_;
  std::unique_ptr<Trace> trace;
};

TEST_F(CuptiTest, CopiesAndKernelsAreWhereAndWhenTheyWere) {
  Train({});
  ExpectAgreement();
  EXPECT_EQ(Fact("gpu.level"), "cupti");
  EXPECT_EQ(Fact("gpu.clock"), "monotonic");
  EXPECT_EQ(Fact("gpu.records"), std::to_string(6 * kSteps));
  EXPECT_EQ(Fact("gpu.unpaired"), "0");
  EXPECT_NE(Fact("gpu.cupti").find("libcupti.so.12"), std::string::npos);
}

TEST_F(CuptiTest, ClockOfItsOwnIsFitted) {
  Train({{"FAKE_CUPTI", "ownclock"}});
  ExpectAgreement();
  EXPECT_EQ(Fact("gpu.clock"), "anchored");
}

TEST_F(CuptiTest, OlderStructsWithoutLaterFunctions) {
  Train({{"FAKE_MAPPED", kOldCupti}});
  ExpectAgreement(false);
  EXPECT_NE(Fact("gpu.cupti").find("libcupti.so.11.2"), std::string::npos)
      << "the one that is mapped, not the one that would be found";
  EXPECT_EQ(Fact("gpu.level"), "cupti");
  EXPECT_EQ(Fact("gpu.clock"), "anchored");
}

TEST_F(CuptiTest, ThreadNumbersThatAreNoneGoToThreadsOfTheirOwn) {
  Train({{"FAKE_CUPTI", "threads"}});
  ExpectAgreement(false);
  for (const Found& call : SpansOf(*trace, StageId::kSync)) {
    EXPECT_GT(call.thread.tid, 4194304u) << "never a thread that did something else";
  }
}

TEST_F(CuptiTest, RecordsInAnyOrderFindTheirCalls) {
  Train({{"FAKE_CUPTI", "unordered"}});
  ExpectAgreement();
  EXPECT_EQ(Fact("gpu.unpaired"), "0");
}

TEST_F(CuptiTest, UnknownKindsAreSkipped) {
  Train({{"FAKE_CUPTI", "unknown"}});
  ExpectAgreement();
}

TEST_F(CuptiTest, NullBuffersAreNone) {
  Train({{"FAKE_CUPTI", "null"}});
  ExpectAgreement();
}

TEST_F(CuptiTest, SmallBuffersGoRound) {
  Train({{"FAKE_CUPTI", "small"}});
  ExpectAgreement();
}

TEST_F(CuptiTest, ForeignBuffersAreLeftAlone) {
  Train({{"FAKE_CUPTI", "foreign"}});
  ExpectAgreement();
  EXPECT_NE(Fact("gpu.foreign_buffers"), "0");
}

TEST_F(CuptiTest, RecordsWithoutTimesAreCountedNotInvented) {
  Train({{"FAKE_CUPTI", "zero"}});
  EXPECT_EQ(Fact("gpu.unstamped"), std::to_string(6 * kSteps / 3));
  EXPECT_EQ(Works(), std::size_t{6} * kSteps * 2 / 3);
  for (const Found& call : SpansOf(*trace, StageId::kKernel)) EXPECT_GT(call.span.start.value, 0);
}

TEST_F(CuptiTest, DropsAreTold) {
  Train({{"FAKE_CUPTI", "drops"}});
  EXPECT_EQ(Fact("gpu.dropped"), "5");
  EXPECT_EQ(trace->losses().dropped_events, 5u);
}

TEST_F(CuptiTest, StolenBuffersAreToldOf) {
  Train({{"FAKE_CUPTI", "stolen"}});
  EXPECT_EQ(Works(), 0u);
  EXPECT_NE(Fact("gpu.lost_buffers"), "0");
  EXPECT_EQ(Fact("gpu.reason"), "another client of CUPTI took over its buffers");
}

TEST_F(CuptiTest, BuffersThatComeBackAfterTheEndDoNoHarm) {
  Train({{"FAKE_CUPTI", "late"}});
  EXPECT_EQ(Fact("gpu.lost_buffers"), "1");
}

TEST_F(CuptiTest, AFlushThatHangsHoldsUpNobodyForLong) {
  Train({{"FAKE_CUPTI", "hang"}}, "driver:runtime:cupti", "slow", 20);
  EXPECT_NE(Fact("gpu.reason").find("did not end"), std::string::npos);
  EXPECT_GT(Works(), 0u) << "what was flushed before";
}

struct Refusal {
  const char* mode;
  const char* reason;
  const char* doubles = "driver:runtime:cupti";
  const char* mapped = nullptr;
};
class RefusalTest : public CuptiTest, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusalTest, TheNextLevelIsReachedAndTheReasonTold) {
  Variables variables = {{"FAKE_CUPTI", GetParam().mode}};
  if (GetParam().mapped != nullptr) variables["FAKE_MAPPED"] = GetParam().mapped;
  Train(variables, GetParam().doubles);
  EXPECT_EQ(Fact("gpu.level"), "calls");
  EXPECT_NE(Fact("gpu.reason").find(GetParam().reason), std::string::npos) << Fact("gpu.reason");
  EXPECT_EQ(Works(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, RefusalTest,
    testing::Values(Refusal{"busy", "Nsight Systems"}, Refusal{"nodriver", "no driver"},
                    Refusal{"privileges", "permission"}, Refusal{"nobuffers", "no buffers"},
                    Refusal{"nokinds", "no activity"},
                    Refusal{"busy", "another profiler", "driver:runtime", kOldCupti},
                    Refusal{"normal", "", "driver:runtime"}),
    [](const auto& param) { return std::string(param.param.mode) + std::to_string(param.index); });

TEST_F(CuptiTest, WithoutADriverTheProgramIsOnItsOwn) {
  Train({}, "runtime");
  EXPECT_EQ(Fact("gpu.level"), "");
  EXPECT_EQ(Works(), 0u);
}

TEST_F(CuptiTest, YieldLeavesThePlaceToTheProgram) {
  Train({{"PENSTOCK_GPU", "yield"}});
  EXPECT_EQ(Works(), 0u);
  EXPECT_TRUE(ReadTruth().calls.empty()) << "nobody subscribed";
  EXPECT_EQ(Fact("gpu.level"), "calls");
  EXPECT_EQ(Fact("gpu.reason"), "CUPTI is left to the program");
}

TEST_F(CuptiTest, OffLeavesTheDriverAlone) {
  Train({{"PENSTOCK_GPU", "off"}});
  EXPECT_EQ(Works(), 0u);
  EXPECT_EQ(Fact("gpu.level"), "");
}

TEST_F(CuptiTest, AnotherInjectedToolKeepsItsPlace) {
  Train({{"CUDA_INJECTION64_PATH", "/no/such/tool.so"}});
  EXPECT_EQ(Works(), 0u);
  EXPECT_EQ(Fact("gpu.level"), "calls");
  EXPECT_EQ(Fact("gpu.cuda_tool"), "/no/such/tool.so");
}

// Without CUPTI, whatever the reason, the runtime's functions tell of copies and waits.
TEST_F(CuptiTest, CallsAreSeenWithoutCupti) {
  for (const Variables& variables :
       {Variables{{"PENSTOCK_GPU", "calls"}}, Variables{{"FAKE_CUPTI", "busy"}}}) {
    Train(variables);
    std::map<std::string, int> names;
    for (const Found& call : SpansOf(*trace, StageId::kCall)) {
      ++names[call.name];
      if (call.name == "cudaMemcpyAsync: H2D") {
        EXPECT_EQ(call.span.bytes.value, 300000u);
        EXPECT_FALSE(wire::HasCorrelation(call.span.sample));
      }
    }
    EXPECT_EQ(names["cudaMemcpyAsync: H2D"], 2 * kSteps);
    EXPECT_EQ(names["cudaMemcpy: D2H"], kSteps);
    EXPECT_EQ(SpansOf(*trace, StageId::kSync).size(), std::size_t{kSteps} + 1);
    EXPECT_EQ(Fact("gpu.level"), "calls");
  }
}

// Lanes in a ring: the collector knows streams by the thread that writes them.
TEST_F(CuptiTest, ACollectorGetsTheSame) {
  truth_ = folder_ / "truth";
  const Variables variables = With({{"FAKE_TRUTH", truth_}});
  const int status = Run({PENSTOCK_RECORD, "-o", trace_, "--quiet", "--", PENSTOCK_GPU_VICTIM,
                          "slow", std::to_string(kSteps)},
                         variables, false);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  trace = Open();
  ASSERT_NE(trace, nullptr);
  ExpectAgreement();
  EXPECT_FALSE(trace->losses().any());
  std::set<std::string> names;
  for (const Found& work : SpansOf(*trace, StageId::kH2d)) names.insert(work.thread.name);
  EXPECT_EQ(names, (std::set<std::string>{"GPU 1 stream 7", "GPU 1 stream 9"}));
}

// The agent's own limit ends CUPTI's work, not the program.
TEST_F(CuptiTest, ALimitOfBatchesEndsIt) {
  truth_ = folder_ / "truth";
  const int status = Run({PENSTOCK_RECORD, "-o", trace_, "--quiet", "--batches", "3", "--",
                          PENSTOCK_GPU_VICTIM, "slow", "30"},
                         With({}), false);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_GE(SpansOf(*trace, StageId::kKernel).size(), 4u);
  EXPECT_LT(SpansOf(*trace, StageId::kKernel).size(), 60u);
}

TEST_F(CuptiTest, LevelNvmlTakesNoCalls) {
  Train({{"PENSTOCK_GPU", "nvml"}});
  EXPECT_TRUE(SpansOf(*trace, StageId::kCall).empty());
  EXPECT_EQ(Works(), 0u);
}

TEST_F(CuptiTest, AForkedWorkerTouchesNothing) {
  Train({}, "driver:runtime:cupti", "fork");
  EXPECT_FALSE(ReadTruth().child);
  ExpectAgreement();
}

TEST_F(CuptiTest, WhatWasFlushedSurvivesAnEndWithoutHandlers) {
  Train({}, "driver:runtime:cupti", "_exit", 4);
  EXPECT_EQ(Fact("gpu.level"), "cupti");
}

TEST_F(CuptiTest, WaitsAreOnTheThreadThatWaited) {
  Train({});
  const Truths truths = ReadTruth();
  const auto waits = SpansOf(*trace, StageId::kSync);
  EXPECT_EQ(waits.size(), std::size_t{kSteps} + 1) << "each wait once, though CUPTI tells it twice";
  for (const Found& wait : waits) {
    EXPECT_EQ(wait.thread.tid, truths.calls.at(wire::CorrelationOf(wait.span.sample)).tid);
  }
}

TEST_F(CuptiTest, CallsSayWhatTheyStarted) {
  Train({});
  std::map<std::string, int> names;
  for (const Found& call : SpansOf(*trace, StageId::kCall)) ++names[call.name];
  EXPECT_EQ(names["cudaMemcpyAsync: H2D pageable"], kSteps);
  EXPECT_EQ(names["cudaMemcpyAsync: H2D pinned"], kSteps);
  EXPECT_EQ(names["cudaMemcpy: D2H pageable"], kSteps);
  EXPECT_EQ(names["cudaLaunchKernel"], 2 * kSteps);
  EXPECT_EQ(names["cudaHostAlloc"], 1);
  EXPECT_EQ(names.count("cudaGetLastError"), 0u) << "such calls are left out";
  EXPECT_GT(names["CUPTI: buffer request"], 0);
}

}  // namespace
}  // namespace penstock::traces
