// SPDX-License-Identifier: Apache-2.0
//
// The preview of a timeline, before its spans are read, has the same rows, and the same stages at
// the same places.
#include <gtest/gtest.h>

#include <cmath>

#include "gui/model/timeline/density.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline_state.h"
#include "tests/gui/support.h"
#include "traces/preview.h"

namespace penstock::gui {
namespace {

using traces::StageId;

std::unique_ptr<traces::Trace> LongRun() {
  std::vector<std::vector<testing::TestSpan>> threads(3);
  for (std::uint32_t i = 0; i < 9000; ++i) {
    const std::int64_t at = 1000 * std::int64_t{i};
    threads[0].push_back({at, i % 3 == 0 ? 700 : 200, StageId::kWait, i});
    threads[1].push_back({at, 900, StageId::kFetch, i});
    threads[1].push_back({at + 10, 300 + i % 400, StageId::kRead, i});
    threads[1].push_back({at + 800, 90, StageId::kDecode, i});
  }
  threads[2].push_back({5'000'000, 1'000'000, StageId::kIdle});
  return testing::MakeThreads(threads);
}

// The share of each stage in each column of `window`.
std::vector<std::array<double, wire::kStageCount>> Columns(const Level& level, std::int64_t length,
                                                           const Window& window) {
  std::vector<Box> boxes;
  LayOut(level, length, window, boxes);
  std::vector<std::array<double, wire::kStageCount>> columns(
      static_cast<std::size_t>(window.width));
  for (const Box& box : boxes) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double overlap = std::min<double>(box.x1, static_cast<double>(c) + 1) -
                             std::max<double>(box.x0, static_cast<double>(c));
      if (overlap > 0) {
        columns[c][static_cast<std::size_t>(box.stage)] +=
            overlap * static_cast<double>(box.top - box.bottom);
      }
    }
  }
  return columns;
}

TEST(PreviewTimelineTest, HasTheRowsOfTheWholeTimeline) {
  const auto trace = LongRun();
  const Timeline whole = *BuildTimeline(*trace);
  const Timeline preview = MakeTimeline(traces::MakePreview(*trace));
  EXPECT_TRUE(preview.preview);
  EXPECT_FALSE(whole.preview);
  EXPECT_EQ(preview.begin, whole.begin);
  EXPECT_EQ(preview.length, whole.length);
  EXPECT_EQ(preview.spans, whole.spans);
  ASSERT_EQ(preview.lanes.size(), whole.lanes.size());
  for (std::size_t l = 0; l < whole.lanes.size(); ++l) {
    EXPECT_EQ(preview.lanes[l].label, whole.lanes[l].label);
    EXPECT_EQ(preview.lanes[l].main, whole.lanes[l].main);
    EXPECT_EQ(preview.lanes[l].stream, whole.lanes[l].stream);
    EXPECT_EQ(preview.lanes[l].thread, whole.lanes[l].thread);
    EXPECT_EQ(preview.lanes[l].levels.size(), whole.lanes[l].levels.size());
    EXPECT_EQ(preview.lanes[l].spans, whole.lanes[l].spans);
  }
  const auto rows = LayOutRows(whole, {}, TimelineState());
  const auto early = LayOutRows(preview, {}, TimelineState());
  ASSERT_EQ(rows.size(), early.size());
  for (std::size_t r = 0; r < rows.size(); ++r) EXPECT_EQ(rows[r].top, early[r].top);
}

TEST(PreviewTimelineTest, ShowsTheStagesWhereTheSpansAre) {
  const auto trace = LongRun();
  const Timeline whole = *BuildTimeline(*trace);
  const Timeline preview = MakeTimeline(traces::MakePreview(*trace));
  const Window window{0, whole.length, 400, 1};
  for (std::size_t l = 0; l < whole.lanes.size(); ++l) {
    for (std::size_t v = 0; v < whole.lanes[l].levels.size(); ++v) {
      const auto a = Columns(whole.lanes[l].levels[v], whole.length, window);
      const auto b = Columns(preview.lanes[l].levels[v], whole.length, window);
      for (std::size_t c = 0; c < a.size(); ++c) {
        for (std::size_t s = 0; s < wire::kStageCount; ++s) {
          // Heights are rounded to twelfths, and an edge of a long span may lie inside a cell.
          EXPECT_NEAR(a[c][s], b[c][s], 0.26) << "level " << v << " column " << c << " stage " << s;
        }
      }
    }
  }
}

TEST(PreviewTimelineTest, CanBeZoomedBeyondItsCells) {
  const Timeline preview = MakeTimeline(traces::MakePreview(*LongRun()));
  for (const std::int64_t length : {std::int64_t{50}, std::int64_t{5000}, preview.length}) {
    std::vector<Box> boxes;
    LayOut(preview.lanes[1].levels[0], preview.length, {10'000, 10'000 + length, 300, 1}, boxes);
    EXPECT_FALSE(boxes.empty()) << length;
  }
}

TEST(PreviewTimelineTest, HasTheSameStageSums) {
  const auto trace = LongRun();
  const auto whole = StageSums(*BuildTimeline(*trace));
  const auto early = StageSums(MakeTimeline(traces::MakePreview(*trace)));
  ASSERT_EQ(whole.size(), early.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i].stage, early[i].stage);
    EXPECT_EQ(whole[i].count, early[i].count);
    EXPECT_EQ(whole[i].time, early[i].time);
  }
}

TEST(PreviewTimelineTest, FindsNoSingleSpans) {
  const Timeline preview = MakeTimeline(traces::MakePreview(*LongRun()));
  EXPECT_TRUE(Aggregate(preview, {0, preview.length}).empty());
  EXPECT_FALSE(Longest(preview, StageId::kRead, {0, preview.length}).has_value());
  const auto rows = LayOutRows(preview, {}, TimelineState());
  for (const Row& row : rows) EXPECT_FALSE(SpanAt(preview, row, 1000, 100).has_value());
}

}  // namespace
}  // namespace penstock::gui
