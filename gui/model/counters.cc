// SPDX-License-Identifier: Apache-2.0
#include "gui/model/counters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "analyzer/model/device_records.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/format.h"
#include "gui/model/document.h"
#include "gui/model/panels/ranks.h"

namespace penstock::gui {
namespace {

using analyzer::CounterSeries;

std::int64_t Ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

// The indices of the samples that bound intervals. The last sample often comes a few milliseconds
// after the sample before it. In so short an interval, a counter that the kernel updates a little
// late would look like a peak. Therefore an interval shorter than half the median is joined with
// the next interval; the last interval, if so short, is joined with the interval before it.
std::vector<std::size_t> BoundsOf(const CounterSeries& series) {
  std::vector<double> times;
  for (std::size_t i = 1; i < series.at.size(); ++i) {
    times.push_back(series.at[i] - series.at[i - 1]);
  }
  const double least = analyzer::Median(std::move(times)) / 2;
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < series.at.size(); ++i) {
    const double time = series.at[i] - series.at[bounds.back()];
    const bool last = i + 1 == series.at.size();
    const bool apart = time > 0 && time >= least;
    if (!apart && !last) continue;
    if (!apart && bounds.size() > 1) bounds.pop_back();
    bounds.push_back(i);
  }
  return bounds;
}

// The growth of a counter per second, times `scale`, in each interval between samples. An interval
// that lies mostly before the trace is left out: only its end would be drawn, but most of its time,
// and so of its growth, is earlier.
CounterTrack RateOf(const CounterSeries& series, CounterKind kind, double scale) {
  CounterTrack track{kind, series.process.value, {}, 0};
  const std::vector<std::size_t> bounds = BoundsOf(series);
  for (std::size_t b = 1; b < bounds.size(); ++b) {
    const double time = series.at[bounds[b]] - series.at[bounds[b - 1]];
    if (time <= 0 || series.at[bounds[b - 1]] + series.at[bounds[b]] < 0) continue;
    const double added = series.value[bounds[b]] - series.value[bounds[b - 1]];
    const double rate = std::max(0.0, added) * scale / time;
    track.points.push_back({Ns(series.at[bounds[b - 1]]), rate});
    track.most = std::max(track.most, rate);
  }
  if (!track.points.empty()) track.points.push_back({Ns(series.at.back()), 0});
  return track;
}

// The cores in use, from the CPU time so far.
CounterTrack CpuOf(const CounterSeries& series) {
  return RateOf(series, CounterKind::kCpu, 1e-9);
}

template <CounterKind kKind>
CounterTrack MemoryOf(const CounterSeries& series) {
  CounterTrack track{kKind, series.process.value, {}, 0};
  for (std::size_t i = 0; i < series.at.size(); ++i) {
    track.points.push_back({Ns(series.at[i]), series.value[i]});
    track.most = std::max(track.most, series.value[i]);
  }
  return track;
}

// Times in ns, as [start, end).
using KernelTimes = std::vector<std::pair<std::int64_t, std::int64_t>>;

// When kernels ran, by training process and device, as in the GPU view.
std::map<std::pair<std::uint32_t, std::uint32_t>, KernelTimes> KernelsOf(
    const traces::Trace& trace, const analyzer::RunModel& run) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, KernelTimes> kernels;
  for (std::uint32_t t = 0; t < trace.threads().size(); ++t) {
    const traces::ThreadInfo& info = trace.threads()[t];
    const std::pair key{run.ConsumerOf(info.process).value, analyzer::DeviceOf(info).value_or(0)};
    trace.ForEachBlock(ThreadId{t}, [&](std::span<const traces::Span> spans) {
      for (const traces::Span& span : spans) {
        if (span.stage != traces::StageId::kKernel) continue;
        const std::int64_t start = span.start.value - trace.begin().value;
        kernels[key].emplace_back(start, start + std::max<std::int64_t>(span.duration.value, 0));
      }
    });
  }
  return kernels;
}

// Adds the time in which one of `kernels` runs to the bins of `width`. Kernels on several streams
// are united, not added.
void AddBusy(KernelTimes& kernels, std::int64_t length, std::int64_t width,
             std::vector<std::int64_t>& busy) {
  std::sort(kernels.begin(), kernels.end());
  std::int64_t until = 0;
  for (const auto& [start, end] : kernels) {
    const std::int64_t last = std::min(end, length);
    for (std::int64_t at = std::max(start, until); at < last;) {
      const std::int64_t part = std::min((at / width + 1) * width, last);
      busy[static_cast<std::size_t>(at / width)] += part - at;
      at = part;
    }
    until = std::max(until, last);
  }
}

// The share of each bin in which a kernel runs, as the mean over the devices.
std::optional<CounterTrack> GpuOf(const traces::Trace& trace, const Analysis& analysis) {
  constexpr std::int64_t kBins = 2'000;
  constexpr std::int64_t kShortest =
      1'000'000;  // ns; a shorter bin holds too few kernels to show a load
  const analyzer::RunModel& run = analysis.report.diagnosis.run;
  if (run.stages[traces::StageId::kKernel].count == 0) return {};
  auto kernels = KernelsOf(trace, run);
  if (kernels.empty()) return {};
  const std::int64_t length = std::max<std::int64_t>(trace.end().value - trace.begin().value, 1);
  const std::int64_t width = std::max(length / kBins + 1, std::min(kShortest, length));
  std::vector<std::int64_t> busy(static_cast<std::size_t>((length + width - 1) / width), 0);
  for (auto& [device, times] : kernels) AddBusy(times, length, width, busy);
  const auto devices = static_cast<double>(kernels.size());
  CounterTrack track{CounterKind::kGpuBusy, CounterTrack::kAll, {}, 1, true};
  for (std::size_t b = 0; b < busy.size(); ++b) {
    const std::int64_t at = static_cast<std::int64_t>(b) * width;
    const double whole = static_cast<double>(std::min(width, length - at)) * devices;
    track.points.push_back({at, static_cast<double>(busy[b]) / whole});
  }
  track.points.push_back({length, 0});
  return track;
}

// Adds step functions. A track that ends before the others belongs to a process that ended. Its
// last value counts for one more interval, which is as long as the one between its last two points.
// After that it counts as 0. Requires: two points or more in each track.
CounterTrack SumOf(CounterKind kind, std::span<const CounterTrack> tracks) {
  CounterTrack sum{kind, CounterTrack::kAll, {}, 0};
  std::map<std::int64_t, double> changes;
  std::int64_t end = 0;
  for (const CounterTrack& track : tracks) end = std::max(end, track.points.back().at);
  for (const CounterTrack& track : tracks) {
    double last = 0;
    for (const CounterPoint& point : track.points) {
      changes[point.at] += point.value - last;
      last = point.value;
    }
    const std::int64_t final = track.points.back().at;
    const std::int64_t gone = 2 * final - track.points[track.points.size() - 2].at;
    if (gone < end) changes[gone] -= last;
  }
  double value = 0;
  for (const auto& [at, change] : changes) {
    value += change;
    sum.points.push_back({at, std::max(value, 0.0)});
    sum.most = std::max(sum.most, value);
  }
  return sum;
}

// The bytes that each process read from storage. A worker is recorded from its start, so its
// counter begins there at zero. Of another process, and in what a flight recorder kept, the growth
// before the first sample is older than the recording.
std::vector<CounterTrack> DiskTracks(const traces::Trace& trace, const Analysis& analysis) {
  std::map<std::uint32_t, std::int64_t> started;  // by worker
  const bool partly = trace.facts().contains("record.keep_ns");
  for (const traces::ThreadInfo& thread : trace.threads()) {
    const std::uint32_t process = thread.process.value;
    if (process >= trace.processes().size()) continue;
    // A thread without spans and events has no time.
    if (partly || thread.first.value < trace.begin().value) continue;
    if (trace.processes()[process].role != wire::kRoleWorker) continue;
    const auto [known, fresh] = started.try_emplace(process, thread.first.value);
    if (!fresh) known->second = std::min(known->second, thread.first.value);
  }
  std::vector<CounterTrack> tracks;
  for (const CounterSeries& series : analysis.report.diagnosis.run.counters) {
    if (series.name != "disk_read_bytes" || series.at.empty()) continue;
    CounterSeries whole = series;
    const auto start = started.find(series.process.value);
    const double at = start == started.end()
                          ? series.at.front()
                          : static_cast<double>(start->second - trace.begin().value) * 1e-9;
    if (at < series.at.front()) {
      whole.at.insert(whole.at.begin(), at);
      whole.value.insert(whole.value.begin(), 0);
    }
    CounterTrack track = RateOf(whole, CounterKind::kDisk, 1);
    if (track.points.size() >= 2) tracks.push_back(std::move(track));
  }
  return tracks;
}

std::vector<CounterTrack> TracksOf(const Analysis& analysis, std::string_view name,
                                   CounterTrack (*make)(const CounterSeries&)) {
  std::vector<CounterTrack> tracks;
  for (const CounterSeries& series : analysis.report.diagnosis.run.counters) {
    if (series.name != name || series.at.size() < 2) continue;
    CounterTrack track = make(series);
    if (track.points.size() >= 2) tracks.push_back(std::move(track));
  }
  return tracks;
}

// The cores of a process's host, or of all hosts for the whole run; infinite: not known.
double CoresOf(const analyzer::RankLayout& ranks, std::uint32_t process) {
  double cores = 0;
  for (std::size_t i = 0; i < ranks.hosts.size(); ++i) {
    const bool ours = process == CounterTrack::kAll ||
                      (process < ranks.host_of.size() ? ranks.host_of[process] : 0) == i;
    if (ours) cores += ranks.hosts[i].machine.cores;
  }
  return cores > 0 ? cores : std::numeric_limits<double>::infinity();
}

// Limits the cores in use to the cores of the host. CPU time divided by elapsed time may be more,
// since the Linux kernel counts CPU time and the recorder reads the clock at different moments.
void LimitToCores(const analyzer::RankLayout& ranks, std::vector<CounterTrack>& all) {
  for (CounterTrack& track : all) {
    if (track.kind != CounterKind::kCpu) continue;
    const double cores = CoresOf(ranks, track.process);
    for (CounterPoint& point : track.points) point.value = std::min(point.value, cores);
    track.most = std::min(track.most, cores);
  }
}

// The time from the first point of any track to the last, in ns.
std::int64_t SpanOf(std::span<const CounterTrack> tracks) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const CounterTrack& track : tracks) {
    first = std::min(first, track.points.front().at);
    last = std::max(last, track.points.back().at);
  }
  return std::max<std::int64_t>(last - first, 0);
}

}  // namespace

std::vector<CounterTrack> BuildCounters(const traces::Trace& trace, const Analysis& analysis) {
  std::vector<CounterTrack> all;
  const auto add = [&](CounterKind kind, std::vector<CounterTrack> tracks) {
    if (tracks.empty()) return;
    all.push_back(SumOf(kind, tracks));
    for (CounterTrack& track : tracks) all.push_back(std::move(track));
  };
  const analyzer::QueueDepth& queue = analysis.plots.queue;
  if (queue.missing.empty() && !queue.bins.empty()) {
    CounterTrack ready{CounterKind::kReadyBatches, CounterTrack::kAll, {}, 0};
    for (const analyzer::QueueBin& bin : queue.bins) {
      ready.points.push_back({Ns(bin.at - queue.width / 2), bin.mean});
    }
    ready.points.push_back({Ns(queue.bins.back().at + queue.width / 2), 0});
    ready.most = std::max(1, queue.most);
    ready.limit = true;
    all.push_back(std::move(ready));
  }
  if (auto gpu = GpuOf(trace, analysis)) all.push_back(std::move(*gpu));
  add(CounterKind::kCpu, TracksOf(analysis, "cpu_ns", CpuOf));
  LimitToCores(analysis.report.diagnosis.run.ranks, all);
  const std::vector<CounterTrack> disk = DiskTracks(trace, analysis);
  if (!disk.empty()) all.push_back(SumOf(CounterKind::kDisk, disk));
  // PSS is sampled seldom. It is used only if it covers nearly the whole run. Otherwise the track
  // would begin in the middle of the run, and would change from RSS to PSS while the dashboard
  // follows a run that is still being recorded.
  constexpr double kCovers = 0.9;
  std::vector<CounterTrack> shares =
      TracksOf(analysis, "pss_bytes", MemoryOf<CounterKind::kMemory>);
  std::vector<CounterTrack> mapped =
      TracksOf(analysis, "rss_bytes", MemoryOf<CounterKind::kMapped>);
  const bool covers =
      static_cast<double>(SpanOf(shares)) >= kCovers * static_cast<double>(SpanOf(mapped));
  if (!shares.empty() && covers) {
    add(CounterKind::kMemory, std::move(shares));
  } else {
    add(CounterKind::kMapped, std::move(mapped));
  }
  const std::int64_t length = trace.end().value - trace.begin().value;
  for (CounterTrack& track : all) {
    for (CounterPoint& point : track.points) {
      point.at = std::clamp<std::int64_t>(point.at, 0, std::max<std::int64_t>(length, 0));
    }
  }
  return all;
}

double ValueAt(const CounterTrack& track, std::int64_t at) {
  const auto it = std::partition_point(track.points.begin(), track.points.end(),
                                       [at](const CounterPoint& point) { return point.at <= at; });
  return it == track.points.begin() ? 0 : (it - 1)->value;
}

std::vector<CounterPoint> Thinned(const CounterTrack& track, std::size_t columns) {
  const std::vector<CounterPoint>& all = track.points;
  if (all.size() <= 2 * columns + 2 || columns == 0) return all;
  const auto begin = static_cast<double>(all.front().at);
  const double width =
      std::max((static_cast<double>(all.back().at) - begin) / static_cast<double>(columns), 1e-9);
  const auto column = [&](std::size_t i) {
    return static_cast<std::size_t>((static_cast<double>(all[i].at) - begin) / width);
  };
  std::vector<CounterPoint> kept{all.front()};
  for (std::size_t i = 1; i + 1 < all.size();) {
    std::size_t low = i;
    std::size_t high = i;
    const std::size_t here = column(i);
    for (; i + 1 < all.size() && column(i) == here; ++i) {
      if (all[i].value < all[low].value) low = i;
      if (all[i].value > all[high].value) high = i;
    }
    kept.push_back(all[std::min(low, high)]);
    if (low != high) kept.push_back(all[std::max(low, high)]);
  }
  kept.push_back(all.back());
  return kept;
}

std::vector<float> Resample(const CounterTrack& track, std::int64_t from, std::int64_t to,
                            std::size_t columns) {
  std::vector<float> values(columns, -1.0F);
  if (to <= from || columns == 0 || track.points.empty()) return values;
  const double width = static_cast<double>(to - from) / static_cast<double>(columns);
  auto point = std::partition_point(track.points.begin(), track.points.end(),
                                    [from](const CounterPoint& p) { return p.at <= from; });
  bool known = point != track.points.begin();
  double value = known ? (point - 1)->value : 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const double end = static_cast<double>(from) + width * static_cast<double>(c + 1);
    for (; point != track.points.end() && static_cast<double>(point->at) <= end - width; ++point) {
      value = point->value;
      known = true;
    }
    double most = known ? value : -1;
    for (; point != track.points.end() && static_cast<double>(point->at) < end; ++point) {
      value = point->value;
      known = true;
      most = std::max(most, value);
    }
    // A counter has no value after its last point.
    const bool over =
        point == track.points.end() && static_cast<double>(track.points.back().at) < end - width;
    values[c] = over ? -1.0F : static_cast<float>(most);
  }
  return values;
}

Text CounterName(CounterKind kind) {
  switch (kind) {
    case CounterKind::kCpu:
      return Text::kCpuCores;
    case CounterKind::kMapped:
      return Text::kMemoryMapped;
    case CounterKind::kMemory:
      return Text::kMemory;
    case CounterKind::kGpuBusy:
      return Text::kGpuBusy;
    case CounterKind::kDisk:
      return Text::kDiskReads;
    case CounterKind::kReadyBatches:
      break;
  }
  return Text::kReadyBatches;
}

bool IsSumOfMapped(const CounterTrack& track) {
  return track.kind == CounterKind::kMapped && track.process == CounterTrack::kAll;
}

std::string CounterTitle(const CounterTrack& track, const analyzer::Report& report,
                         Language language) {
  if (IsSumOfMapped(track)) return std::string(TextOf(Text::kMemoryMappedSum, language));
  const Text name = CounterName(track.kind);
  if (track.kind != CounterKind::kReadyBatches) return std::string(TextOf(name, language));
  std::string title = TitleOfRank(report, name, language);
  const std::string& loader = report.diagnosis.run.loader().name;
  if (LoaderNames(report).size() > 1 && !loader.empty()) title += "  ·  " + loader;
  return title;
}

std::string CounterText(const CounterTrack& track, double value) {
  const std::string bytes = analyzer::BytesText(static_cast<std::uint64_t>(std::max(value, 0.0)));
  if (track.kind == CounterKind::kMemory || track.kind == CounterKind::kMapped) return bytes;
  if (track.kind == CounterKind::kDisk) return bytes + "/s";
  if (track.kind == CounterKind::kGpuBusy) return analyzer::PercentText(value);
  return fmt::format("{:.3g}", value);
}

}  // namespace penstock::gui
