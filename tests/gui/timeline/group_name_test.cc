// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/group_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using traces::StageId;

// A training process, and a worker of number 0 for each iterator in `generations`.
Timeline RunOf(const std::vector<std::uint16_t>& generations,
               const std::map<std::string, std::string>& facts) {
  traces::TraceData data;
  for (std::uint32_t p = 0; p <= generations.size(); ++p) {
    traces::ProcessInfo process;
    process.pid = 100 + p;
    process.role = p == 0 ? wire::kRoleConsumer : wire::kRoleWorker;
    process.worker_id = p == 0 ? -1 : 0;
    process.parent = p == 0 ? 0 : 100;
    if (p == 0) process.facts = facts;
    data.processes.push_back(process);
    traces::ThreadInfo thread;
    thread.process = ProcessId{p};
    thread.tid = 100 + p;
    data.threads.push_back(thread);
    traces::Span span;
    span.start = TimeNs{1'000'000 + 100 * static_cast<std::int64_t>(p)};
    span.duration = TimeNs{50};
    span.stage = p == 0 ? StageId::kRead : StageId::kFetch;
    if (p > 0) span.batch = {0, generations[p - 1]};
    data.spans.push_back({span});
  }
  return *BuildTimeline(*traces::MakeTrace(std::move(data)));
}

std::vector<std::string> NamesOf(const Timeline& timeline, Language language = Language::kEnglish) {
  std::vector<std::string> names;
  for (const Group& group : timeline.groups) {
    names.push_back(GroupName(timeline, group, {"train.py:88", "train.py:97"}, language));
  }
  return names;
}

// A run with two loaders had five rows "worker 0".
TEST(GroupNameTest, WorkersOfOneNumberAreToldApartByEpochAndLoader) {
  EXPECT_THAT(NamesOf(RunOf({1}, {{"epoch.1", "0"}})), ElementsAre("training process", "worker 0"));
  EXPECT_THAT(NamesOf(RunOf({1, 2}, {{"epoch.1", "0"}, {"epoch.2", "0"}})),
              ElementsAre("training process", "worker 0 · epoch 1", "worker 0 · epoch 2"));
  EXPECT_THAT(NamesOf(RunOf({1, 2}, {{"epoch.1", "0"}, {"epoch.2", "1"}})),
              ElementsAre("training process", "worker 0 · train.py:88", "worker 0 · train.py:97"));
  EXPECT_THAT(NamesOf(RunOf({1, 2, 3}, {{"epoch.1", "0"}, {"epoch.2", "1"}, {"epoch.3", "0"}})),
              ElementsAre("training process", "worker 0 · epoch 1 · train.py:88",
                          "worker 0 · train.py:97", "worker 0 · epoch 2 · train.py:88"));
}

// Two loaders of one line were both "worker 0 · epoch 1 · struc...", later "... · …:117...".
TEST(GroupNameTest, ALoaderKeepsItsLineAndNumberWhereItsFileIsShortened) {
  EXPECT_THAT(WithoutFiles({"structure_cell.py:117", "", "structure_cell.py:117 #2", "named"}),
              ElementsAre(":117", "", ":117 #2", "named"));
  EXPECT_THAT(WithoutFiles({"train.py:88", "test.py:88"}),
              ElementsAre("train.py:88", "test.py:88"));
}

// "rank 1 training process" was cut before its last word in every rank.
TEST(GroupNameTest, TheNameOfAProcessFollowsItsRank) {
  Timeline timeline = RunOf({1}, {});
  timeline.groups[0].rank = 0;
  timeline.groups[1].rank = 1;
  EXPECT_THAT(NamesOf(timeline), ElementsAre("rank 0: training", "rank 1: worker 0"));
  EXPECT_THAT(NamesOf(timeline, Language::kChinese),
              ElementsAre("rank 0：训练", "rank 1：工作进程 0"));
}

// A run of a process with threads of these numbers and names for each rank.
Timeline LanesOf(const std::vector<std::vector<std::pair<std::uint32_t, std::string>>>& ranks) {
  traces::TraceData data;
  for (std::uint32_t p = 0; p < ranks.size(); ++p) {
    traces::ProcessInfo process;
    process.pid = 100 + 100 * p;
    process.role = wire::kRoleConsumer;
    process.rank = static_cast<std::int32_t>(p);
    data.processes.push_back(process);
    for (const auto& [tid, name] : ranks[p]) {
      traces::ThreadInfo thread;
      thread.process = ProcessId{p};
      thread.tid = tid;
      thread.name = name;
      data.threads.push_back(thread);
      traces::Span span;
      span.start = TimeNs{1'000'000};
      span.duration = TimeNs{50};
      span.stage = StageId::kCall;
      data.spans.push_back({span});
    }
  }
  return *BuildTimeline(*traces::MakeTrace(std::move(data)));
}

// The rows were stream 7, 21, 20, a thread, 22.
TEST(LaneNameTest, StreamsStandBelowThreadsByNumber) {
  const Timeline timeline = LanesOf({{{100, "python"},
                                      {wire::LaneOf(0, 21), ""},
                                      {wire::LaneOf(0, 20), ""},
                                      {105, "autograd"},
                                      {wire::LaneOf(0, 22), ""}}});
  EXPECT_THAT(timeline.groups[0].lanes, ElementsAre(0, 3, 2, 1, 4));
}

// A rank had two rows "python3".
TEST(LaneNameTest, ThreadsOfOneNameAreToldApart) {
  const Timeline timeline =
      LanesOf({{{100, "python3"}, {101, "python3"}, {102, "python3"}, {103, "io"}},
               {{200, "python3"}, {201, "python3"}}});
  std::vector<bool> alike;
  for (const Lane& lane : timeline.lanes) alike.push_back(lane.alike);
  EXPECT_THAT(alike, ElementsAre(false, true, true, false, false, false));
}

// Eight ranks had rows "GPU 0 stream 7", where the view of GPUs said "8 GPUs".
TEST(LaneNameTest, DevicesThatRanksNumberAlikeAreNamedByTheRank) {
  const std::uint32_t first = wire::LaneOf(0, 7);
  const std::uint32_t second = wire::LaneOf(1, 7);
  const auto ranks = [](const Timeline& timeline) {
    std::vector<std::int32_t> found;
    for (const Lane& lane : timeline.lanes) found.push_back(lane.rank_of_device);
    return found;
  };
  EXPECT_THAT(ranks(LanesOf({{{100, ""}, {first, ""}}, {{200, ""}, {first, ""}}})),
              ElementsAre(-1, 0, -1, 1));
  EXPECT_THAT(ranks(LanesOf({{{first, ""}}, {{second, ""}}})), ElementsAre(-1, -1));
  EXPECT_THAT(ranks(LanesOf({{{first, ""}, {second, ""}}})), ElementsAre(-1, -1));
}

}  // namespace
}  // namespace penstock::gui
