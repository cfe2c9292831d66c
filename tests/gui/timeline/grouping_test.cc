// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stop_token>

#include "analyzer/report/report.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/panels_support.h"
#include "tests/gui/support.h"
#include "traces/names.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using testing::MakeThreads;
using testing::TestSpan;
using traces::StageId;

struct GroupedTrace {
  std::unique_ptr<traces::Trace> trace;
  Timeline timeline;

  explicit GroupedTrace(std::unique_ptr<traces::Trace> made)
      : trace(std::move(made)), timeline(*BuildTimeline(*trace)) {}

  [[nodiscard]] GroupTable Table(const char* search, std::optional<TimeRange> range = {}) const {
    auto table = BuildGroups({trace.get(), range}, timeline, search);
    EXPECT_TRUE(table.has_value()) << search;
    return table.value_or(GroupTable{});
  }
  // "name count sum" of each row.
  [[nodiscard]] std::vector<std::string> Rows(const char* search,
                                              std::optional<TimeRange> range = {}) const {
    const GroupTable table = Table(search, range);
    std::vector<std::string> rows;
    for (const GroupRow& row : table.rows) {
      rows.push_back(NameOfGroup(table, row, timeline, {}, Language::kEnglish) + " " +
                     std::to_string(row.count) + " " + std::to_string(row.sum));
    }
    return rows;
  }
};

// Two workers read two files each and decode them; one file comes from an archive.
GroupedTrace GroupedRun() {
  return GroupedTrace(MakeThreads({{{0, 500, StageId::kWait, 0}},
                                   {{0, 200, StageId::kFetch, 0},
                                    {0, 10, StageId::kRead, 0, "", "/d/cat/1.jpg", 1},
                                    {20, 100, StageId::kDecode, 0, "jpeg", "", 1},
                                    {130, 15, StageId::kRead, 0, "", "/d/a.tar/2.jpg", 2},
                                    {150, 40, StageId::kDecode, 0, "jpeg", "", 2}},
                                   {{0, 90, StageId::kFetch, 1},
                                    {5, 5, StageId::kRead, 1, "", "/d/cat/1.jpg", 3},
                                    {20, 60, StageId::kDecode, 1, "png", "", 3}}}));
}

TEST(GroupingTest, ATableIsAskedForByItsWord) {
  EXPECT_FALSE(AsksForTable("stage:decode top 20"));
  EXPECT_FALSE(AsksForTable("\"group:file\""));
  EXPECT_TRUE(AsksForTable("stage:decode group:file top 20"));
  const SearchTerms terms("decode GROUP:worker top 2 >1ms");
  EXPECT_EQ(terms.table(), (TableWish{GroupBy::kWorker, 2}));
  EXPECT_EQ(SearchTerms("分组:文件 前 3").table(), (TableWish{GroupBy::kFile, 3}));
  EXPECT_EQ(SearchTerms("分组：文件 前 3").table(), (TableWish{GroupBy::kFile, 3}));
  EXPECT_EQ(WithoutTable("decode 分组：文件 前：3"), "decode");
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    EXPECT_TRUE(AsksForTable(TextOf(Text::kGroupExample, language)));
  }
  EXPECT_EQ(SearchTerms("group:name top:4").table()->top, 4U);
  EXPECT_EQ(SearchTerms("group:file top").table()->top, 0U) << "its number is not typed yet";
  EXPECT_TRUE(SearchTerms("group:file top 3").empty());
  EXPECT_EQ(WithoutTable("decode group:file top 20 >5ms"), "decode >5ms");
  EXPECT_EQ(WithoutTable("\"a group:file b\" 20"), "\"a group:file b\" 20");
}

TEST(GroupingTest, CallsAreGroupedByTheFileOfTheirSample) {
  const GroupedTrace run = GroupedRun();
  EXPECT_THAT(run.Rows("stage:decode group:file"),
              ElementsAre("/d/cat/1.jpg 2 160", "/d/a.tar/2.jpg 1 40"));
  EXPECT_THAT(run.Rows("decode group:file top 1"), ElementsAre("/d/cat/1.jpg 2 160"));
  EXPECT_EQ(run.Table("decode group:file top 1").groups, 2U);
  EXPECT_EQ(run.Table("decode group:file top 1").sum, 200);
  EXPECT_THAT(run.Rows("decode group:shard"), ElementsAre("/d/cat 2 160", "/d/a.tar 1 40"));
  EXPECT_THAT(run.Rows("decode group:worker"), ElementsAre("worker 0 2 140", "worker 1 1 60"));
  EXPECT_THAT(run.Rows("decode group:name"), ElementsAre("jpeg 2 140", "png 1 60"));
  EXPECT_THAT(run.Rows("worker 1 group:stage"),
              ElementsAre("fetch 1 90", "decode 1 60", "augment 1 25", "read 1 5"));
  EXPECT_EQ(run.Table("worker 1 group:stage").sum, 90) << "the fetch contains the others";
  EXPECT_THAT(run.Rows("worker 1 group:worker"), ElementsAre("worker 1 3 90"));
  EXPECT_THAT(run.Rows("fetch group:worker"), ElementsAre("worker 0 1 200", "worker 1 1 90"));
  EXPECT_TRUE(run.Rows("nosuch group:file").empty());
  const GroupTable table = run.Table("decode group:file");
  EXPECT_EQ(table.rows[0].largest.wall, 100);
  EXPECT_EQ(run.timeline.start(*FindSpan(run.timeline, table.rows[0].largest)), 20);
}

// Each typed key stops the pass for the previous table. A pass that went on would hold up typing.
TEST(GroupingTest, APassOverTheSpansEndsWhenItIsStopped) {
  const GroupedTrace run = GroupedRun();
  std::stop_source stop;
  stop.request_stop();
  SpanDetail decode;
  for (const Lane& lane : run.timeline.lanes) {
    for (const Level& level : lane.levels) {
      for (std::size_t i = 0; i < level.size(); ++i) {
        const bool first = level.stage(i) == StageId::kDecode && level.detail[i].sample == 1;
        if (first) decode = level.detail[i];
      }
    }
  }
  ASSERT_EQ(decode.sample, 1U);
  for (const bool stopped : {false, true}) {
    SearchTerms terms("1.jpg group:file");
    terms.Prepare(run.timeline, *run.trace, stopped ? stop.get_token() : std::stop_token());
    EXPECT_NE(terms.Hold(StageId::kDecode, 100, decode), stopped) << "no file was looked at";
  }
  const auto table =
      BuildGroups({run.trace.get(), {}}, run.timeline, "1.jpg group:file", stop.get_token());
  EXPECT_TRUE(table.has_value() && table->rows.empty());
}

TEST(GroupingTest, OnlyCallsThatBeginInTheSelectionCount) {
  const GroupedTrace run = GroupedRun();
  EXPECT_THAT(run.Rows("decode group:file", TimeRange{15, 100}), ElementsAre("/d/cat/1.jpg 2 160"));
}

TEST(GroupingTest, TheStagesHaveTheReportsTimes) {
  analyzer::testing::Synthetic synthetic;
  synthetic.epochs = 2;
  const Document run = testing::DocumentOf(analyzer::testing::SyntheticTrace(synthetic));
  const auto table = BuildGroups({run.trace.get(), {}}, *run.timeline, "group:stage");
  ASSERT_TRUE(table.has_value());
  std::map<StageId, const GroupRow*> rows;
  for (const GroupRow& row : table->rows) rows[static_cast<StageId>(row.key)] = &row;
  std::size_t compared = 0;
  for (const analyzer::StageRow& row : run.analysis->report.stages) {
    // The report may derive steps from waits; the table has only recorded spans.
    if (row.stage == StageId::kStep) continue;
    ASSERT_TRUE(rows.count(row.stage)) << row.name;
    EXPECT_NEAR(static_cast<double>(rows[row.stage]->sum) * 1e-9, row.wall, 1e-6) << row.name;
    EXPECT_EQ(rows[row.stage]->count, row.count) << row.name;
    ++compared;
  }
  EXPECT_GT(compared, 4U);
  // The stages of a worker take no longer than its life: nested transforms are not counted twice.
  const auto workers = BuildGroups({run.trace.get(), {}}, *run.timeline, "group:worker");
  for (const GroupRow& row : workers->rows) {
    const Group* group = nullptr;
    for (const Group& one : run.timeline->groups) {
      if (one.process.value == row.key) group = &one;
    }
    ASSERT_NE(group, nullptr);
    if (group->kind == GroupKind::kWorker) {
      EXPECT_LE(row.sum, 1.05 * static_cast<double>(run.timeline->length));
    }
  }
  const auto epochs = BuildGroups({run.trace.get(), {}}, *run.timeline, "wait group:epoch");
  // The last wait of an epoch belongs to no batch.
  ASSERT_EQ(epochs->rows.size(), 3U);
  EXPECT_EQ(NameOfGroup(*epochs, epochs->rows[2], *run.timeline, {}, Language::kEnglish), "(none)");
  EXPECT_EQ(WordsOfGroup(*epochs, epochs->rows[0], *run.timeline).substr(0, 6), "epoch:");
}

TEST(GroupingTest, TheWordsOfARowFindItsCallsAlone) {
  const GroupedTrace run = GroupedRun();
  for (const char* search : {"decode group:file", "decode group:shard", "decode group:worker",
                             "decode group:name", "worker 0 group:stage"}) {
    const GroupTable table = run.Table(search);
    for (const GroupRow& row : table.rows) {
      // Augmenting is derived from a sample and has no span, so a search cannot find it.
      if (row.largest.stage == StageId::kAugment) continue;
      const std::string words = WithoutTable(search) + " " + WordsOfGroup(table, row, run.timeline);
      EXPECT_EQ(Search(run.timeline, *run.trace, words).hits().size(), row.count) << words;
    }
  }
}

TEST(GroupingTest, TheWordsOfARowFindNoCallsOfAnotherRankOrLoader) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({.batches = 20});
  ASSERT_GT(data.processes.size(), 2U);
  for (const std::size_t p : {1U, 2U}) {
    data.processes[p].worker_id = 0;
    data.processes[p].rank = static_cast<std::int32_t>(p) - 1;
  }
  const GroupedTrace ranks(traces::MakeTrace(std::move(data)));
  const GroupTable workers = ranks.Table("decode group:worker");
  ASSERT_GT(workers.rows.size(), 1U);
  for (const GroupRow& row : workers.rows) {
    const std::string words = "decode " + WordsOfGroup(workers, row, ranks.timeline);
    const Search search(ranks.timeline, *ranks.trace, words);
    EXPECT_EQ(search.hits().size(), row.count) << words;
    for (const SpanRef& hit : search.hits()) {
      EXPECT_EQ(ranks.timeline.GroupOf(hit.lane)->process.value, row.key) << words;
    }
  }
  const GroupedTrace loaders(testing::TwoLoaders());
  ASSERT_TRUE(loaders.timeline.epochs.several_loaders());
  const GroupTable epochs = loaders.Table("fetch group:epoch");
  ASSERT_EQ(epochs.rows.size(), 2U);
  for (const GroupRow& row : epochs.rows) {
    const std::string words = "fetch " + WordsOfGroup(epochs, row, loaders.timeline);
    const Search search(loaders.timeline, *loaders.trace, words);
    EXPECT_FALSE(search.hits().empty()) << words;
    for (const SpanRef& hit : search.hits()) {
      EXPECT_EQ(loaders.timeline.detail(hit).generation, row.key) << words;
    }
  }
}

TEST(GroupingTest, RowsAreSortedAndWrittenAsCsv) {
  const GroupedTrace run = GroupedRun();
  const GroupTable table = run.Table("decode group:file");
  EXPECT_THAT(SortGroups(table.rows, GroupColumn::kMean, true), ElementsAre(0, 1));
  EXPECT_THAT(SortGroups(table.rows, GroupColumn::kCount, false), ElementsAre(1, 0));
  EXPECT_THAT(SortGroups(table.rows, GroupColumn::kName, false), ElementsAre(1, 0));
  EXPECT_EQ(GroupsCsv(table, {1, 0}, run.timeline, {}),
            "file,count,sum_s,mean_s,largest_s\n"
            "/d/a.tar/2.jpg,1,4e-08,4e-08,4e-08\n"
            "/d/cat/1.jpg,2,1.6e-07,8e-08,1e-07\n");
}

TEST(GroupingTest, TheTitleIsRightForOneGroupAndOneCall) {
  EXPECT_EQ(Filled(Text::kGroupTitle, Language::kEnglish, 1, "1", "1", "2 ms"),
            "Groups: 1 of 1, calls: 1, 2 ms");
  EXPECT_EQ(Filled(Text::kGroupInSelection, Language::kEnglish, 3, "14", "20", "2 ms"),
            "Groups in the selection: 3 of 14, calls: 20, 2 ms");
}

TEST(GroupingTest, AnArchiveIsAShardAndElseTheFolder) {
  EXPECT_EQ(ShardOf("/d/train-0001.tar"), "/d/train-0001.tar");
  EXPECT_EQ(ShardOf("a.tar:x/1.jpg"), "a.tar");
  EXPECT_EQ(ShardOf("/d/b.tar/1.jpg"), "/d/b.tar");
  EXPECT_EQ(ShardOf("/d/cat.target/1.jpg"), "/d/cat.target");
  EXPECT_EQ(ShardOf("1.jpg"), "1.jpg");
  EXPECT_EQ(ShardOf(""), "");
}

}  // namespace
}  // namespace penstock::gui
