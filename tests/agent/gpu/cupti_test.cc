// SPDX-License-Identifier: Apache-2.0
//
// The agent in a program that uses doubles of CUDA's driver and runtime and of CUPTI. The trace
// must agree with what the doubles did. Whatever CUPTI does, the program must run as without the
// agent.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tests/agent/gpu/cupti_run.h"
#include "tests/paths.h"

namespace penstock::traces {
namespace {

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

TEST_F(CuptiTest, UnknownKindsAreSkippedAndTold) {
  Train({{"FAKE_CUPTI", "unknown"}});
  ExpectAgreement();
  EXPECT_EQ(Fact("gpu.unknown"), std::to_string(ReadTruth().calls.size())) << "one with each call";
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
                    Refusal{"busy", "another profiler", "driver:runtime", kOldCupti.c_str()},
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

// If CUPTI is not used, for any reason, the hooks on the runtime record copies and waits.
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

// In a ring, one thread writes the device lanes of all streams. The collector must still give each
// stream a name.
TEST_F(CuptiTest, ACollectorGetsTheSame) {
  truth_ = folder_ / "truth";
  const Variables variables = With({{"FAKE_TRUTH", truth_}});
  const int status = Run({paths::kRecord, "-o", trace_, "--quiet", "--", paths::kGpuVictim, "slow",
                          std::to_string(kSteps)},
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

// When the limit of batches is reached, CUPTI's records end, and the program goes on.
TEST_F(CuptiTest, ALimitOfBatchesEndsIt) {
  truth_ = folder_ / "truth";
  const int status = Run({paths::kRecord, "-o", trace_, "--quiet", "--batches", "3", "--",
                          paths::kGpuVictim, "slow", "30"},
                         With({}), false);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  trace = Open();
  ASSERT_NE(trace, nullptr);
  EXPECT_GE(SpansOf(*trace, StageId::kKernel).size(), 4u);
  EXPECT_LT(SpansOf(*trace, StageId::kKernel).size(), 60u);
}

// Programs that are built with a default stream for each thread call functions whose names end in
// _ptds.
TEST_F(CuptiTest, CallsOfThreadsDefaultStreamsAreSeen) {
  Train({{"PENSTOCK_GPU", "calls"}}, "driver:runtime:cupti", "ptds");
  std::size_t copies = 0;
  for (const Found& call : SpansOf(*trace, StageId::kCall)) {
    copies += call.name == "cudaMemcpy_ptds: D2H" && call.span.bytes.value == 64 ? 1u : 0u;
  }
  EXPECT_EQ(copies, std::size_t{kSteps});
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
  EXPECT_NE(Fact("gpu.cupti_cost_ns"), "0");
}

TEST_F(CuptiTest, LoadingCodeIsTheProgramsOwnCost) {
  Train({{"FAKE_CUPTI", "loading"}});
  std::map<std::string, int> names;
  for (const Found& call : SpansOf(*trace, StageId::kCall)) ++names[call.name];
  EXPECT_GT(names["JIT compilation"], 0);
  EXPECT_GT(names["module loading"], 0);
  EXPECT_GT(names["lazy loading"], 0);
  for (const auto& [name, count] : names) EXPECT_NE(name.rfind("CUPTI: ", 0), 0u) << name;
  EXPECT_EQ(Fact("gpu.cupti_cost_ns"), "0");
}

}  // namespace
}  // namespace penstock::traces
