// SPDX-License-Identifier: Apache-2.0
//
// Several traces of one run are read as one trace on one clock. None of them is overwritten.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/main/commands.h"
#include "analyzer/ranks/merge_run.h"
#include "analyzer/ranks/rank_summary.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "tests/traces/support.h"
#include "traces/pack.h"

namespace penstock::analyzer {
namespace {

using testing::OneIsSlow;
using testing::Ranked;
using testing::Skew;
using testing::TraceOfRank;

// Writes a trace for each rank, whose clock is wrong by the rank's entry of `skews`. Returns the
// paths.
std::vector<std::string> Write(const traces::testing::TempFolder& folder, const Ranked& run,
                               const std::vector<Skew>& skews) {
  std::vector<std::string> paths;
  for (std::size_t rank = 0; rank < skews.size(); ++rank) {
    const auto path = folder / ("rank" + std::to_string(rank) + ".penstock");
    const traces::TraceData data = TraceOfRank(run, static_cast<int>(rank), skews[rank]);
    auto packer = traces::CreatePacked(path);
    for (const auto& [key, value] : data.facts) (*packer)->SetFact(key, value);
    for (const auto& process : data.processes) (void)(*packer)->AddProcess(process);
    for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
      (void)(*packer)->AddThread(data.threads[i]);
      for (const traces::Span& span : data.spans[i]) (*packer)->AddSpan(ThreadId{i}, span);
    }
    (*packer)->SetRealtimeOffset(data.realtime_offset);
    EXPECT_TRUE((*packer)->Finish());
    paths.push_back(path.string());
  }
  return paths;
}

TEST(MergeRunTest, RanksOfTwoHostsStandOnOneClock) {
  const traces::testing::TempFolder folder;
  auto paths =
      Write(folder, OneIsSlow(), {{}, {}, {77, 0, "two", "node1"}, {77, 0, "two", "node1"}});
  std::reverse(paths.begin(), paths.end());  // the order does not matter
  const auto merged = OpenMerged(paths, AlignMethod::kAuto);
  ASSERT_TRUE(merged) << merged.error().message;
  const RankSummary ranks = SummariseRanks(**merged, BuildRunModel(**merged));
  ASSERT_EQ(ranks.rows.size(), 4u);
  ASSERT_EQ(ranks.hosts.size(), 2u);
  EXPECT_EQ(ranks.hosts[ranks.rows[3].host].name, "node1");
  EXPECT_EQ(ranks.imbalance.slowest, 2);
  EXPECT_TRUE(ranks.imbalance.together);
  ASSERT_EQ(ranks.clocks.size(), 4u);
  EXPECT_EQ(ranks.clocks[1].by, "same clock");
  EXPECT_EQ(ranks.clocks[2].by, "collective");
  EXPECT_NEAR(ranks.clocks[2].offset, -77, 1e-3);
  EXPECT_LT(Seconds((*merged)->end() - (*merged)->begin()), 10);
}

TEST(MergeRunTest, PidsOfTwoHostsMayBeTheSame) {
  const traces::testing::TempFolder folder;
  const auto paths = Write(folder, OneIsSlow(), {{}, {1, 0, "two"}});
  const auto merged = OpenMerged(paths, AlignMethod::kAuto);
  ASSERT_TRUE(merged);
  EXPECT_NE((*merged)->processes()[0].pid, (*merged)->processes()[1].pid);
  EXPECT_EQ(BuildRunModel(**merged).loaders.size(), 2u);
}

TEST(MergeRunTest, RefusesTheSameRankTwice) {
  const traces::testing::TempFolder folder;
  const auto paths = Write(folder, OneIsSlow(), {{}});
  const std::string copy = (folder / "copy.penstock").string();
  std::filesystem::copy_file(paths[0], copy);
  const std::vector<std::string> twice = {paths[0], copy};
  const auto merged = OpenMerged(twice, AlignMethod::kAuto);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().kind, ErrorKind::kInput);
  EXPECT_NE(merged.error().message.find("rank 0"), std::string::npos);
  const std::vector<std::string> same = {paths[0], paths[0]};
  EXPECT_EQ(OpenMerged(same, AlignMethod::kAuto).error().kind, ErrorKind::kUsage);
}

TEST(MergeRunTest, RefusesAMerge) {
  const traces::testing::TempFolder folder;
  const auto paths = Write(folder, OneIsSlow(), {{}, {}, {}});
  const std::vector<std::string> two = {paths[0], paths[1]};
  const std::string merged = (folder / "merged.penstock").string();
  auto packer = traces::CreatePacked(merged);
  ASSERT_TRUE(MergeRun(two, AlignMethod::kAuto, **packer));
  ASSERT_TRUE((*packer)->Finish());
  const std::vector<std::string> again = {merged, paths[2]};
  const auto refused = OpenMerged(again, AlignMethod::kAuto);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is a merged trace"), std::string::npos);
}

TEST(MergeCommandTest, AnInputIsNotOverwrittenUnderAnotherName) {
  const traces::testing::TempFolder folder;
  const auto paths = Write(folder, OneIsSlow(), {{}, {}});
  const auto before = traces::testing::ReadFile(paths[0]);
  const std::string link = (folder / "link.penstock").string();
  std::filesystem::create_symlink(paths[0], link);
  for (const std::string& output : {paths[0], (folder / "./rank0.penstock").string(), link}) {
    EXPECT_EQ(MergeCommand({paths[0], paths[1], "-o", output}), 2) << output;
    EXPECT_FALSE(std::filesystem::exists(output + ".part"));
  }
  EXPECT_EQ(traces::testing::ReadFile(paths[0]), before);
  EXPECT_EQ(MergeCommand({paths[0], paths[1], "-o", (folder / "merged.penstock").string()}), 0);
}

}  // namespace
}  // namespace penstock::analyzer
