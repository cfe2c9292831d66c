// SPDX-License-Identifier: Apache-2.0
#include "gui/model/counters.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "gui/model/document.h"

namespace penstock::gui {
namespace {

using analyzer::CounterSeries;

std::int64_t Ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

// Cores in use, from CPU time so far: what was used since the sample before, drawn from there on.
CounterTrack CpuOf(const CounterSeries& series) {
  CounterTrack track{CounterKind::kCpu, series.process.value, {}, 0};
  for (std::size_t i = 1; i < series.at.size(); ++i) {
    const double time = series.at[i] - series.at[i - 1];
    if (time <= 0) continue;
    const double used = std::max(0.0, series.value[i] - series.value[i - 1]) * 1e-9 / time;
    track.points.push_back({Ns(series.at[i - 1]), used});
    track.most = std::max(track.most, used);
  }
  if (!track.points.empty()) track.points.push_back({Ns(series.at.back()), 0});
  return track;
}

CounterTrack MemoryOf(const CounterSeries& series) {
  CounterTrack track{CounterKind::kMemory, series.process.value, {}, 0};
  for (std::size_t i = 0; i < series.at.size(); ++i) {
    track.points.push_back({Ns(series.at[i]), series.value[i]});
    track.most = std::max(track.most, series.value[i]);
  }
  return track;
}

// The sum of step functions.
CounterTrack SumOf(CounterKind kind, std::span<const CounterTrack> tracks) {
  CounterTrack sum{kind, CounterTrack::kAll, {}, 0};
  std::map<std::int64_t, double> changes;
  for (const CounterTrack& track : tracks) {
    double last = 0;
    for (const CounterPoint& point : track.points) {
      changes[point.at] += point.value - last;
      last = point.value;
    }
  }
  double value = 0;
  for (const auto& [at, change] : changes) {
    value += change;
    sum.points.push_back({at, std::max(value, 0.0)});
    sum.most = std::max(sum.most, value);
  }
  return sum;
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
    all.push_back(std::move(ready));
  }
  add(CounterKind::kCpu, TracksOf(analysis, "cpu_ns", CpuOf));
  std::vector<CounterTrack> memory = TracksOf(analysis, "pss_bytes", MemoryOf);
  if (memory.empty()) memory = TracksOf(analysis, "rss_bytes", MemoryOf);
  add(CounterKind::kMemory, std::move(memory));
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
    // After its last point a counter is no more.
    const bool over =
        point == track.points.end() && static_cast<double>(track.points.back().at) < end - width;
    values[c] = over ? -1.0F : static_cast<float>(most);
  }
  return values;
}

}  // namespace penstock::gui
