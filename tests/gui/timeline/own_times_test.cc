// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/own_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "analyzer/report/stage_wholes.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/selected_sums.h"
#include "tests/gui/support.h"
#include "tests/paths.h"
#include "traces/names.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using traces::StageId;

struct Indexed {
  std::shared_ptr<const traces::Trace> trace;
  std::shared_ptr<const Timeline> timeline;
  analyzer::RunModel run;
  std::shared_ptr<const OwnTimes> times;
};

Indexed IndexOf(std::shared_ptr<const traces::Trace> trace) {
  Indexed made;
  made.trace = std::move(trace);
  made.timeline = std::make_shared<const Timeline>(*BuildTimeline(*made.trace));
  made.run = analyzer::BuildRunModel(*made.trace);
  made.times = OwnTimes::Build(*made.trace, made.timeline, made.run);
  return made;
}

StageSum Of(const std::vector<StageSum>& sums, StageId stage) {
  const auto found = std::find_if(sums.begin(), sums.end(),
                                  [stage](const StageSum& sum) { return sum.stage == stage; });
  return found == sums.end() ? StageSum{stage, 0, 0} : *found;
}

// Expects from the index the sums that SumsOf() computes from the spans of the interval. Returns
// the number of stages.
std::size_t ExpectSums(const Indexed& made, TimeRange range, const std::string& name) {
  const std::vector<StageSum> found = made.times->Of(range);
  const std::vector<StageSum> wanted = SumsOf(made.trace, range);
  const bool whole = range.from <= 0 && range.to >= made.timeline->length;
  for (std::uint8_t s = 0; s < wire::kStageCount; ++s) {
    const auto stage = static_cast<StageId>(s);
    // A step that is not a recorded span is derived from the deliveries before and after it. A part
    // of a trace may hold only one of these two deliveries.
    if (stage == StageId::kStep && !whole && analyzer::DerivesSteps(made.run)) continue;
    const StageSum a = Of(found, stage);
    const StageSum b = Of(wanted, stage);
    EXPECT_EQ(a.count, b.count) << name << " " << traces::StageName(stage) << " " << range.from
                                << " " << range.to;
    // The timeline keeps CPU times in single precision.
    const double slack = 1e-6 * static_cast<double>(b.time) + 100 * static_cast<double>(b.count);
    EXPECT_NEAR(static_cast<double>(a.time), static_cast<double>(b.time), slack + 2)
        << name << " " << traces::StageName(stage) << " " << range.from << " " << range.to;
  }
  return wanted.size();
}

TEST(OwnTimesTest, AnyWindowHasTheSumsOfASelectionInEveryTraceOfTheTree) {
  const fs::path root = fs::path(paths::kSourceFolder);
  std::size_t traces = 0;
  std::size_t compared = 0;
  std::mt19937 random(5);
  for (const char* folder : {"traces/samples", "tests/validation/measured/traces"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const fs::path& file = entry.path();
      if (file.extension() != ".penstock" && file.extension() != ".recording") continue;
      auto opened = traces::OpenTrace(file);
      if (!opened) continue;
      const Indexed made = IndexOf(std::move(*opened));
      const std::int64_t length = made.timeline->length;
      ++traces;
      compared += ExpectSums(made, {0, length}, file.filename());
      for (int round = 0; round < 3; ++round) {
        const auto from = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
        const std::int64_t most = round == 0 ? length : std::max<std::int64_t>(length / 50, 2);
        const auto lasts = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        const TimeRange range{from, std::min(from + lasts + 1, length)};
        if (!range.empty()) compared += ExpectSums(made, range, file.filename());
      }
    }
  }
  EXPECT_GT(traces, 50U);
  EXPECT_GT(compared, 10 * traces);
}

TEST(OwnTimesTest, SumsOfManyIntervalsAreThoseOfOnePass) {
  // There are thousands of spans on a thread, so that windows begin and end inside sections and
  // between them.
  analyzer::testing::Synthetic run;
  run.batches = 1500;
  run.costs = analyzer::testing::Always({.read = 2, .decode = 9, .augment = 4, .step = 3});
  const Indexed made = IndexOf(analyzer::testing::SyntheticTrace(run));
  ASSERT_GT(made.timeline->lanes[1].spans, 2000U);
  std::mt19937 random(9);
  const auto length = static_cast<std::uint64_t>(made.timeline->length);
  for (int round = 0; round < 30; ++round) {
    const auto a = static_cast<std::int64_t>(random() % length);
    const auto b = static_cast<std::int64_t>(random() % length);
    ExpectSums(made, {std::min(a, b), std::max(a, b) + 1}, "synthetic");
  }
}

// The CPU time of `work` on this thread, in seconds.
template <class Work>
double CpuOf(Work work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double began = now();
  work();
  return now() - began;
}

TEST(OwnTimesTest, AWindowOfAMillionDecodesWithoutSamplesCostsLittle) {
  traces::TraceData data;
  data.processes.push_back({});
  data.threads.push_back({});
  const StringId open = data.Intern("PIL.open");
  const StringId load = data.Intern("PIL.load");
  std::vector<traces::Span> spans(1'000'000);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].start = TimeNs{static_cast<std::int64_t>(1000 * i)};
    spans[i].duration = TimeNs{i % 2 == 0 ? 100 : 900};
    spans[i].stage = StageId::kDecode;
    spans[i].name = i % 2 == 0 ? open : load;
  }
  data.spans.push_back(std::move(spans));
  Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
  const double build =
      CpuOf([&] { made.times = OwnTimes::Build(*made.trace, made.timeline, made.run); });
  for (const std::int64_t from : {1'200'100, 499'998'300, 700'000'050}) {
    const TimeRange range{from, from + 250'000'000};
    EXPECT_LT(20 * CpuOf([&] { (void)made.times->Of(range); }), build) << from;
    ExpectSums(made, range, "decodes");
  }
}

TEST(OwnTimesTest, ImagesThatStayOpenAcrossIntervalsAreCountedOnce) {
  // Images are opened in groups, and decoded later or never, so that most moments lie between the
  // opening of an image and its decode.
  std::mt19937 random(3);
  traces::TraceData data;
  data.processes.push_back({});
  data.threads.push_back({});
  const StringId open = data.Intern("PIL.open");
  const StringId load = data.Intern("PIL.load");
  std::vector<traces::Span> spans(20'000);
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const bool opens = waiting == 0 || (waiting < 5 && random() % 2 == 0);
    waiting += opens ? 1U : ~std::size_t{0};
    spans[i].start = TimeNs{static_cast<std::int64_t>(1000 * i)};
    spans[i].duration = TimeNs{static_cast<std::int64_t>(100 + random() % 800)};
    spans[i].stage = StageId::kDecode;
    spans[i].name = opens ? open : load;
  }
  data.spans.push_back(std::move(spans));
  const Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
  for (int round = 0; round < 20; ++round) {
    const auto from = static_cast<std::int64_t>(random() % 19'000'000);
    ExpectSums(made, {from, from + static_cast<std::int64_t>(random() % 1'000'000) + 1}, "images");
  }
  ExpectSums(made, {0, made.timeline->length}, "images");
}

TEST(OwnTimesTest, RangesInWhichAProcessEndedCountNowhereHoweverDeepTheyAre) {
  traces::TraceData data;
  data.processes.push_back({});
  data.threads.push_back({});
  std::vector<traces::Span> spans(traces::LevelPlacer::kMost + 4);  // more than there are levels
  const auto end = static_cast<std::int64_t>(100 * spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].start = TimeNs{static_cast<std::int64_t>(100 * i)};
    spans[i].duration = TimeNs{end} - spans[i].start;
    spans[i].stage = StageId::kMark;
    spans[i].flags = wire::kFlagUnfinished;
  }
  data.spans.push_back(std::move(spans));
  const Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
  EXPECT_TRUE(made.times->Of({0, made.timeline->length}).empty());
  EXPECT_TRUE(made.times->Of({150, 250}).empty());
}

TEST(OwnTimesTest, AStageOfALaterVersionCountsInNoWindow) {
  traces::TraceData data = analyzer::testing::MakeSynthetic({.batches = 60});
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage == StageId::kAugment) span.stage = static_cast<StageId>(200);
    }
  }
  const Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
  const std::int64_t length = made.timeline->length;
  ExpectSums(made, {0, length}, "later");
  for (std::int64_t part = 0; part < 10; ++part) {
    ExpectSums(made, {part * length / 10, (part + 1) * length / 10 - 7}, "later");
  }
}

TEST(OwnTimesTest, AWindowWithoutTimeHasNoStages) {
  const Indexed made = IndexOf(analyzer::testing::SyntheticTrace({.batches = 20}));
  EXPECT_TRUE(made.times->Of({5, 5}).empty());
}

TEST(OwnTimesTest, AStepThatWasNotMarkedCountsWithItsPart) {
  traces::TraceData data = analyzer::testing::MakeSynthetic(
      {.costs = analyzer::testing::Always({.decode = 1, .step = 20})});
  for (auto& spans : data.spans) {
    std::erase_if(spans, [](const auto& span) { return span.stage == StageId::kStep; });
  }
  const Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
  ASSERT_EQ(made.run.stages[StageId::kStep].count, 0U);
  const auto step = Longest(*made.timeline, StageId::kStep, {0, made.timeline->length});
  ASSERT_TRUE(step.has_value());
  const std::int64_t start = made.timeline->start(*step);
  const std::int64_t length = made.timeline->end(*step) - start;
  const StageSum part =
      Of(made.times->Of({start + length / 4, start + length / 2}), StageId::kStep);
  EXPECT_EQ(part.count, 1U);
  EXPECT_NEAR(static_cast<double>(part.time), static_cast<double>(length) / 4, 1e3);
}

// In each 100 ns the loop waits 20 ns for the first loader and 50 ns for the second. The recorded
// steps of both overlap, and were added up.
TEST(LoopStepsTest, LoadersThatAreUsedTogetherHaveOneStep) {
  analyzer::RunModel run;
  run.loaders.resize(2);
  for (analyzer::LoaderRun& loader : run.loaders) loader.use = analyzer::LoopUse::kInterleaved;
  const auto add = [&run](std::size_t loader, std::int64_t delivered, std::int64_t next_wait) {
    analyzer::Batch batch;
    batch.delivered = delivered;
    batch.next_wait = next_wait;
    batch.step_end = delivered + 80;
    run.loaders[loader].batches.push_back(batch);
  };
  for (const std::int64_t at : {1000, 1100}) {
    add(0, at + 20, at + 30);
    add(1, at + 80, at + 100);
  }
  const std::vector<LoopSteps> loops = LoopSteps::Of(run, 1000);
  ASSERT_EQ(loops.size(), 1U);
  const auto sum = [&loops](TimeRange range) {
    StageSum found;
    loops[0].AddTo(found, range);
    return std::array<std::int64_t, 4>{static_cast<std::int64_t>(found.count), found.time,
                                       static_cast<std::int64_t>(found.cut), found.cut_time};
  };
  EXPECT_EQ(sum({0, 200}), (std::array<std::int64_t, 4>{2, 60, 0, 0}));
  EXPECT_EQ(sum({0, 150}), (std::array<std::int64_t, 4>{2, 40, 1, 10}));
}

TEST(OwnTimesTest, TheMeanIsThatOfSpansThatLieWholeInTheWindow) {
  for (const bool marked : {true, false}) {
    analyzer::testing::Synthetic run;
    run.batches = 60;
    run.costs = analyzer::testing::Always({.decode = 9, .step = 20});
    traces::TraceData data = analyzer::testing::MakeSynthetic(run);
    if (!marked) {
      for (auto& spans : data.spans) {
        std::erase_if(spans, [](const auto& span) { return span.stage == StageId::kStep; });
      }
    }
    const Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
    for (const StageId stage : {StageId::kFetch, StageId::kStep}) {
      const auto span = Longest(*made.timeline, stage, {0, made.timeline->length});
      ASSERT_TRUE(span.has_value());
      const std::int64_t start = made.timeline->start(*span);
      const std::int64_t end = made.timeline->end(*span);
      const StageSum whole = Of(made.times->Of({start, end}), stage);
      ASSERT_TRUE(whole.mean().has_value());
      EXPECT_NEAR(*whole.mean(), static_cast<double>(end - start) * 1e-9, 1e-6);
      const StageSum part = Of(made.times->Of({start + 1000, start + (end - start) / 2}), stage);
      EXPECT_GT(part.count, 0U);
      EXPECT_EQ(part.cut, part.count);
      EXPECT_FALSE(part.mean().has_value());
    }
  }
}

TEST(OwnTimesTest, SamplesAddUpToTheStagesOfTheReport) {
  for (const bool named : {true, false}) {
    analyzer::testing::Synthetic run;
    run.batches = 60;
    run.costs = analyzer::testing::Always({.read = 2, .decode = 9, .augment = 4, .step = 3});
    traces::TraceData data = analyzer::testing::MakeSynthetic(run);
    if (!named) {
      for (auto& spans : data.spans) {
        std::erase_if(spans, [](const auto& span) { return span.stage == StageId::kAugment; });
      }
    }
    const Indexed made = IndexOf(traces::MakeTrace(std::move(data)));
    TimeParts all;
    for (std::uint32_t l = 0; l < made.timeline->lanes.size(); ++l) {
      for (std::uint32_t v = 0; v < made.timeline->lanes[l].levels.size(); ++v) {
        const Level& level = made.timeline->lanes[l].levels[v];
        for (std::uint32_t i = 0; i < level.size(); ++i) {
          if (level.stage(i) != StageId::kSample) continue;
          const auto parts = made.times->PartsOf({l, v, i});
          ASSERT_TRUE(parts.has_value());
          EXPECT_EQ(parts->whole, level.length(i));
          EXPECT_NEAR(static_cast<double>(parts->read + parts->decode + parts->augment()),
                      static_cast<double>(parts->whole), 10);
          all.read += parts->read;
          all.decode += parts->decode;
          all.named += parts->named;
          all.rest += parts->rest;
        }
      }
    }
    EXPECT_EQ(all.read, made.run.stages[StageId::kRead].wall.value);
    EXPECT_EQ(all.decode, made.run.stages[StageId::kDecode].wall.value);
    EXPECT_EQ(all.augment(), made.run.stages[StageId::kAugment].wall.value);
    EXPECT_EQ(all.named > 0, named);
    EXPECT_GT(all.augment(), 0);
  }
}

TEST(OwnTimesTest, AFetchHasThePartsOfItsSamplesAndItsCollating) {
  const Indexed made = IndexOf(analyzer::testing::SyntheticTrace({.batches = 20}));
  const auto fetch = Longest(*made.timeline, StageId::kFetch, {0, made.timeline->length});
  ASSERT_TRUE(fetch.has_value());
  const auto parts = made.times->PartsOf(*fetch);
  ASSERT_TRUE(parts.has_value());
  EXPECT_NEAR(static_cast<double>(parts->decode), 4e6, 1e4);
  EXPECT_NEAR(static_cast<double>(parts->collate), 0.5e6, 1e4);
  const auto wait = Longest(*made.timeline, StageId::kWait, {0, made.timeline->length});
  EXPECT_FALSE(made.times->PartsOf(*wait).has_value());
}

}  // namespace
}  // namespace penstock::gui
