// SPDX-License-Identifier: Apache-2.0
//
// Runs gpu_victim under the agent with doubles of driver, runtime and CUPTI. Reads from a file what
// the doubles did.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/agent/gpu/run.h"
#include "tests/paths.h"

namespace penstock::traces {

inline constexpr int kSteps = 8;
inline const std::string kOldCupti = std::string(paths::kGpuDoubles) + "/cupti11/libcupti.so.11.2";

struct Truth {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t tid = 0;
  std::uint64_t bytes = 0;
};
struct Truths {
  std::map<std::uint32_t, Truth> calls, copies, sets, kernels;
  bool child = false;        // a forked process called CUPTI
  bool enabled = false;      // CUPTI was still recording when the program ended
  bool refused = false;      // CUPTI asked for a buffer after the end of the recording and got none
  std::uint64_t unread = 0;  // records after one that CUPTI called invalid
  std::uint64_t mask = 0;    // signals that are blocked in the flush thread from its start
};

class CuptiTest : public GpuRun {
 protected:
  static Variables With(Variables variables, const std::string& doubles = "driver:runtime:cupti") {
    std::string path;
    std::stringstream folders(doubles);
    for (std::string folder; std::getline(folders, folder, ':');) {
      path += (path.empty() ? "" : ":") + std::string(paths::kGpuDoubles) + "/" + folder;
    }
    variables["LD_LIBRARY_PATH"] = path;
    return variables;
  }

  // Runs the training loop. Checks that its exit status is 7 and its output the same as without the
  // agent.
  void Train(Variables variables, const std::string& doubles = "driver:runtime:cupti",
             const std::string& how = "train", int steps = kSteps) {
    truth_ = folder_ / "truth";
    std::filesystem::remove(truth_);
    variables = With(std::move(variables), doubles);
    const std::vector<std::string> words = {victim_, how, std::to_string(steps)};
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
      if (what == "child" || what == "enabled" || what == "refused") {
        (what == "child"     ? truths.child
         : what == "enabled" ? truths.enabled
                             : truths.refused) = true;
        continue;
      }
      if (what == "unread") {
        std::uint64_t records = 0;
        in >> records;
        truths.unread += records;
        continue;
      }
      if (what == "mask") {
        in >> std::hex >> truths.mask >> std::dec;
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

  // Compares copies, memsets and kernels of the trace with what the doubles did: times within 20
  // us, bytes, device, and the thread and the batch of the call that started them.
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

  // Checks that each batch has three copies, two kernels and one memset.
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
  std::string victim_ = paths::kGpuVictim;
  std::unique_ptr<Trace> trace;
};

}  // namespace penstock::traces
