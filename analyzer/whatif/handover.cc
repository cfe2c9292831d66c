// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/handover.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

double SecondsOf(std::int64_t ns) {
  return static_cast<double>(std::max<std::int64_t>(0, ns)) * 1e-9;
}

double ClippedGet(const Batch& batch) {
  if (batch.get_start == kNever || batch.got == kNever) return 0;
  const std::int64_t from = std::max(batch.get_start, batch.available());
  return std::min(batch.get.wall, SecondsOf(batch.got - from));
}

bool WasReady(const Batch& batch) {
  constexpr std::int64_t kMargin = 500'000;  // longer than a queue hop between processes
  return batch.available() != kNever && batch.available() + kMargin < batch.wait_start;
}

// Gets on the consumer's own thread, by time: while it waits for one batch it takes others too.
class OwnGets {
 public:
  explicit OwnGets(const LoaderRun& run) {
    for (std::size_t i = 0; i < run.batches.size(); ++i) {
      const Batch& batch = run.batches[i];
      if (batch.get_start == kNever || batch.get_thread != batch.wait_thread) continue;
      gets_.emplace_back(batch.get_start, std::max(batch.get_start, batch.got));
    }
    std::sort(gets_.begin(), gets_.end());
  }

  [[nodiscard]] double Within(std::int64_t from, std::int64_t to) const {
    auto at = std::lower_bound(gets_.begin(), gets_.end(), std::make_pair(from, from));
    std::int64_t time = 0;
    for (; at != gets_.end() && at->first < to; ++at) time += std::min(at->second, to) - at->first;
    return SecondsOf(time);
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> gets_;
};

// Time of a worker process between two batches whose indices it had.
double GapOfWorkers(const LoaderRun& run) {
  std::map<std::pair<std::int32_t, std::uint16_t>, const Batch*> last;
  std::vector<double> gaps;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched()) continue;
    const Batch*& before = last[{batch.worker_process, batch.key.generation}];
    if (before != nullptr && batch.index_sent != kNever && batch.index_sent < before->fetch_end) {
      const double put = before->put_thread == before->fetch_thread ? before->put.wall : 0;
      gaps.push_back(std::max(0.0, SecondsOf(batch.fetch_start - before->fetch_end) - put));
    }
    before = &batch;
  }
  return Median(std::move(gaps));
}

// Time of a thread outside samples, collating and idling, for each sample.
double GapOfThreads(const LoaderRun& run) {
  double life = 0;
  double known = 0;
  for (const WorkerRun& worker : run.workers) {
    life += SecondsOf(worker.last - worker.first);
    known += worker.busy + worker.idle;
  }
  double samples = 0;
  for (const Batch& batch : run.batches) {
    known += batch.collate.wall;
    samples += static_cast<double>(batch.sample_costs);
  }
  return samples > 0 ? std::max(0.0, life - known) / samples : 0;
}

}  // namespace

Handover MeasureHandover(const LoaderRun& run) {
  Handover handover;
  const OwnGets own(run);
  std::vector<double> ready;
  std::vector<double> late;
  std::vector<double> gets;
  std::size_t threaded = 0;
  for (const Batch& batch : run.batches) {
    const bool got = batch.get_start != kNever;
    handover.get.push_back(ClippedGet(batch));
    if (batch.available() == kNever) continue;
    if (got && batch.get_thread != batch.wait_thread) ++threaded;
    if (got) gets.push_back(handover.get.back());
    if (WasReady(batch)) {
      ready.push_back(std::max(0.0, batch.wait() - own.Within(batch.wait_start, batch.delivered)));
    } else {
      const std::int64_t from = std::max(batch.available(), batch.wait_start);
      late.push_back(
          std::max(0.0, SecondsOf(batch.delivered - from) - own.Within(from, batch.delivered)));
    }
  }
  handover.threaded = threaded * 2 > run.batches.size();
  const double late_median = Median(late);
  // A few ready batches say little. Without them, what follows a late one is the hop; where
  // unpickling was not recorded it is in there, and it recurs with every batch.
  if (ready.size() >= 4) {
    handover.next = Median(ready);
  } else {
    handover.next = gets.empty() ? late_median : 0;
  }
  handover.latency = std::max(0.0, late_median - handover.next);
  for (const Batch& batch : run.batches) {
    handover.next_of.push_back(
        WasReady(batch)
            ? std::max(0.0, batch.wait() - own.Within(batch.wait_start, batch.delivered))
            : handover.next);
  }
  handover.overhead = run.config.sample_tasks ? GapOfThreads(run) : GapOfWorkers(run);
  return handover;
}

}  // namespace penstock::analyzer
