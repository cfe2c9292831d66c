// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/stage_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr std::array kPercentiles = {StageColumn::kP50, StageColumn::kP90, StageColumn::kP99};

std::vector<StageLine> LinesOf(traces::TraceData data) {
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  return BuildStages({document.trace.get(), std::nullopt}, *document.analysis);
}

const StageLine& RowOf(const std::vector<StageLine>& lines, StageId stage) {
  return *std::find_if(lines.begin(), lines.end(), [stage](const StageLine& line) {
    return line.id.stage == stage && !line.is_part();
  });
}

// Every second picture is decoded in a tenth of the time, by another decoder.
traces::TraceData TwoHumps() {
  traces::TraceData data = testing::MakeGpuRun({});
  const StringId slow = data.Intern("png");
  const StringId fast = data.Intern("jpeg");
  int number = 0;
  for (std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage != StageId::kDecode) continue;
      const bool short_one = number++ % 2 == 0;
      span.name = short_one ? fast : slow;
      if (short_one) span.duration.value /= 10;
    }
  }
  return data;
}

TEST(StageCellsTest, AStageOfTwoHumpsHasNoPercentilesAndItsPartsHaveTheirs) {
  const std::vector<StageLine> lines = LinesOf(TwoHumps());
  const StageLine& decode = RowOf(lines, StageId::kDecode);
  ASSERT_TRUE(decode.mixed);
  const auto parts = std::count_if(lines.begin(), lines.end(), [](const StageLine& line) {
    return line.is_part() && line.id.stage == StageId::kDecode;
  });
  EXPECT_EQ(parts, 2);
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    for (const StageColumn column : kPercentiles) {
      EXPECT_EQ(CellText(decode, column, language), kDash);
      EXPECT_NE(CellText(RowOf(lines, StageId::kRead), column, language), kDash);
      for (const StageLine& line : lines) {
        if (!line.is_part() || line.id.stage != StageId::kDecode) continue;
        EXPECT_NE(CellText(line, column, language), kDash) << line.name;
      }
    }
    EXPECT_NE(CellText(decode, StageColumn::kWall, language), kDash);
  }
}

TEST(StageCellsTest, TimesOfTwoDevicesAreNoTimeOfOne) {
  const std::vector<StageLine> one = LinesOf(testing::MakeGpuRun({}));
  const std::vector<StageLine> two = LinesOf(testing::OnTwoGpus(testing::MakeGpuRun({})));
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    for (const StageId stage : {StageId::kH2d, StageId::kKernel}) {
      const StageLine& line = RowOf(two, stage);
      EXPECT_EQ(line.devices, 2U);
      EXPECT_DOUBLE_EQ(line.wall, 2 * RowOf(one, stage).wall);
      EXPECT_EQ(CellText(line, StageColumn::kShare, language),
                CellText(RowOf(one, stage), StageColumn::kShare, language));
    }
    EXPECT_EQ(TitleOf(RowOf(two, StageId::kStep), 80, language),
              TitleOf(RowOf(one, StageId::kStep), 80, language));
  }
  EXPECT_EQ(TitleOf(RowOf(one, StageId::kH2d), 80, Language::kEnglish), "h2d");
  EXPECT_EQ(TitleOf(RowOf(two, StageId::kH2d), 80, Language::kEnglish), "h2d, 2 GPUs");
  EXPECT_EQ(TitleOf(RowOf(two, StageId::kH2d), 80, Language::kChinese), "拷贝到 GPU，2 个 GPU");
  // A sentence takes the name alone.
  EXPECT_EQ(NameOf(RowOf(two, StageId::kH2d), 80, Language::kEnglish), "h2d");
  EXPECT_EQ(NameOf(RowOf(two, StageId::kH2d), 80, Language::kChinese), "拷贝到 GPU");
  EXPECT_EQ(Filled(Text::kStageCallsAbove, Language::kChinese, "jpeg"), "最慢的调用：jpeg");
  EXPECT_EQ(Filled(Text::kDurations, Language::kChinese, "jpeg"), "单次耗时分布：jpeg");
  for (const StageLine& line : two) {
    if (!line.is_part() || line.id.stage != StageId::kH2d) continue;
    EXPECT_EQ(line.devices, 2U) << line.name;
  }
}

TEST(StageCellsTest, WhatWasNotMeasuredIsADash) {
  StageLine line;
  line.id.stage = StageId::kDecode;
  line.count = 1;
  EXPECT_EQ(CellText(line, StageColumn::kCpu, Language::kEnglish), kDash);
  EXPECT_EQ(CellText(line, StageColumn::kBytes, Language::kEnglish), kDash);
  line.cpu_known = true;
  line.bytes = 2000;
  EXPECT_NE(CellText(line, StageColumn::kCpu, Language::kEnglish), kDash);
  EXPECT_EQ(CellText(line, StageColumn::kBytes, Language::kEnglish),
            analyzer::BytesText(Bytes{2000}.value));
}

TEST(StageCellsTest, ACallIsFoundByItsFileAndItsRank) {
  traces::TraceData data;
  data.processes.resize(1);
  data.processes[0].rank = 3;
  data.threads.resize(1);
  Call call;
  call.file = data.Intern("/data/train/12.jpg");
  call.detail.name = data.Intern("PIL.open");
  call.detail.sample = 7;
  const auto trace = traces::MakeTrace(std::move(data));
  const auto parts = [&](bool ranks) {
    return CallParts(*trace, {}, call, "0 of epoch 1", ranks, Language::kEnglish);
  };
  using Parts = std::vector<std::string>;
  // A narrow row leaves out the last parts, which tell least.
  EXPECT_EQ(parts(true), (Parts{"12.jpg", "sample 7", "batch 0 of epoch 1", "rank 3", "PIL.open"}));
  EXPECT_EQ(parts(false), (Parts{"12.jpg", "sample 7", "batch 0 of epoch 1", "PIL.open"}));
}

TEST(StageCellsTest, OnlyWholePartsAreShown) {
  const std::vector<std::string> parts = {"12.jpg", "sample 7", "batch 0 of a long name", "rank 3"};
  const auto in = [&](std::size_t most) {
    return FittingParts(parts, [most](const std::string& line) { return line.size() <= most; });
  };
  EXPECT_EQ(in(200), "12.jpg  ·  sample 7  ·  batch 0 of a long name  ·  rank 3");
  EXPECT_EQ(in(40), "12.jpg  ·  sample 7 …");
  EXPECT_EQ(in(12), "12.jpg …");
  EXPECT_EQ(in(5), "");
  EXPECT_EQ(FittingParts({}, [](const std::string&) { return true; }), "");
}

// "27.0 ms 00534.jpg" was first in the list: the first sample of a worker, which loads the decoder.
TEST(StageCellsTest, ACallInTheFirstSampleOfAWorkerSaysSo) {
  traces::TraceData data = testing::MakeGpuRun({});
  for (std::vector<traces::Span>& spans : data.spans) {
    bool first = true;
    for (traces::Span& span : spans) {
      if (span.stage != StageId::kDecode) continue;
      if (!first) span.duration.value /= 10;
      first = false;
    }
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const traces::Trace& trace = *document.trace;
  const auto tail_of = [&](std::optional<TimeRange> range) {
    return FindTail({&trace, range}, *document.analysis, {.id = {StageId::kDecode, {}}});
  };
  const Tail tail = tail_of(std::nullopt);
  ASSERT_GT(tail.calls.size(), 3U);
  EXPECT_TRUE(tail.calls[0].first);
  EXPECT_TRUE(tail.calls[1].first) << "of the other worker";
  EXPECT_FALSE(tail.calls[2].first);
  const std::int64_t length = document.timeline->length;
  for (const Call& call : tail_of(TimeRange{length / 2, length}).calls) {
    EXPECT_FALSE(call.first) << "not the first of the run";
  }
  Call call = tail.calls[0];
  const std::int32_t worker =
      trace.processes()[trace.threads()[call.thread.value].process.value].worker_id;
  const std::string number = std::to_string(worker);
  const auto says = [&](Language language, const std::string& words) {
    const auto parts = CallParts(trace, {}, call, "", false, language);
    return std::find(parts.begin(), parts.end(), words) != parts.end();
  };
  EXPECT_TRUE(says(Language::kEnglish, "first sample of worker " + number));
  EXPECT_TRUE(says(Language::kChinese, "工作进程 " + number + " 的首个样本"));
  call.first = false;
  EXPECT_FALSE(says(Language::kEnglish, "first sample of worker " + number));
}

}  // namespace
}  // namespace penstock::gui
