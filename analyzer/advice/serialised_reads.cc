// SPDX-License-Identifier: Apache-2.0
//
// Reads of different workers never overlap, as if one lock guarded the file: HDF5's global lock, a
// shared handle, a lock of the dataset. Reading that takes turns is slow however many workers wait.
// Threshold: chance would let reads overlap for 10 % of the time or more, and they do for less than
// a tenth of that (ours; R37 says "an overlap factor of about 1"). The prediction is the most that
// can be had: what workers wait for inside their samples, gone. Source: diagnosis.md R37;
// pytorch#11929, #3415; pathml#131.
#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "analyzer/advice/place.h"

namespace penstock::analyzer {
namespace {

constexpr double kChance = 0.1;
constexpr double kShare = 0.1;
constexpr std::size_t kMost = 50'000;  // reads of a thread: enough to tell

struct Reads {
  double alone = 0;      // seconds in which one worker reads
  double together = 0;   // in which two or more do
  double by_chance = 0;  // `together`, if they were independent, as a fraction of the time
  double window = 0;
  std::size_t count = 0;
};

struct Edge {
  std::int64_t at;
  int change;
};

Reads MeasureReads(const traces::Trace& trace, const LoaderRun& run) {
  Reads reads;
  std::vector<Edge> edges;
  std::vector<double> busy;
  std::int64_t from = kNever;
  std::int64_t to = kNever;
  std::vector<std::vector<Edge>> all;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const ProcessId process = trace.threads()[i].process;
    const bool works = std::any_of(run.workers.begin(), run.workers.end(),
                                   [&](const WorkerRun& w) { return w.process == process; });
    if (!works) continue;
    std::vector<Edge> own;
    std::int64_t last = kNever;
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const traces::Span> spans) {
      for (const traces::Span& span : spans) {
        if (span.stage != traces::StageId::kRead || own.size() >= 2 * kMost) continue;
        const std::int64_t start = std::max(span.start.value, last);
        // The calls of a coalesced read are somewhere inside it: such a span cannot tell.
        const bool whole = span.busy.value < 0 || span.busy.value * 10 > span.duration.value * 9;
        if (!whole || span.end().value <= start) continue;
        own.push_back({start, 1});
        own.push_back({last = span.end().value, -1});
      }
    });
    if (own.size() < 64) continue;
    from = from == kNever ? own.front().at : std::max(from, own.front().at);
    to = to == kNever ? own.back().at : std::min(to, own.back().at);
    all.push_back(std::move(own));
  }
  if (all.size() < 2 || to <= from) return reads;
  reads.window = static_cast<double>(to - from) * 1e-9;
  for (const std::vector<Edge>& own : all) {
    double time = 0;
    for (std::size_t k = 0; k + 1 < own.size(); k += 2) {
      const std::int64_t start = std::max(own[k].at, from);
      const std::int64_t end = std::min(own[k + 1].at, to);
      if (end <= start) continue;
      edges.push_back({start, 1});
      edges.push_back({end, -1});
      time += static_cast<double>(end - start) * 1e-9;
    }
    busy.push_back(std::min(1.0, time / reads.window));
  }
  reads.count = edges.size() / 2;
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.at != b.at ? a.at < b.at : a.change < b.change;
  });
  int now = 0;
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    now += edges[k].change;
    const double time = static_cast<double>(edges[k + 1].at - edges[k].at) * 1e-9;
    if (now == 1) reads.alone += time;
    if (now > 1) reads.together += time;
  }
  double none = 1;
  for (const double share : busy) none *= 1 - share;
  double one = 0;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    double others = busy[i];
    for (std::size_t k = 0; k < busy.size(); ++k) others *= k == i ? 1 : 1 - busy[k];
    one += others;
  }
  reads.by_chance = std::max(0.0, 1 - none - one);
  return reads;
}

}  // namespace

void SerialisedReads(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.run().workers.size() < 2) return;
  if (input.run().config.sample_tasks) return;
  if (input.ShareOfFetch(traces::StageId::kRead) < 0.15) return;  // spares the pass over all spans
  const Reads reads = MeasureReads(input.trace, input.run());
  if (reads.window <= 0 || reads.by_chance < kChance) return;
  const double overlap = reads.together / reads.window;
  if (overlap >= kShare * reads.by_chance) return;
  const StageTotals& augment = input.diagnosis.run.stages[traces::StageId::kAugment];
  Finding finding;
  finding.id = "serialised-reads";
  finding.severity = Severity::kWarning;
  if (augment.cpu_known() && augment.wall.value > 0) {
    const double computing = std::min(1.0, Seconds(augment.cpu) / Seconds(augment.wall));
    finding.predicted = input.WithScaled(Factor::kAugment, computing);
    if (finding.predicted->speedup < 1.05) finding.severity = Severity::kInfo;
  }
  finding.title = fmt::format(
      "reads of different workers never overlap: they take turns, {:.0f} % of the time one reads",
      100 * reads.alone / reads.window);
  finding.evidence = {{"overlap", overlap},
                      {"overlap_by_chance", reads.by_chance},
                      {"reading_alone", reads.alone / reads.window},
                      {"reads", static_cast<double>(reads.count)},
                      {"threshold_of_chance", kShare}};
  finding.action =
      "Open the file in each worker, at its first use and not in the constructor (an HDF5 handle "
      "that was forked is shared, and HDF5 has one lock per process); take no lock around reads; "
      "or convert to a format that is read without a lock. The prediction is the most that can be "
      "had.";
  PlaceInWorkers(input, finding);
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
