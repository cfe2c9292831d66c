// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzer/words/report.h"
#include "gui/model/range_analysis.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Synthetic;

WorkersModel WorkersOf(traces::TraceData data) {
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  return BuildWorkers(*document.trace, *document.analysis, *document.analysis);
}

TEST(WorkersModelTest, TellsTheTimeOfEveryWorkerAndItsStart) {
  Synthetic run;
  run.workers = 3;
  run.worker_start = 5;
  const WorkersModel model = WorkersOf(MakeSynthetic(run));
  ASSERT_EQ(model.workers.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const WorkerLine& line = model.workers[i];
    EXPECT_GT(line.batches, 60U);
    EXPECT_NEAR(line.batch, 0.0075, 1e-4);
    EXPECT_NEAR(line.startup, 0.005 * (line.worker_id + 1), 1e-4);
    EXPECT_LE(line.busy + line.idle, line.life + 1e-9);
  }
}

TEST(WorkersModelTest, AnUnknownNumberOfWorkersIsNotNone) {
  const auto why = [](traces::TraceData data) {
    const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
    return WhyNoWorkers(document.analysis->report.diagnosis.run);
  };
  const Synthetic alone{.workers = 0};
  EXPECT_EQ(why(MakeSynthetic(alone)), Text::kNoWorkersButLoop);
  // A file of PyTorch's profiler has batches, and does not say who made them.
  traces::TraceData foreign = MakeSynthetic(alone);
  for (traces::ProcessInfo& process : foreign.processes) {
    process.facts.erase("loader.0.num_workers");
  }
  EXPECT_EQ(why(foreign), Text::kNeedsRecord);
  foreign.facts["record.mode"] = "collector";
  EXPECT_EQ(why(std::move(foreign)), Text::kWorkersUnreported);
  const Synthetic two{.workers = 2};
  const Document document = testing::DocumentOf(traces::MakeTrace(MakeSynthetic(two)));
  EXPECT_EQ(WhyNoWorkers(document.analysis->report.diagnosis.run), Text::kNoWorkerSeen);
  EXPECT_EQ(why({}), Text::kNoBatches);
}

// The curves beside the notes are those of all loaders.
TEST(WorkersModelTest, ANoteOnMemoryNamesItsLoaderIfThereAreSeveral) {
  const auto note = analyzer::Say<analyzer::words::kMore>(analyzer::Give<"more">(3));
  EXPECT_EQ(MemoryNoteText(note, "", Language::kEnglish), "3 more");
  EXPECT_EQ(MemoryNoteText(note, "train.py:88", Language::kEnglish), "train.py:88: 3 more");
  EXPECT_EQ(MemoryNoteText(note, "train.py:88", Language::kChinese), "train.py:88：另有 3 个");
}

TEST(WorkersModelTest, TheStragglerIsTheOneThatIsSlow) {
  Synthetic run;
  run.workers = 4;
  run.costs = [](int, int index) {
    analyzer::testing::Costs costs;
    if (index % 4 == 2) costs.decode = 14;  // worker 2 needs 17.5 ms for a batch, the others 7.5 ms
    return costs;
  };
  const WorkersModel model = WorkersOf(MakeSynthetic(run));
  ASSERT_EQ(model.workers.size(), 4U);
  const WorkerLine& slow = model.workers[model.straggler];
  EXPECT_EQ(slow.worker_id, 2);
  EXPECT_TRUE(slow.slow);
  EXPECT_NEAR(slow.slowdown, 17.5 / 7.5, 0.05);
  run.costs = analyzer::testing::Always({});
  const WorkersModel even = WorkersOf(MakeSynthetic(run));
  EXPECT_LT(even.slowest, 1.5);
  for (const WorkerLine& line : even.workers) EXPECT_FALSE(line.slow);
}

TEST(WorkersModelTest, ASlowWorkerIsFoundWhereEachEpochHasNewProcesses) {
  Synthetic run;
  run.workers = 4;
  run.epochs = 3;
  run.batches = 16;  // four for each process: too few to compare single processes
  run.costs = [](int, int index) {
    analyzer::testing::Costs costs;
    if (index % 4 == 2) costs.decode = 14;
    return costs;
  };
  const WorkersModel model = WorkersOf(MakeSynthetic(run));
  ASSERT_EQ(model.workers.size(), 12U);
  for (const WorkerLine& line : model.workers) EXPECT_EQ(line.slow, line.worker_id == 2);
  EXPECT_EQ(model.workers[model.straggler].worker_id, 2);
  EXPECT_NEAR(model.workers[model.straggler].slowdown, 17.5 / 7.5, 0.05);
  EXPECT_EQ(model.slowest, model.workers[model.straggler].slowdown);
  // The first epoch ends early, so that only its processes made too few batches to compare.
  run.batches = 64;
  traces::TraceData data = MakeSynthetic(run);
  const auto is_left_out = [](const auto& one) {
    return one.batch.generation == 1 && one.batch.valid() && one.batch.index >= 16;
  };
  for (std::vector<traces::Span>& spans : data.spans) std::erase_if(spans, is_left_out);
  std::erase_if(data.events, is_left_out);
  const WorkersModel uneven = WorkersOf(std::move(data));
  const WorkerLine& straggler = uneven.workers[uneven.straggler];
  EXPECT_EQ(straggler.worker_id, 2);
  EXPECT_EQ(straggler.batches, 16U);
  EXPECT_NEAR(straggler.slowdown, 17.5 / 7.5, 0.05);
}

TEST(WorkersModelTest, WorkersOfOneNumberAreToldApartByTheirEpochs) {
  Synthetic run;
  run.workers = 2;
  for (const WorkerLine& line : WorkersOf(MakeSynthetic(run)).workers) {
    EXPECT_FALSE(line.namesake);
    EXPECT_EQ(NameOfWorker(line, Language::kEnglish), "worker " + std::to_string(line.worker_id));
  }
  run.epochs = 2;  // each starts workers of its own
  std::set<std::string> names;
  const WorkersModel model = WorkersOf(MakeSynthetic(run));
  for (const WorkerLine& line : model.workers) {
    EXPECT_TRUE(line.namesake);
    names.insert(NameOfWorker(line, Language::kEnglish));
  }
  EXPECT_EQ(names.size(), model.workers.size());
  EXPECT_EQ(names.count("worker 1 · epoch 2"), 1U);
  WorkerLine unknown = model.workers.front();
  unknown.epoch = 0;  // it made no batch
  EXPECT_EQ(NameOfWorker(unknown, Language::kEnglish),
            "worker 0, pid " + std::to_string(unknown.pid));
}

// "worker 0 · epoch 2" was "worker 0, pid 203" in a selection within its epoch.
TEST(WorkersModelTest, AWorkerHasOneNameInTheRunAndInItsParts) {
  Synthetic run;
  run.workers = 2;
  run.epochs = 2;
  const Document whole = testing::DocumentOf(traces::MakeTrace(MakeSynthetic(run)));
  const std::int64_t length = whole.timeline->length;
  const Document part = PartOf(whole, TimeRange{length * 3 / 4, length});
  const WorkersModel model = BuildWorkers(*part.trace, *part.analysis, *whole.analysis);
  ASSERT_EQ(model.workers.size(), 2U);
  for (const WorkerLine& line : model.workers) {
    EXPECT_EQ(NameOfWorker(line, Language::kEnglish),
              "worker " + std::to_string(line.worker_id) + " · epoch 2");
  }
}

// 18 curves had six colours, and three of them were in the legend.
TEST(WorkersModelTest, CurvesOfOneLoaderOrOfOneNumberHaveOneColour) {
  MemoryCurve curve;
  curve.worker_id = 1;
  curve.namesake = true;
  curve.epoch = 3;
  EXPECT_EQ(NameOfCurve(curve, Language::kEnglish), "worker 1 · epoch 3");
  EXPECT_EQ(KindOfCurve(curve, Language::kEnglish), "worker 1");
  curve.loader = "train.py:88";
  EXPECT_EQ(NameOfCurve(curve, Language::kEnglish), "worker 1 · epoch 3 · train.py:88");
  EXPECT_EQ(KindOfCurve(curve, Language::kEnglish), "train.py:88");
}

// Two workers that make a batch every 35 ms together, for about `seconds`. The memory of worker 0
// grows by 0.5 MB a second, that of worker 1 by as little as allocators take without a leak.
traces::TraceData GrowingRun(int seconds) {
  Synthetic run;
  run.batches = seconds * 30;
  run.costs = analyzer::testing::Always({.decode = 66});
  traces::TraceData data = MakeSynthetic(run);
  for (int i = 0; i < seconds; ++i) {
    analyzer::testing::AddCounter(data, "uss_bytes", 1, 1010 + 1000.0 * i, 1e8 + 5e5 * i);
    analyzer::testing::AddCounter(data, "uss_bytes", 2, 1010 + 1000.0 * i, 1e8 + 5e4 * i);
  }
  // After a process has ended, its memory is recorded as 0.
  analyzer::testing::AddCounter(data, "uss_bytes", 1, 1010 + 1000.0 * seconds, 0);
  return data;
}

TEST(WorkersModelTest, OnlyMemoryThatCertainlyGrowsHasAGrowth) {
  const WorkersModel model = WorkersOf(GrowingRun(32));
  EXPECT_EQ(model.best(), MemoryKind::kUss);
  ASSERT_EQ(model.workers.size(), 2U);
  EXPECT_TRUE(model.workers[0].growth_known);
  EXPECT_NEAR(model.workers[0].growth, 5e5, 5e3);
  EXPECT_NEAR(model.workers[0].memory, 1.155e8, 1);
  EXPECT_TRUE(model.workers[1].growth_known);
  EXPECT_EQ(model.workers[1].growth, 0);
  EXPECT_EQ(model.Of(MemoryKind::kUss).size(), 2U);
  EXPECT_TRUE(model.Of(MemoryKind::kRss).empty());
}

TEST(WorkersModelTest, AFewSecondsAreTooShortForAGrowth) {
  const WorkersModel brief = WorkersOf(GrowingRun(16));
  EXPECT_FALSE(brief.workers[0].growth_known);
  EXPECT_EQ(brief.workers[0].memory_kind, MemoryKind::kUss);
}

TEST(WorkersModelTest, AFigureThatIsNotKnownSaysWhy) {
  WorkerLine line;
  EXPECT_EQ(MemoryText(line), "–");
  EXPECT_EQ(GrowthText(line, Language::kEnglish), "–");
  line.batches = 7;
  EXPECT_EQ(AgainstText(line, Language::kEnglish), "< 8 batches");
  line.batches = 8;
  EXPECT_EQ(AgainstText(line, Language::kEnglish), "–");  // there is no other worker
  line.memory = 400e6;
  EXPECT_EQ(MemoryText(line), "400 MB USS");
  EXPECT_EQ(GrowthText(line, Language::kEnglish), "–");
  line.growth_short = true;
  EXPECT_EQ(GrowthText(line, Language::kEnglish), "too short");
  line.memory_kind = MemoryKind::kRss;
  EXPECT_EQ(MemoryText(line), "400 MB RSS");
}

TEST(WorkersModelTest, WorkersWithFewBatchesAreSaidToBeLeftOut) {
  Synthetic run;
  run.workers = 4;
  EXPECT_EQ(StandsOutText(WorkersOf(MakeSynthetic(run)), Language::kEnglish)
                .find("No worker stands out: the slowest takes"),
            0U);
  WorkersModel model = WorkersOf(MakeSynthetic(run));
  model.some_few = true;
  EXPECT_EQ(StandsOutText(model, Language::kEnglish)
                .find("No worker stands out: of those with 8 batches or more, the slowest takes"),
            0U);
}

TEST(WorkersModelTest, WhatIsSharedAndCopiedIsACurve) {
  Synthetic run;
  run.batches = 800;
  traces::TraceData data = MakeSynthetic(run);
  const auto counter = [&](const char* name, double at, std::int64_t value) {
    traces::CounterSample sample;
    sample.at = analyzer::testing::Ms(1010 + at);
    sample.name = data.Intern(name);
    sample.process = ProcessId{1};
    sample.value = value;
    data.counters.push_back(sample);
  };
  for (int i = 0; i < 20; ++i) {
    counter("private_dirty_bytes", 100.0 * i, 40'000'000 + 10'000'000 * i);
    counter("anonymous_bytes", 100.0 * i, 900'000'000);
    counter("uss_bytes", 100.0 * i, 40'000'000 + 10'000'000 * i);
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const WorkersModel model = BuildWorkers(*document.trace, *document.analysis, *document.analysis);
  ASSERT_EQ(model.Of(MemoryKind::kOfParent).size(), 1U);
  const Curve& shared = model.Of(MemoryKind::kOfParent)[0].curve;
  EXPECT_NEAR(shared.value.front(), 860e6, 1);
  EXPECT_NEAR(shared.value.back(), 670e6, 1);
  EXPECT_EQ(model.best(), MemoryKind::kUss);
}

// Curves began at 3.1 s without a word.
TEST(WorkersModelTest, MemoryThatIsReadSeldomSaysSo) {
  const auto said = [](double every, const char* counter, MemoryKind kind) {
    traces::TraceData data = MakeSynthetic(Synthetic{.batches = 2000});
    for (int i = 0; i < 4; ++i) {
      analyzer::testing::AddCounter(data, counter, 1, 3000 + every * i, 1e8);
    }
    return ReadingsText(WorkersOf(std::move(data)), kind, Language::kEnglish);
  };
  EXPECT_EQ(said(2000, "uss_bytes", MemoryKind::kUss).find("Read about every 2.00 s, from "), 0U);
  EXPECT_EQ(said(100, "uss_bytes", MemoryKind::kUss), "");
  EXPECT_EQ(said(2000, "rss_bytes", MemoryKind::kRss), "");
}

TEST(WorkersModelTest, OnlyARecordingThatWasCutHasSamplesAfterTheLastSpan) {
  traces::TraceData data = MakeSynthetic(Synthetic{});
  const auto spans = traces::MakeTrace(data);
  for (int i = 0; i < 5; ++i) {
    traces::CounterSample sample;
    sample.at = spans->end() + analyzer::testing::Ms(100.0 * (i - 3));
    sample.name = data.Intern("uss_bytes");
    sample.process = ProcessId{1};
    sample.value = 100'000'000;
    data.counters.push_back(sample);
  }
  const double length = Seconds(spans->end() - spans->begin());
  EXPECT_NEAR(WorkersOf(data).last_sample(MemoryKind::kUss), length, 1e-6);
  data.losses.truncated = true;
  const WorkersModel model = WorkersOf(std::move(data));
  EXPECT_NEAR(model.last_sample(MemoryKind::kUss), length + 0.1, 1e-6);
  EXPECT_EQ(model.last_sample(MemoryKind::kRss), 0);
}

// The sentence said 120 MB, after the end of the run, where table and curve ended at 118 MB.
TEST(WorkersModelTest, TheSentenceOnMemoryEndsWhereTheTableEnds) {
  const Document document = testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({})));
  const analyzer::Diagnosis& diagnosis = document.analysis->report.diagnosis;
  const WorkersModel model = BuildWorkers(*document.trace, *document.analysis, *document.analysis);
  ASSERT_LT(diagnosis.run.duration(), 2);  // the counters go on until then
  ASSERT_EQ(diagnosis.loader->memory.workers.size(), model.workers.size());
  for (const analyzer::WorkerMemory& said : diagnosis.loader->memory.workers) {
    for (const WorkerLine& line : model.workers) {
      if (line.process != said.process.value) continue;
      EXPECT_EQ(line.memory, said.private_bytes);
    }
  }
}

TEST(WorkersModelTest, TheCurvesOfTheShownLoaderComeFirst) {
  traces::TraceData data = TraceOfAll(analyzer::testing::OneIsSlow());  // rank 2
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < 4; ++i) {
      analyzer::testing::AddCounter(data, "uss_bytes", rank, 1e6 + 100.0 * i, 1e8);
    }
  }
  const WorkersModel model = WorkersOf(std::move(data));
  const std::vector<MemoryCurve>& curves = model.Of(MemoryKind::kUss);
  ASSERT_EQ(curves.size(), 4U);
  EXPECT_EQ(curves[0].process, 2U);
  EXPECT_EQ(curves[1].process, 0U);
  // The training processes of all ranks were white.
  const auto trainers = std::count_if(curves.begin(), curves.end(),
                                      [](const MemoryCurve& curve) { return curve.trainer; });
  EXPECT_EQ(trainers, 1);
  EXPECT_TRUE(curves[0].trainer);
  EXPECT_EQ(NameOfCurve(curves[0], Language::kEnglish), "rank 2 training process");
}

// A legend named five colours, of which the plot showed the last.
// The timeline's sum of all processes counts the program that starts the ranks too.
TEST(WorkersModelTest, AProgramThatStartsTheRunHasACurveIfItUsesNotableMemory) {
  traces::TraceData data = MakeSynthetic(Synthetic{});
  const auto add = [&](const char* name, double bytes) {
    const auto process = static_cast<std::uint32_t>(data.processes.size());
    data.processes.emplace_back().comm = name;
    for (int i = 0; i < 20; ++i) {
      analyzer::testing::AddCounter(data, "rss_bytes", process, 1010 + 10.0 * i, bytes);
    }
  };
  for (int i = 0; i < 20; ++i) {
    analyzer::testing::AddCounter(data, "rss_bytes", 1, 1010 + 10.0 * i, 300e6);
  }
  add("torchrun", 240e6);
  add("bash", 4e6);
  const WorkersModel model = WorkersOf(std::move(data));
  const auto& curves = model.Of(MemoryKind::kRss);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(NameOfCurve(curves[0], Language::kEnglish), "worker 0");
  EXPECT_EQ(NameOfCurve(curves[1], Language::kEnglish), "torchrun");
}

TEST(WorkersModelTest, CurvesThatCoincideAreSaidToDoSo) {
  const auto memory_of = [](double second) {
    traces::TraceData data = MakeSynthetic(Synthetic{});
    for (int i = 0; i < 4; ++i) {
      analyzer::testing::AddCounter(data, "rss_bytes", 1, 1010 + 100.0 * i, 400e6);
      analyzer::testing::AddCounter(data, "rss_bytes", 2, 1010 + 100.0 * i, second);
    }
    return WorkersOf(std::move(data));
  };
  EXPECT_NEAR(memory_of(401e6).alike(MemoryKind::kRss), 400.5e6, 1);
  EXPECT_EQ(memory_of(420e6).alike(MemoryKind::kRss), 0);
  EXPECT_EQ(memory_of(400e6).alike(MemoryKind::kUss), 0);
}

// Three epochs with two new workers each, whose memory is 400 MB and `times` as much.
WorkersModel CurvesOfEpochs(double times) {
  Synthetic run;
  run.workers = 2;
  run.epochs = 3;
  traces::TraceData data = MakeSynthetic(run);
  for (std::uint32_t process = 1; process <= 6; ++process) {
    for (int i = 0; i < 4; ++i) {
      const double at = 1010 + 700.0 * ((process - 1) / 2) + 100.0 * i;
      analyzer::testing::AddCounter(data, "rss_bytes", process, at,
                                    process % 2 == 1 ? 400e6 : times * 400e6);
    }
  }
  return WorkersOf(std::move(data));
}

// Six curves that coincide were drawn in one epoch alone; the other epochs were blank.
TEST(WorkersModelTest, CurvesThatCoincideHaveOneColourAndOneEntryInTheLegend) {
  const WorkersModel model = CurvesOfEpochs(1);
  const auto styles = StylesOf(model, MemoryKind::kRss, std::nullopt, Language::kEnglish);
  ASSERT_EQ(styles.size(), 6U);
  EXPECT_EQ(styles.front().legend, "6 processes, each about 400 MB");
  for (std::size_t i = 1; i < styles.size(); ++i) {
    EXPECT_EQ(styles[i].colour, styles[0].colour);
    EXPECT_EQ(styles[i].legend, "");
  }
}

// The legend named the grey curve of epoch 1 for the chosen worker of epoch 2.
TEST(WorkersModelTest, TheLegendNamesTheChosenCurveAlone) {
  const WorkersModel model = CurvesOfEpochs(1.2);
  const auto free = StylesOf(model, MemoryKind::kRss, std::nullopt, Language::kEnglish);
  ASSERT_EQ(free.size(), 6U);
  EXPECT_EQ(free[0].legend, "worker 0");
  EXPECT_EQ(free[1].legend, "worker 1");
  EXPECT_NE(free[0].colour, free[1].colour);
  EXPECT_EQ(free[2].legend, "");
  const auto styles = StylesOf(model, MemoryKind::kRss, 3, Language::kEnglish);
  for (std::size_t i = 0; i < styles.size(); ++i) {
    const bool chosen = model.Of(MemoryKind::kRss)[i].process == 3;
    EXPECT_EQ(styles[i].dim, !chosen);
    EXPECT_EQ(styles[i].legend, chosen ? "worker 0 · epoch 2" : "");
  }
}

TEST(WorkersModelTest, ItsRanksAreThoseOfTheReport) {
  analyzer::testing::Ranked run;
  run.ranks = 3;
  const WorkersModel model = WorkersOf(TraceOfAll(run));
  ASSERT_EQ(model.ranks.lines.size(), 3U);
  EXPECT_EQ(model.ranks.lines[2].rank, 2);
  EXPECT_TRUE(WorkersOf(MakeSynthetic(Synthetic{})).ranks.lines.empty());
}

// 17 % of each worker's life were "other", most of it the delays of experiments.
TEST(WorkersModelTest, OtherTimeOfARunWithExperimentsNamesTheirDelays) {
  analyzer::RunModel run;
  EXPECT_EQ(LifeRestName(run), Text::kLifeRest);
  run.loaders.resize(1);
  EXPECT_EQ(LifeRestName(run), Text::kLifeRest);
  run.loaders.front().probes.resize(1);
  EXPECT_EQ(LifeRestName(run), Text::kLifeRestProbed);
}

TEST(WorkersModelTest, ARunWithoutWorkersHasNoLines) {
  Synthetic run;
  run.workers = 0;
  const WorkersModel model = WorkersOf(MakeSynthetic(run));
  EXPECT_TRUE(model.workers.empty());
  EXPECT_TRUE(WorkersOf({}).workers.empty());
}

}  // namespace
}  // namespace penstock::gui
