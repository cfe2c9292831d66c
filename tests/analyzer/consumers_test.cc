// SPDX-License-Identifier: Apache-2.0
//
// Finds the training process that each process works for.
#include "analyzer/model/consumers.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::analyzer {
namespace {

traces::ProcessInfo Process(std::uint32_t pid, std::uint32_t parent, wire::ProcessRole role,
                            const std::string& part = "") {
  traces::ProcessInfo process;
  process.pid = pid;
  process.parent = parent;
  process.role = role;
  if (!part.empty()) process.facts["part"] = part;
  return process;
}

// The training process of each process, as an index into `processes`.
std::vector<std::uint32_t> ConsumersOf(const std::vector<traces::ProcessInfo>& processes) {
  const Consumers consumers(processes);
  std::vector<std::uint32_t> of;
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    of.push_back(consumers.Of(ProcessId{i}).value);
  }
  return of;
}

TEST(ConsumersTest, AWorkerWorksForTheTrainingProcessThatStartedItsForkserver) {
  const std::vector<traces::ProcessInfo> processes = {
      Process(100, 1, wire::kRoleConsumer), Process(200, 1, wire::kRoleConsumer),
      Process(210, 200, wire::kRoleOther), Process(211, 210, wire::kRoleWorker)};
  EXPECT_EQ(ConsumersOf(processes), (std::vector<std::uint32_t>{0, 1, 1, 1}));
  EXPECT_TRUE(Consumers(processes).Descends(ProcessId{3}));
  EXPECT_FALSE(Consumers(processes).Descends(ProcessId{1}));
}

// In a merged trace each part has a server, which was started before the training process and reads
// files for it. A server works for the training process of its own part.
TEST(ConsumersTest, AServerWorksForTheTrainingProcessOfItsOwnPart) {
  const std::vector<traces::ProcessInfo> processes = {
      Process(100, 1, wire::kRoleConsumer, "0"), Process(90, 1, wire::kRoleOther, "0"),
      Process(100, 1, wire::kRoleConsumer, "1"), Process(90, 1, wire::kRoleOther, "1")};
  EXPECT_EQ(ConsumersOf(processes), (std::vector<std::uint32_t>{0, 0, 2, 2}));
  EXPECT_FALSE(Consumers(processes).Descends(ProcessId{3}));
}

// A worker of the first rank has ended. A worker of the second rank then got the same pid. Each of
// the two started a program.
TEST(ConsumersTest, AParentIsTheProcessThatHadThePidThen) {
  std::vector<traces::ProcessInfo> processes = {
      Process(100, 1, wire::kRoleConsumer), Process(200, 1, wire::kRoleConsumer),
      Process(300, 100, wire::kRoleWorker), Process(400, 300, wire::kRoleOther),
      Process(300, 200, wire::kRoleWorker), Process(401, 300, wire::kRoleOther)};
  const std::vector<std::uint64_t> starts = {10, 10, 20, 30, 40, 40};
  for (std::size_t i = 0; i < starts.size(); ++i) processes[i].process_start = starts[i];
  EXPECT_EQ(ConsumersOf(processes), (std::vector<std::uint32_t>{0, 1, 0, 0, 1, 1}));
}

TEST(ConsumersTest, APartWithoutATrainingProcessWorksForNoOther) {
  const std::vector<traces::ProcessInfo> processes = {Process(100, 1, wire::kRoleConsumer, "0"),
                                                      Process(90, 1, wire::kRoleOther, "1")};
  EXPECT_EQ(ConsumersOf(processes), (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace penstock::analyzer
