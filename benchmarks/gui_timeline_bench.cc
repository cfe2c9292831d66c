// SPDX-License-Identifier: Apache-2.0
//
// What the dashboard's timeline costs: laying out one frame at several zooms, sums of a selection,
// a search, and building it all from a trace.
//
// Input: a made-up PyTorch run, 24 workers, each batch a fetch of 64 samples with read, decode and
// augment below each; lengths are lognormal-like with gaps. --spans=N (1,000,000; the figures of
// README.md are of 10,000,000).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "gui/model/density.h"
#include "gui/model/query.h"
#include "gui/model/timeline_state.h"

namespace penstock::gui {
namespace {

using traces::StageId;

std::uint64_t g_spans = 1'000'000;

std::unique_ptr<traces::Trace> MakeRun(std::uint64_t spans) {
  constexpr std::uint32_t kWorkers = 24;
  constexpr int kSamples = 64;
  traces::TraceData data;
  const StringId name = data.Intern("PIL.load");
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
  }
  return traces::MakeTrace(std::move(data));
}

const traces::Trace& Run() {
  static const std::unique_ptr<traces::Trace> run = MakeRun(g_spans);
  return *run;
}

const Timeline& Built() {
  static const Timeline timeline = *BuildTimeline(Run());
  return timeline;
}

// One frame's own work: all levels of all threads, 1,700 pixels wide, at 1/zoom of the trace.
void BM_Frame(benchmark::State& state) {
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
BENCHMARK(BM_Frame)->Arg(1)->Arg(4)->Arg(10)->Arg(40)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(
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
