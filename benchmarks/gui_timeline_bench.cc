// SPDX-License-Identifier: Apache-2.0
//
// Cost of the dashboard's timeline: layout of a frame at several zooms, sums of a selection, a
// search, and building the timeline from a trace.
//
// Input: a synthetic PyTorch run with 24 workers. Each batch is a fetch of 64 samples with read,
// decode and augment below each. The training loop waits for each batch, copies it and computes.
// There are CPU, memory and disk counters. Durations vary by up to a factor of three, with gaps.
// --spans=N sets the number of spans (1,000,000; the figures of README.md use 10,000,000).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/gui_timeline_run.h"
#include "gui/model/timeline/density.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline_state.h"

namespace penstock::gui {
namespace {

using traces::StageId;

std::uint64_t g_spans = 1'000'000;

constexpr std::uint32_t kWorkers = 24;

// Adds the training loop, which takes the batches of the workers in turn.
void AddLoop(std::int64_t until, traces::TraceData& data) {
  traces::ProcessInfo process;
  process.pid = 999;
  process.role = wire::kRoleConsumer;
  data.processes.push_back(process);
  traces::ThreadInfo thread;
  thread.process = ProcessId{kWorkers};
  thread.tid = 999;
  data.threads.push_back(thread);
  std::vector<traces::Span> loop;
  std::int64_t at = 1'000'000'000;
  // Each of the 24 workers makes a batch in about 120 ms, so the loop gets one every 5 ms.
  for (std::uint32_t batch = 0; at < until; ++batch) {
    for (const auto& [stage, length] :
         {std::pair(StageId::kWait, 1'500'000), std::pair(StageId::kH2d, 400'000),
          std::pair(StageId::kStep, 2'900'000)}) {
      loop.push_back(
          {.start = TimeNs{at}, .duration = TimeNs{length}, .batch = {batch, 0}, .stage = stage});
      at += length + 5'000;
    }
  }
  data.spans.push_back(std::move(loop));
}

void AddCounters(std::int64_t until, traces::TraceData& data) {
  const StringId cpu = data.Intern("cpu_ns");
  const StringId rss = data.Intern("rss_bytes");
  const StringId disk = data.Intern("disk_read_bytes");
  for (std::int64_t at = 1'000'000'000; at < until; at += 100'000'000) {
    for (std::uint32_t p = 0; p <= kWorkers; ++p) {
      const std::int64_t use = at / 100 * (60 + at / 100'000'000 * (p + 7) % 37);
      data.counters.push_back({TimeNs{at}, cpu, ProcessId{p}, use});
      data.counters.push_back({TimeNs{at}, rss, ProcessId{p}, 300'000'000 + use % 90'000'000});
      data.counters.push_back({TimeNs{at}, disk, ProcessId{p}, use / 20});
    }
  }
}

std::unique_ptr<traces::Trace> MakeRun(std::uint64_t spans) {
  constexpr int kSamples = 64;
  traces::TraceData data;
  const StringId name = data.Intern("PIL.load");
  std::int64_t until = 0;
  for (std::uint32_t w = 0; w < kWorkers; ++w) {
    traces::ProcessInfo process;
    process.pid = 1000 + w;
    process.role = wire::kRoleWorker;
    process.worker_id = static_cast<std::int32_t>(w);
    data.processes.push_back(process);
    traces::ThreadInfo thread;
    thread.process = ProcessId{w};
    thread.tid = 1000 + w;
    data.threads.push_back(thread);
    std::mt19937_64 random(w + 1);
    const auto length = [&](std::int64_t about) {
      return about / 2 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(about));
    };
    std::vector<traces::Span> own;
    own.reserve(spans / kWorkers + 300);
    std::int64_t at = 1'000'000'000 + length(2'000'000);
    for (std::uint32_t batch = w; own.size() < spans / kWorkers; batch += kWorkers) {
      const std::size_t fetch = own.size();
      own.push_back({.start = TimeNs{at}, .batch = {batch, 0}, .stage = StageId::kFetch});
      for (int s = 0; s < kSamples; ++s) {
        const std::size_t sample = own.size();
        own.push_back({.start = TimeNs{at}, .batch = {batch, 0}, .stage = StageId::kSample});
        for (const auto& [stage, about] :
             {std::pair(StageId::kRead, 200'000), std::pair(StageId::kDecode, 900'000),
              std::pair(StageId::kAugment, 600'000)}) {
          const std::int64_t duration = length(about);
          own.push_back({.start = TimeNs{at},
                         .duration = TimeNs{duration},
                         .name = name,
                         .batch = {batch, 0},
                         .stage = stage});
          at += duration + 1'000;
        }
        own[sample].duration = TimeNs{at - own[sample].start.value};
        at += 500;
      }
      own[fetch].duration = TimeNs{at - own[fetch].start.value};
      at += length(3'000'000);
    }
    data.spans.push_back(std::move(own));
    until = std::max(until, at);
  }
  AddLoop(until, data);
  AddCounters(until, data);
  return traces::MakeTrace(std::move(data));
}

}  // namespace

const std::shared_ptr<const traces::Trace>& BenchRun() {
  static const std::shared_ptr<const traces::Trace> run = MakeRun(g_spans);
  return run;
}

const std::shared_ptr<const Timeline>& BenchTimeline() {
  static const auto timeline = std::make_shared<const Timeline>(*BuildTimeline(*BenchRun()));
  return timeline;
}

namespace {

const traces::Trace& Run() {
  return *BenchRun();
}

const Timeline& Built() {
  return *BenchTimeline();
}

// Layout of a frame: all levels of all threads, 1,700 pixels wide, showing 1/zoom of the trace.
void BM_Layout(benchmark::State& state) {
  const Timeline& timeline = Built();
  const std::int64_t length = timeline.length / state.range(0);
  const std::int64_t from = (timeline.length - length) / 2;
  const Window window{from, from + length, 1700, 1};
  std::vector<Box> boxes;
  std::size_t drawn = 0;
  for (auto _ : state) {
    drawn = 0;
    const std::vector<Row> rows = LayOutRows(timeline, {}, TimelineState());
    for (const Row& row : rows) {
      if (row.kind != RowKind::kLevel) continue;
      boxes.clear();
      LayOut(timeline.lanes[row.lane].levels[row.level], timeline.length, window, boxes);
      benchmark::DoNotOptimize(boxes.data());
      drawn += boxes.size();
    }
  }
  if (drawn == 0) state.SkipWithError("nothing was drawn");
  state.counters["boxes"] = static_cast<double>(drawn);
  state.counters["spans"] = static_cast<double>(timeline.spans);
}
BENCHMARK(BM_Layout)->Arg(1)->Arg(4)->Arg(10)->Arg(40)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(
    benchmark::kMillisecond);

void BM_Selection(benchmark::State& state) {
  const Timeline& timeline = Built();
  const TimeRange range{timeline.length / 7, timeline.length / 7 * 5};
  for (auto _ : state) {
    const auto sums = Aggregate(timeline, range);
    if (sums.size() < 5) state.SkipWithError("stages are missing");
    benchmark::DoNotOptimize(sums.data());
  }
}
BENCHMARK(BM_Selection)->Unit(benchmark::kMicrosecond);

void BM_Search(benchmark::State& state) {
  const Timeline& timeline = Built();
  for (auto _ : state) {
    const Search search(timeline, Run(), "pil.load >1.3ms");
    if (search.hits().empty()) state.SkipWithError("nothing was found");
  }
}
BENCHMARK(BM_Search)->Unit(benchmark::kMillisecond);

void BM_Build(benchmark::State& state) {
  for (auto _ : state) {
    const auto timeline = BuildTimeline(Run());
    if (!timeline || timeline->spans != Run().span_count())
      state.SkipWithError("spans are missing");
  }
}
BENCHMARK(BM_Build)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penstock::gui

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr std::string_view kOption = "--spans=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kOption)) {
    penstock::gui::g_spans = std::strtoull(argv[1] + kOption.size(), nullptr, 10);
    --argc;
  }
  if (benchmark::ReportUnrecognizedArguments(argc, argv) || penstock::gui::g_spans < 10'000) {
    std::fputs("usage: gui_timeline_bench [--spans=N] [--benchmark_...]; N from 10000\n", stderr);
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
