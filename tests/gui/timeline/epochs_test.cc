// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/epochs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "gui/model/timeline/place.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<traces::Trace> WithFacts(
    const std::vector<std::pair<std::string, std::string>>& facts) {
  traces::TraceData data;
  data.processes.emplace_back();
  for (const auto& [key, value] : facts) data.processes[0].facts[key] = value;
  return traces::MakeTrace(std::move(data));
}

// Three epochs of one loader.
traces::TraceData ThreeEpochs() {
  analyzer::testing::Synthetic run;
  run.epochs = 3;
  run.batches = 20;
  return analyzer::testing::MakeSynthetic(run);
}

std::vector<std::uint32_t> BatchesOf(const Timeline& timeline, const Search& search) {
  std::vector<std::uint32_t> generations;
  for (const SpanRef hit : search.hits()) {
    const SpanDetail& detail = timeline.detail(hit);
    EXPECT_EQ(detail.batch, 12U);
    if (generations.empty() || generations.back() != detail.generation) {
      generations.push_back(detail.generation);
    }
  }
  return generations;
}

TEST(EpochsTest, EpochsOfEachLoaderAreCountedFromOne) {
  const auto trace = WithFacts({{"epoch.1", "0"},
                                {"epoch.2", "1"},
                                {"epoch.3", "0"},
                                {"epoch.3.shards", "true"},
                                {"epoch.4", "1"}});
  const Epochs epochs(*trace, {4, 3, 1, 3});
  EXPECT_TRUE(epochs.several());
  EXPECT_TRUE(epochs.several_loaders());
  EXPECT_EQ(epochs.NumberOf(1), 1U);
  EXPECT_EQ(epochs.NumberOf(3), 2U);
  EXPECT_EQ(epochs.NumberOf(4), 2U) << "the one before has no batches here, and still counts";
  EXPECT_EQ(epochs.LoaderOf(4), 1);
  const std::vector<std::string> loaders = {"train.py:8", ""};
  EXPECT_EQ(BatchName(epochs, 12, 3, loaders, Language::kEnglish), "12 of epoch 2, train.py:8");
  EXPECT_EQ(BatchName(epochs, 12, 4, loaders, Language::kEnglish), "12 of epoch 2");
  EXPECT_EQ(BatchName(epochs, 12, 3, loaders, Language::kChinese), "12（epoch 2，train.py:8）");
}

TEST(EpochsTest, WithoutFactsAnIteratorIsItsOwnEpoch) {
  const auto trace = WithFacts({});
  EXPECT_EQ(Epochs(*trace, {57, 58}).NumberOf(57), 57U);
  EXPECT_EQ(Epochs(*trace, {0, 1}).NumberOf(1), 2U);
  const Epochs one(*trace, {3});
  EXPECT_FALSE(one.several());
  EXPECT_EQ(BatchName(one, 12, 3, {}, Language::kEnglish), "12");
}

TEST(EpochsTest, BatchesOfTheSameNumberAreFoundApart) {
  const auto trace = traces::MakeTrace(ThreeEpochs());
  const Timeline timeline = *BuildTimeline(*trace);
  const auto found = [&](const char* text) {
    return BatchesOf(timeline, Search(timeline, *trace, text));
  };
  EXPECT_THAT(found("batch 12"), ElementsAre(1, 2, 3));
  for (const char* text :
       {"epoch 3, batch 12", "epoch:3 batch:12", "batch:12@3", "epoch 3 批次 12"}) {
    EXPECT_THAT(found(text), ElementsAre(3)) << text;
  }
  EXPECT_TRUE(Search(timeline, *trace, "epoch 4").hits().empty());
  EXPECT_FALSE(Search(timeline, *trace, "epoch 1").hits().empty());
}

TEST(EpochsTest, TheChosenBatchIsWrittenWithItsEpoch) {
  traces::TraceData data = ThreeEpochs();
  const auto written = [](const traces::Trace& trace, const char* word) {
    const Timeline timeline = *BuildTimeline(trace);
    Place place;
    EXPECT_TRUE(ReadSelected("batch:12", &place));
    EXPECT_TRUE(ReadSelected(word, &place));
    EXPECT_TRUE(ReadSelected("stage:fetch", &place));
    TimelineState state;
    state.span = FindSelected(timeline, place);
    EXPECT_TRUE(state.span.has_value());
    const Place again = SelectedIn(timeline, state);
    EXPECT_EQ(FindSelected(timeline, again), state.span);
    return SelectedWords(again);
  };
  const auto one = traces::MakeTrace(data);
  EXPECT_THAT(written(*one, "epoch:2"), ElementsAre("epoch:2", "batch:12", "stage:fetch"));
  EXPECT_THAT(written(*one, "worker:0"), ElementsAre("epoch:1", "batch:12", "stage:fetch"));
  // Each of two loaders has an epoch 1.
  data.processes[0].facts["epoch.2"] = "1";
  const auto two = traces::MakeTrace(std::move(data));
  EXPECT_THAT(written(*two, "epoch:2"), ElementsAre("batch:12@3", "stage:fetch"));
}

TEST(EpochsTest, AWorkerIsFoundByItsNumber) {
  const auto trace = traces::MakeTrace(ThreeEpochs());
  const Timeline timeline = *BuildTimeline(*trace);
  const Search search(timeline, *trace, "worker 1 decode");
  EXPECT_FALSE(search.hits().empty());
  for (const SpanRef hit : search.hits()) {
    EXPECT_EQ(timeline.GroupOf(hit.lane)->worker_id, 1);
    EXPECT_EQ(timeline.stage(hit), traces::StageId::kDecode);
  }
  EXPECT_TRUE(Search(timeline, *trace, "worker 7").hits().empty());
}

}  // namespace
}  // namespace penstock::gui
