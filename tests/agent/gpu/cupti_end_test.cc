// SPDX-License-Identifier: Apache-2.0
//
// The agent counts lost records of CUPTI. However CUPTI behaves, a program ends as it would without
// the agent.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/agent/gpu/cupti_run.h"
#include "tests/paths.h"

namespace penstock::traces {
namespace {

TEST_F(CuptiTest, DropsAreTold) {
  Train({{"FAKE_CUPTI", "drops"}});
  EXPECT_EQ(Fact("gpu.dropped"), "5");
  EXPECT_EQ(trace->losses().dropped_events, 5u);
}

TEST_F(CuptiTest, StolenBuffersAreToldOf) {
  Train({{"FAKE_CUPTI", "stolen"}});
  EXPECT_EQ(Works(), 0u);
  EXPECT_NE(Fact("gpu.lost_buffers"), "0");
  EXPECT_EQ(Fact("gpu.reason"), "another client of CUPTI took over its buffers: no records in 0 s");
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

// Buffers fill up faster than the agent reads them. This version of CUPTI must always get a buffer,
// so the agent gives it one whose records were not read.
TEST_F(CuptiTest, RecordsThatWereOverwrittenCountAsLost) {
  Train({{"FAKE_CUPTI", "flood"}}, "driver:runtime:cupti", "train", 200);
  EXPECT_GT(Works(), 0u);
  EXPECT_LT(Works(), ReadTruth().kernels.size() * 3);
  ASSERT_FALSE(Fact("gpu.dropped").empty());
  EXPECT_GT(std::stoull(Fact("gpu.dropped")), 100u) << "more than 64 buffers of a few records";
  EXPECT_EQ(trace->losses().dropped_events, std::stoull(Fact("gpu.dropped")));
}

TEST_F(CuptiTest, WhatWasFlushedSurvivesAnEndWithoutHandlers) {
  Train({}, "driver:runtime:cupti", "slow_exit", 30);
  EXPECT_EQ(Fact("gpu.level"), "cupti");
  EXPECT_GT(Works(), 0u);
}

// Before CUDA 12.9, CUPTI crashes if it gets no buffer; its double then ends the program.
TEST_F(CuptiTest, AnOldCuptiGetsBuffersAfterTheEnd) {
  Train({{"FAKE_MAPPED", kOldCupti}, {"FAKE_CUPTI", "afterend"}});
  ASSERT_FALSE(HasFatalFailure());
  const Truths truths = ReadTruth();
  EXPECT_FALSE(truths.refused);
  EXPECT_FALSE(truths.enabled) << "nothing is recorded any more";
  ExpectAgreement(false);
}

TEST_F(CuptiTest, ANewCuptiGetsNoneAfterTheEnd) {
  Train({{"FAKE_CUPTI", "afterend"}, {"FAKE_VERSION", "28"}});
  const Truths truths = ReadTruth();
  EXPECT_TRUE(truths.refused);
  EXPECT_FALSE(truths.enabled);
  EXPECT_FALSE(trace->losses().any()) << "what comes then is no loss of the recording's";
  ExpectAgreement();
}

// glibc uses signals 32 and 33. If they were blocked, setuid() would wait.
TEST_F(CuptiTest, TheFlushThreadTakesNoSignalOfTheProgram) {
  Train({});
  const std::uint64_t mask = ReadTruth().mask;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, 34, 64}) {
    EXPECT_NE(mask >> (signal - 1) & 1, 0u) << signal;
  }
  EXPECT_EQ(mask >> 31 & 3, 0u);
}

// If a child has CUDA_INJECTION64_PATH but not LD_PRELOAD, the driver loads the agent into the
// running program.
TEST_F(CuptiTest, ToAProgramThatRunsTheAgentDoesNothing) {
  const std::vector<std::string> words = {paths::kGpuVictim, "train", "3"};
  Variables variables = With({{"PENSTOCK_OUT", trace_}});
  const int expected = Run(words, variables, false);
  const std::string printed = Printed();
  variables["CUDA_INJECTION64_PATH"] = paths::kAgent;
  variables["FAKE_ENVIRONMENT"] = "1";  // the driver's double aborts if the environment was changed
  EXPECT_EQ(Run(words, variables, false), expected);
  EXPECT_EQ(Printed(), printed);
  EXPECT_FALSE(std::filesystem::exists(trace_));
}

}  // namespace
}  // namespace penstock::traces
