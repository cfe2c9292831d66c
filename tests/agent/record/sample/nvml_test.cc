// SPDX-License-Identifier: Apache-2.0
//
// NVML's counters and facts are in the trace, and nothing that NVML does harms a run. The tests use
// a double of NVML (fake_nvml.cc).
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/record/runner.h"
#include "tests/paths.h"
#include "traces/wire.h"

namespace penstock::record {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Fact(const traces::Trace& trace, const std::string& key) {
  const auto at = trace.facts().find(key);
  return at == trace.facts().end() ? "" : at->second;
}

std::set<std::int64_t> Values(const traces::Trace& trace, const std::string& counter) {
  std::set<std::int64_t> values;
  for (const traces::CounterSample& sample : trace.counters()) {
    if (trace.String(sample.name) == counter) values.insert(sample.value);
  }
  return values;
}

bool HasCounter(const traces::Trace& trace, const std::string& counter) {
  return !Values(trace, counter).empty();
}

using Enough = std::function<bool(const traces::Trace&)>;

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override { Use(paths::kFakeNvml, ""); }

  void Use(const std::string& folder, const std::string& behaviour) {
    run_.Setenv("LD_LIBRARY_PATH", folder);
    run_.Setenv("FAKE_NVML", behaviour);
  }

  // Records a program until `enough` accepts the part of the trace that was flushed, for a minute
  // at most.
  void RecordUntil(const Enough& enough) {
    // The shell writes its pid, by which NVML names the process, and becomes the program.
    RecordUntil(enough, "echo $$ > pid; exec " + FakeProgram() + " - 1 1 0 2000 0");
  }
  void RecordUntil(const Enough& enough, const std::string& script) {
    run_.Start({"--quiet", "-o", "t", "--", "sh", "-c", script});
    for (int i = 0; i < 300; ++i) {
      usleep(200'000);
      const auto trace = traces::OpenTrace(run_.path("t.part"));
      if (trace && enough(**trace)) break;
    }
    run_.KillGroup(SIGINT);
    run_.Wait();
    contents_ = ReadTrace(run_.path("t"));
    ASSERT_TRUE(contents_.trace);
  }

  // Records a program that ends by itself. Returns its exit status.
  int Record(const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"--quiet", "-o", "t"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", FakeProgram(), "-", "1", "1", "500", "100", "7"});
    const int status = run_(arguments);
    contents_ = ReadTrace(run_.path("t"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  [[nodiscard]] const traces::Trace& trace() const { return *contents_.trace; }

  RecordRun run_;
  TraceContents contents_;
};

TEST_F(NvmlTest, CountersOfEachGpuAreInTheTrace) {
  Use(paths::kFakeNvml, "devices=2");
  RecordUntil([](const traces::Trace& trace) {
    return HasCounter(trace, "gpu.0.pcie_tx_bytes_per_s") &&
           HasCounter(trace, "gpu.1.pcie_tx_bytes_per_s");
  });
  const auto one = [](std::int64_t value) { return std::set<std::int64_t>{value}; };
  EXPECT_EQ(Values(trace(), "gpu.0.nvml_utilization_percent"), one(40));
  EXPECT_EQ(Values(trace(), "gpu.1.nvml_utilization_percent"), one(41));
  EXPECT_EQ(Values(trace(), "gpu.0.nvml_memory_utilization_percent"), one(7));
  EXPECT_EQ(Values(trace(), "gpu.0.memory_used_bytes"), one(3'000'000'000));
  EXPECT_EQ(Values(trace(), "gpu.0.power_milliwatts"), one(350'000));
  EXPECT_EQ(Values(trace(), "gpu.0.temperature_celsius"), one(51));
  EXPECT_EQ(Values(trace(), "gpu.0.sm_clock_mhz"), one(1980));
  EXPECT_EQ(Values(trace(), "gpu.0.memory_clock_mhz"), one(3201));
  EXPECT_EQ(Values(trace(), "gpu.0.clock_event_reasons"), one(4));
  EXPECT_EQ(Values(trace(), "gpu.0.pcie_rx_bytes_per_s"), one(2'048'000'000));
  EXPECT_EQ(Values(trace(), "gpu.1.pcie_tx_bytes_per_s"), one(1'024'000));
}

// The collector frees slots of ended processes when a quarter of all slots is taken. So the test
// starts more processes than that.
TEST_F(NvmlTest, CountersGoOnWhenTheSlotOfTheFirstProcessIsFree) {
  const auto processes = [](const traces::Trace& trace) {
    std::vector<ProcessId> of_samples;
    for (const traces::CounterSample& sample : trace.counters()) {
      if (trace.String(sample.name) == "gpu.0.sm_clock_mhz") of_samples.push_back(sample.process);
    }
    return of_samples;
  };
  const std::string first = FakeProgram() + " - 1 1 10 1000 0";
  const std::string count = std::to_string(wire::kMaxProcesses / 4 + 8);
  const std::string later = FakeProgram() + " - " + count + " 1 0 100000 0";
  RecordUntil([&](const auto& trace) { return processes(trace).size() >= 25; },
              first + "; exec " + later);
  const std::vector<ProcessId> found = processes(trace());
  EXPECT_GE(found.size(), 25u);  // 25 samples take 5 s
  EXPECT_EQ(std::count(found.begin(), found.end(), ProcessId{}),
            static_cast<std::ptrdiff_t>(found.size()));
}

TEST_F(NvmlTest, FactsSayWhatTheDevicesAre) {
  RecordUntil([](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.sm_clock_mhz"); });
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "sampled");
  EXPECT_EQ(Fact(trace(), "gpu.count"), "1");
  EXPECT_EQ(Fact(trace(), "gpu.driver"), "999.01");
  EXPECT_EQ(Fact(trace(), "gpu.model"), "Fake H200 0");
  EXPECT_EQ(Fact(trace(), "gpu.0.model"), "Fake H200 0");
  EXPECT_EQ(Fact(trace(), "gpu.0.pci"), "00000000:00:00.0");
  EXPECT_EQ(Fact(trace(), "gpu.0.memory_bytes"), "150000000000");
  EXPECT_EQ(Fact(trace(), "gpu.0.power_limit_milliwatts"), "700000");
  EXPECT_EQ(Fact(trace(), "gpu.0.pcie_generation"), "4");
  EXPECT_EQ(Fact(trace(), "gpu.0.pcie_max_generation"), "5");
  EXPECT_EQ(Fact(trace(), "gpu.0.mig"), "0");
}

TEST_F(NvmlTest, TheGpuOfATracedProcessIsMarked) {
  Use(paths::kFakeNvml, "devices=2,owner=" + run_.path("pid"));
  RecordUntil(
      [](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.process_memory_bytes"); });
  EXPECT_EQ(Fact(trace(), "gpu.0.used"), "process");
  EXPECT_EQ(Fact(trace(), "gpu.1.used"), "no");
  EXPECT_EQ(Fact(trace(), "gpu.0.processes") + "\n", run_.Read("pid"));
  EXPECT_EQ(Values(trace(), "gpu.0.process_memory_bytes"), std::set<std::int64_t>{777'000'000});
}

TEST_F(NvmlTest, ProcessesAreReadAsTheDriversOf535WriteThem) {
  Use(paths::kFakeNvml, "r535,owner=" + run_.path("pid"));
  RecordUntil(
      [](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.process_memory_bytes"); });
  EXPECT_EQ(Fact(trace(), "gpu.0.used"), "process");
  EXPECT_EQ(Fact(trace(), "gpu.0.processes") + "\n", run_.Read("pid"));
  EXPECT_EQ(Values(trace(), "gpu.0.process_memory_bytes"), std::set<std::int64_t>{777'000'000});
}

TEST_F(NvmlTest, AnOldDriverIsAskedByItsOldNames) {
  Use(paths::kFakeNvmlOld, "owner=" + run_.path("pid"));
  RecordUntil(
      [](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.process_memory_bytes"); });
  EXPECT_EQ(Values(trace(), "gpu.0.memory_used_bytes"), std::set<std::int64_t>{2'000'000'000});
  EXPECT_EQ(Fact(trace(), "gpu.0.used"), "process");
  EXPECT_EQ(Fact(trace(), "gpu.0.mig"), "");
}

TEST_F(NvmlTest, WhatMigDoesNotSupportIsLeftOut) {
  Use(paths::kFakeNvml, "mig");
  RecordUntil([](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.sm_clock_mhz"); });
  EXPECT_EQ(Fact(trace(), "gpu.0.mig"), "1");
  EXPECT_FALSE(HasCounter(trace(), "gpu.0.nvml_utilization_percent"));
  EXPECT_FALSE(HasCounter(trace(), "gpu.0.pcie_rx_bytes_per_s"));
}

TEST_F(NvmlTest, AFunctionThatFailsCostsOnlyItsCounter) {
  Use(paths::kFakeNvml, "fail=nvmlDeviceGetPowerUsage:15");
  RecordUntil([](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.sm_clock_mhz"); });
  EXPECT_FALSE(HasCounter(trace(), "gpu.0.power_milliwatts"));
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "sampled");
}

TEST_F(NvmlTest, WithoutNvmlTheRunIsAsEver) {
  Use("/no/such/folder", "");
  EXPECT_EQ(Record(), 7);
  EXPECT_EQ(contents_.spans, 500u);
  EXPECT_EQ(Fact(trace(), "gpu.model"), "");
}

TEST_F(NvmlTest, ADriverThatIsNotLoadedIsToldAsSuch) {
  Use(paths::kFakeNvml, "fail=nvmlInit_v2:9");
  RecordUntil([](const traces::Trace& trace) { return Fact(trace, "gpu.nvml") != ""; });
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "unavailable: nvmlInit_v2: Driver Not Loaded (9)");
}

TEST_F(NvmlTest, ACrashOfNvmlIsNotOurs) {
  Use(paths::kFakeNvml, "crash=nvmlDeviceGetTemperature");
  RecordUntil([](const traces::Trace& trace) { return Fact(trace, "gpu.nvml") != ""; });
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "ended by signal 11 in nvmlDeviceGetTemperature");
  EXPECT_EQ(trace().losses(), traces::Losses{});
}

// NVML's double raises SIGTERM when it is asked for the temperature. The next call asks for the
// clock.
TEST_F(NvmlTest, ASignalThatEndsTheJobDoesNotEndTheSampling) {
  Use(paths::kFakeNvml, "term=nvmlDeviceGetTemperature");
  RecordUntil([](const traces::Trace& trace) { return HasCounter(trace, "gpu.0.sm_clock_mhz"); });
  EXPECT_TRUE(HasCounter(trace(), "gpu.0.sm_clock_mhz"));
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "sampled");
}

TEST_F(NvmlTest, ACallThatNeverReturnsIsNamed) {
  Use(paths::kFakeNvml, "hang=nvmlDeviceGetPowerUsage");
  RecordUntil([](const traces::Trace& trace) {
    return Fact(trace, "gpu.nvml").rfind("no answer", 0) == 0;
  });
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "no answer from nvmlDeviceGetPowerUsage");
  EXPECT_TRUE(HasCounter(trace(), "gpu.0.nvml_utilization_percent"));
}

// After a sample that takes much CPU time, the child waits for fifty times that time: here for 5 s.
TEST_F(NvmlTest, ALongPauseIsNoSilence) {
  Use(paths::kFakeNvml, "burn=nvmlDeviceGetPowerUsage:100");
  std::set<std::string> statuses;
  int looks = 0;
  RecordUntil([&](const traces::Trace& trace) {
    statuses.insert(Fact(trace, "gpu.nvml"));
    looks += HasCounter(trace, "gpu.0.sm_clock_mhz") ? 1 : 0;
    return looks > 20;  // 4 s after the first sample
  });
  EXPECT_EQ(statuses.count("sampled"), 1u);
  EXPECT_EQ(statuses.count("no answer from waiting"), 0u);
}

TEST_F(NvmlTest, AHangingStartDoesNotHoldTheRunUp) {
  Use(paths::kFakeNvml, "hang=nvmlInit_v2");
  EXPECT_EQ(Record(), 7);
  EXPECT_EQ(contents_.spans, 500u);
  EXPECT_THAT(Fact(trace(), "gpu.nvml"), StartsWith("no answer from "));
}

TEST_F(NvmlTest, OffMeansOff) {
  EXPECT_EQ(Record({"--gpu", "off"}), 7);
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "");
}

TEST_F(NvmlTest, EveryLevelAboveNvtxHasIt) {
  EXPECT_EQ(Record({"--gpu", "nvtx"}), 7);
  EXPECT_EQ(Fact(trace(), "gpu.nvml"), "");
  for (const char* level : {"nvml", "calls", "cupti", "yield", "auto"}) {
    EXPECT_EQ(Record({"--force", "--gpu", level}), 7);
    EXPECT_NE(Fact(trace(), "gpu.nvml"), "") << level;
  }
}

}  // namespace
}  // namespace penstock::record
