// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/html_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "analyzer/model/named_ranges.h"
#include "analyzer/report/limits.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/gpu.h"
#include "analyzer/words/needs.h"
#include "analyzer/words/page_plots.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

constexpr std::size_t kMostSpans = 1500;  // in a row; 16 such rows make a page of some 2 MB
constexpr std::size_t kMostRowsOfPage = 16;

bool ShownOfWorkers(StageId stage) {
  return OfWorkers(stage) || stage == StageId::kIdle;
}

// Batches in order of delivery, from the middle of the longest steady window, or of the whole run
// if nothing is steady.
std::vector<const Batch*> Excerpt(const LoaderRun& run, const SteadyState& steady) {
  const auto longest = std::max_element(
      steady.windows.begin(), steady.windows.end(),
      [](const auto& a, const auto& b) { return a.second - a.first < b.second - b.first; });
  const auto [from, to] =
      longest != steady.windows.end() ? *longest : std::pair(steady.from, steady.to);
  const bool steady_part = from != kNever && to > from;  // else the whole run
  std::vector<const Batch*> batches;
  for (const Batch& batch : run.batches) {
    if (!batch.was_delivered()) continue;
    if (!steady_part || (batch.delivered >= from && batch.delivered <= to)) {
      batches.push_back(&batch);
    }
  }
  std::stable_sort(batches.begin(), batches.end(),
                   [](const Batch* a, const Batch* b) { return a->delivered < b->delivered; });
  const auto workers = static_cast<std::size_t>(std::max(1, run.config.num_workers));
  const std::size_t wanted = std::clamp<std::size_t>(2 * workers, 6, 24);
  if (batches.size() <= wanted) return batches;
  const auto first = static_cast<std::ptrdiff_t>((batches.size() - wanted) / 2);
  return {batches.begin() + first, batches.begin() + first + static_cast<std::ptrdiff_t>(wanted)};
}

// `in_loop`: the thread waits for batches or makes whole batches. Without workers the training loop
// does so.
Statement LabelOf(const traces::Trace& trace, ThreadId id, const LoaderRun& run, bool in_loop) {
  const traces::ThreadInfo& thread = trace.threads()[id.value];
  const traces::ProcessInfo& process = trace.processes()[thread.process.value];
  if (process.role == wire::kRoleWorker) {
    return Say<words::kRowOfWorker>(Give<"worker">(process.worker_id));
  }
  const bool no_workers = run.config.workers_known && run.config.num_workers == 0;
  if (no_workers && in_loop) return Say<words::kRowOfLoading>();
  if (thread.name.empty()) return Say<words::kRowOfThread>(Give<"thread">(thread.tid));
  return Say<words::kRowOfName>(Give<"name">(thread.name));
}

// The part of the trace that the timeline shows. Units: nanoseconds.
struct Excerpted {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t begin = 0;  // of the trace

  // A moment, moved into the excerpt, in seconds since the trace began.
  [[nodiscard]] double Seconds(std::int64_t at) const {
    return static_cast<double>(std::clamp(at, from, to) - begin) * 1e-9;
  }
};

// The spans of a thread, and what they tell about the thread.
struct ThreadRow {
  TimelineRow row;
  bool works = false;    // makes data, so it gets a row; a thread that only sends gets none
  bool in_loop = false;  // as for LabelOf()
  bool thinned = false;
};

ThreadRow SpansOfThread(const traces::Trace& trace, ThreadId id, const Excerpted& excerpted,
                        NamedRanges& ranges) {
  ThreadRow found;
  const auto add = [&](const traces::Span& span) {
    if (span.start.value >= excerpted.to || span.end().value <= excerpted.from) return;
    const StageId stage = ranges.StageOf(span);
    found.in_loop = found.in_loop || stage == StageId::kWait || stage == StageId::kFetch;
    if (!ShownOfWorkers(stage)) return;
    const bool named = stage != span.stage;  // a library's range names the stage
    found.works = found.works || stage == StageId::kFetch || stage == StageId::kSample ||
                  stage == StageId::kIdle || named;
    if (found.row.spans.size() >= kMostSpans) {
      found.thinned = true;
      return;
    }
    found.row.spans.push_back({excerpted.Seconds(span.start.value),
                               excerpted.Seconds(span.end().value), stage, span.batch.index});
  };
  trace.ForEachBlock(id, [&](std::span<const traces::Span> spans) {
    for (const traces::Span& span : spans) add(span);
  });
  return found;
}

TimelineExcerpt BuildTimeline(const traces::Trace& trace, const Diagnosis& diagnosis) {
  TimelineExcerpt excerpt;
  if (!diagnosis.loader) {
    excerpt.missing = Say<words::kNoLoaderSeen>();
    return excerpt;
  }
  const LoaderRun& run = diagnosis.run.loader();
  const std::vector<const Batch*> batches = Excerpt(run, diagnosis.loader->steady);
  if (batches.empty()) {
    excerpt.missing = Say<words::kNoBatchHanded>();
    return excerpt;
  }
  const std::int64_t from = batches.front()->wait_start;
  std::int64_t to = batches.back()->delivered;
  if (batches.back()->step_end != kNever) to = std::max(to, batches.back()->step_end);
  if (to <= from) {
    excerpt.missing = Say<words::kNoTimeOfExcerpt>();
    return excerpt;
  }
  const Excerpted excerpted{from, to, trace.begin().value};
  const auto seconds = [&](std::int64_t at) { return excerpted.Seconds(at); };
  excerpt.from = seconds(from);
  excerpt.to = seconds(to);
  excerpt.batches = batches.size();
  NamedRanges ranges(trace);
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const traces::ThreadInfo& thread = trace.threads()[i];
    if (thread.spans == 0 || thread.first.value > to || thread.last.value < from) continue;
    if (!diagnosis.run.IsOurs(thread.process)) continue;  // another rank's, or another loader's
    ThreadRow found = SpansOfThread(trace, ThreadId{i}, excerpted, ranges);
    excerpt.thinned = excerpt.thinned || found.thinned;
    if (!found.works) continue;
    if (excerpt.rows.size() == kMostRowsOfPage) {
      ++excerpt.left_out;
      continue;
    }
    found.row.label = LabelOf(trace, ThreadId{i}, run, found.in_loop);
    excerpt.rows.push_back(std::move(found.row));
  }
  std::stable_sort(excerpt.rows.begin(), excerpt.rows.end(),
                   [](const TimelineRow& a, const TimelineRow& b) {
                     const std::string one = English(a.label);
                     const std::string other = English(b.label);
                     return std::pair(one.size(), one) < std::pair(other.size(), other);
                   });
  TimelineRow loop;
  loop.label = Say<words::kRowOfLoop>();
  for (const Batch* batch : batches) {
    loop.spans.push_back(
        {seconds(batch->wait_start), seconds(batch->delivered), StageId::kWait, batch->key.index});
    if (batch->step_end == kNever) continue;
    loop.spans.push_back(
        {seconds(batch->delivered), seconds(batch->step_end), StageId::kStep, batch->key.index});
  }
  excerpt.rows.push_back(std::move(loop));
  return excerpt;
}

WorkerCurve BuildWorkers(const Diagnosis& diagnosis) {
  WorkerCurve curve;
  curve.missing = NotEnough(diagnosis);
  if (!curve.missing.empty()) return curve;
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const LoaderConfig& config = diagnosis.run.loader().config;
  const Suggestion& suggestion = loader.suggestion;
  const int most = std::clamp(static_cast<int>(std::ceil(2 * loader.pipeline.cores)), 4, 16);
  std::set<int> counts = {config.num_workers};
  if (suggestion.changes) counts.insert(suggestion.workers);
  for (int w = config.sample_tasks ? 1 : 0; w <= most; ++w) counts.insert(w);
  GridRequest request;  // no `prefetch`: the recorded depth, or PyTorch's if there are no workers
  request.workers.assign(counts.begin(), counts.end());
  if (suggestion.changes && suggestion.workers > 0) request.prefetch = {suggestion.prefetch};
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  if (!grid) {
    curve.missing = grid.error().why;
    return curve;
  }
  curve.prefetch = grid->configurations.front().prefetch;
  curve.unit = grid->unit;
  curve.notes = grid->notes;
  curve.measured = diagnosis.base_rate();
  bool known = false;
  for (const Configuration& one : grid->configurations) {
    CurvePoint point;
    point.workers = one.workers;
    point.rate = one.predicted.rate;
    point.ram = one.predicted.ram;
    Setting setting;
    setting.workers = one.workers;
    setting.prefetch = one.prefetch;
    const double own = config.sample_tasks ? 0
                                           : AllWorkers(loader.pipeline, setting) *
                                                 WorkerBytes(loader.facts, one.workers);
    point.of_batches = point.ram - std::min(point.ram, static_cast<std::uint64_t>(own));
    point.recorded = one.workers == config.num_workers;
    point.suggested = suggestion.changes && one.workers == suggestion.workers;
    point.fits = one.fits;
    known = known || point.ram > 0;
    curve.points.push_back(point);
  }
  if (!known) {
    curve.memory_missing = Say<words::kNoSizes>();
  }
  return curve;
}

// If no step was recorded, the time between two batches counts as a step, as in the stage table.
DurationSketch DurationsOf(const RunModel& run, StageId stage) {
  DurationSketch durations = run.stages[stage].durations;
  if (stage != StageId::kStep || durations.count() > 0) return durations;
  for (const LoaderRun& loader : run.loaders) {
    for (const Batch& batch : loader.batches) {
      if (batch.step_end != kNever) {
        durations.Add(static_cast<std::int64_t>(batch.step() * 1e9));
      }
    }
  }
  return durations;
}

std::vector<LatencyRow> BuildLatencies(const RunModel& run) {
  constexpr std::array kMain = {StageId::kRead,     StageId::kDecode,  StageId::kAugment,
                                StageId::kTokenize, StageId::kCollate, StageId::kFetch,
                                StageId::kPut,      StageId::kGet,     StageId::kPin,
                                StageId::kWait,     StageId::kH2d,     StageId::kStep};
  constexpr std::size_t kDecades = 14;  // 1 ns to a day
  std::vector<LatencyRow> rows;
  for (const StageId stage : kMain) {
    const DurationSketch durations = DurationsOf(run, stage);
    if (durations.count() == 0) continue;
    LatencyRow row;
    row.stage = stage;
    row.count = durations.count();
    row.p50 = durations.Quantile(0.5);
    row.p99 = durations.Quantile(0.99);
    row.mixed = IsMixed(run.stages[stage]);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kDecades * kBinsPerDecade; ++i) {
      const double edge = std::pow(10.0, static_cast<double>(i + 1) / kBinsPerDecade);
      const bool last = i + 1 == kDecades * kBinsPerDecade;
      const std::uint64_t upto = last ? row.count : durations.CountBelow(edge * 1e-9);
      row.bins.push_back(upto - below);
      below = upto;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Workers may deliver together, one batch each. A bin then holds whole rounds of them, unless that
// left few bins.
std::size_t BatchesPerBin(std::size_t batches, std::size_t most_bins, std::size_t workers) {
  constexpr std::size_t kFewest = 4;  // batches
  constexpr std::size_t kFewestBins = 25;
  const std::size_t least = std::max((batches + most_bins - 1) / most_bins, kFewest);
  const std::size_t rounds = (least + workers - 1) / workers * workers;
  return batches / rounds >= kFewestBins ? rounds : least;
}

QueueDepth BuildQueue(const traces::Trace& trace, const Diagnosis& diagnosis) {
  QueueDepth queue;
  if (!diagnosis.loader) {
    queue.missing = Say<words::kNoLoaderSeen>();
    return queue;
  }
  const LoaderRun& run = diagnosis.run.loader();
  queue.most = run.config.credits();
  if (!run.config.workers_known) {
    queue.missing = Say<words::kQueueUnknown>();
    return queue;
  }
  if (run.config.num_workers == 0) {
    queue.missing = Say<words::kNoQueue>();
    return queue;
  }
  std::vector<std::pair<std::int64_t, int>> changes;
  std::size_t seen = 0;
  std::size_t taken = 0;
  // From when on a worker's records are missing in a file that was cut, some batches are too.
  const auto ends = FirstRecordsEnd(diagnosis.run);
  const std::int64_t last = ends ? trace.begin().value + static_cast<std::int64_t>(ends->at * 1e9)
                                 : std::numeric_limits<std::int64_t>::max();
  for (const Batch& batch : run.batches) {
    if (batch.was_delivered() && batch.delivered > last) continue;
    ++taken;
    if (!batch.was_delivered() || batch.available() == kNever) continue;
    ++seen;
    const std::int64_t ready = std::min(batch.available(), batch.delivered);
    changes.emplace_back(ready, 1);
    changes.emplace_back(batch.delivered, -1);
  }
  if (2 * seen < taken || seen < 2) {
    queue.missing = Say<words::kFinishUnseen>();
    return queue;
  }
  // At equal times, finished batches come before taken ones, so the depth is never negative.
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  const double from = static_cast<double>(changes.front().first);
  const double length = static_cast<double>(changes.back().first) - from;
  if (length <= 0) {
    queue.missing = Say<words::kNoTime>();
    return queue;
  }
  // A few batches are shown in detail. Otherwise a bin holds several batches: a bin of about one
  // batch would show waves that are not in the run, because it holds now one and now two
  // deliveries.
  constexpr std::size_t kMostBins = 400;
  const std::size_t bins =
      4 * seen <= kMostBins
          ? std::max<std::size_t>(4 * seen, 40)
          : seen / BatchesPerBin(seen, kMostBins,
                                 static_cast<std::size_t>(std::max(run.config.num_workers, 1)));
  const double width = length / static_cast<double>(bins);
  queue.width = width * 1e-9;
  std::size_t next = 0;
  int depth = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    double at = from + width * static_cast<double>(b);
    const double end = at + width;
    QueueBin bin;
    bin.at = ((at + end) / 2 - static_cast<double>(trace.begin().value)) * 1e-9;
    bin.low = bin.high = depth;
    double area = 0;
    for (; next < changes.size() && static_cast<double>(changes[next].first) < end; ++next) {
      const double when = static_cast<double>(changes[next].first);
      area += depth * (when - at);
      at = when;
      depth += changes[next].second;
      bin.low = std::min(bin.low, static_cast<double>(depth));
      bin.high = std::max(bin.high, static_cast<double>(depth));
    }
    bin.mean = (area + depth * (end - at)) / width;
    queue.bins.push_back(bin);
  }
  return queue;
}

}  // namespace

ReportPlots BuildPlots(const traces::Trace& trace, const Report& report) {
  ReportPlots plots;
  plots.timeline = BuildTimeline(trace, report.diagnosis);
  plots.workers = BuildWorkers(report.diagnosis);
  plots.latencies = BuildLatencies(report.diagnosis.run);
  plots.queue = BuildQueue(trace, report.diagnosis);
  return plots;
}

}  // namespace penstock::analyzer
