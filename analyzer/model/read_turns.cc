// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "analyzer/model/reads.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kFewestOfThread = 64;  // reads that a thread needs to count

struct ReadStretch {
  std::int64_t from;
  std::int64_t to;
};

// The reads of one thread as intervals that do not overlap, in order.
std::vector<ReadStretch> Merged(std::vector<ReadStretch> reads) {
  std::sort(reads.begin(), reads.end(),
            [](const ReadStretch& a, const ReadStretch& b) { return a.from < b.from; });
  std::vector<ReadStretch> merged;
  for (const ReadStretch& read : reads) {
    if (!merged.empty() && read.from < merged.back().to) {
      merged.back().to = std::max(merged.back().to, read.to);
    } else {
      merged.push_back(read);
    }
  }
  return merged;
}

// The probability that two or more threads read at the same moment, if each reads for its share of
// the time and all are independent.
double MeetingByChance(const std::vector<double>& busy) {
  double none = 1;
  double one = 0;
  for (const double share : busy) {
    one = one * (1 - share) + none * share;
    none *= 1 - share;
  }
  return std::max(0.0, 1 - none - one);
}

using ByThread = std::map<std::uint32_t, std::vector<ReadStretch>>;

ReadTurns TurnsOfEpoch(ByThread& by_thread) {
  ReadTurns turns;
  std::vector<std::vector<ReadStretch>> threads;
  for (auto& [thread, own] : by_thread) {
    if (own.size() >= kFewestOfThread) threads.push_back(Merged(std::move(own)));
  }
  if (threads.size() < 2) return turns;
  std::int64_t from = threads.front().front().from;  // the time in which all threads read
  std::int64_t to = threads.front().back().to;
  for (const std::vector<ReadStretch>& own : threads) {
    from = std::max(from, own.front().from);
    to = std::min(to, own.back().to);
  }
  if (to <= from) return turns;
  const auto window = static_cast<double>(to - from);
  std::vector<std::pair<std::int64_t, int>> edges;  // at equal times, ends come before beginnings
  std::vector<double> busy;
  for (const std::vector<ReadStretch>& own : threads) {
    double time = 0;
    for (const ReadStretch& read : own) {
      const std::int64_t start = std::max(read.from, from);
      const std::int64_t end = std::min(read.to, to);
      if (end <= start) continue;
      edges.emplace_back(start, 1);
      edges.emplace_back(end, -1);
      time += static_cast<double>(end - start);
    }
    busy.push_back(time / window);
  }
  std::sort(edges.begin(), edges.end());
  int now = 0;
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    now += edges[k].second;
    const double time = static_cast<double>(edges[k + 1].first - edges[k].first) / window;
    if (now == 1) turns.alone += time;
    if (now > 1) turns.together += time;
  }
  turns.reads = edges.size() / 2;
  turns.by_chance = MeetingByChance(busy);
  return turns;
}

}  // namespace

ReadTurns MeasureTurns(const std::vector<ReadSpan>& reads) {
  std::map<std::uint16_t, ByThread> epochs;
  for (const ReadSpan& read : reads) {
    if (read.reader == ReadSpan::kNobody) continue;
    epochs[read.epoch][read.reader].push_back({read.start, read.end});
  }
  ReadTurns most;
  for (auto& [epoch, by_thread] : epochs) {
    const ReadTurns turns = TurnsOfEpoch(by_thread);
    if (turns.reads > most.reads) most = turns;
  }
  return most;
}

}  // namespace penstock::analyzer
