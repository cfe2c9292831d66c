// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/handover.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/measure/fetch_times.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

double NonNegativeSeconds(std::int64_t ns) {
  return static_cast<double>(std::max<std::int64_t>(0, ns)) * 1e-9;
}

// How long the loop took to receive a message. If messages fit into the pipe, the part of the get
// before the end of the put does not count, because the worker is still sending.
double TakingOf(const Batch& batch, bool streamed) {
  if (batch.get_start == kNever || batch.got == kNever) return 0;
  if (streamed) return batch.get.wall;
  const std::int64_t from = std::max(batch.get_start, batch.available());
  return std::min(batch.get.wall, NonNegativeSeconds(batch.got - from));
}

// Whether the loop reads messages while they are still being written.
bool IsStreamed(const LoaderRun& run) {
  std::size_t known = 0;
  std::size_t early = 0;
  for (const Batch& batch : run.batches) {
    if (batch.get_start == kNever || batch.put_start == kNever || batch.put_end == kNever) continue;
    ++known;
    // A get also begins before the put ends if the sender, right after writing, loses its core or
    // waits for the GIL. But that is rare, or it lasts for a small part of the get.
    const bool before = batch.get_start < batch.put_end && batch.get_start > batch.put_start;
    const double beside = NonNegativeSeconds(batch.put_end - batch.get_start);
    if (before && beside * 2 > batch.get.wall) ++early;
  }
  return known > 0 && early * 4 > known * 3;
}

bool WasReady(const Batch& batch) {
  constexpr std::int64_t kMargin = 500'000;  // more than a message takes through a queue
  return batch.available() != kNever && batch.available() + kMargin < batch.wait_start;
}

// The gets on the loop's own thread, sorted by time. While the loop waits for one batch, it also
// gets other batches.
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

  // Seconds between `from` and `to` in which the thread was in a get.
  [[nodiscard]] double Within(std::int64_t from, std::int64_t to) const {
    // A thread does one get after the other, so the ends are in order too.
    auto at = std::partition_point(gets_.begin(), gets_.end(),
                                   [from](const auto& get) { return get.second <= from; });
    std::int64_t time = 0;
    for (; at != gets_.end() && at->first < to; ++at) {
      time += std::min(at->second, to) - std::max(at->first, from);
    }
    return NonNegativeSeconds(time);
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> gets_;
};

// The typical length of `pieces` of work, without waiting for a core.
double Undisturbed(std::vector<double> pieces, double crowding) {
  const Summary all = Summarize(pieces);
  return all.median - crowding * (all.median - all.p10);
}

// The typical time of a worker process between two fetches, without the put. Counts a gap only if
// the indices of the second batch were sent before the first fetch ended.
double GapOfWorkers(const LoaderRun& run, double crowding) {
  std::map<std::pair<std::int32_t, std::uint16_t>, const Batch*> last;
  std::vector<double> gaps;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched()) continue;
    const Batch*& before = last[{batch.worker_process, batch.key.generation}];
    if (before != nullptr && batch.index_sent != kNever && batch.index_sent < before->fetch_end) {
      const double put = before->put_thread == before->fetch_thread ? before->put.wall : 0;
      gaps.push_back(
          std::max(0.0, NonNegativeSeconds(batch.fetch_start - before->fetch_end) - put));
    }
    before = &batch;
  }
  return Undisturbed(std::move(gaps), crowding);
}

// The time of a thread outside of samples, collating and idling, divided by its samples. With
// num_workers = 0 the result is 0: the loop's own thread makes the samples, and its gaps contain
// steps.
double GapOfThreads(const LoaderRun& run) {
  if (run.config.num_workers == 0) return 0;
  double life = 0;
  double known = 0;
  for (const WorkerRun& worker : run.workers) {
    life += NonNegativeSeconds(worker.last - worker.first);
    known += worker.busy + worker.idle;
  }
  double samples = 0;
  for (const Batch& batch : run.batches) {
    known += batch.collate.wall;
    samples += static_cast<double>(batch.sample_costs);
  }
  return samples > 0 ? std::max(0.0, life - known) / samples : 0;
}

// Sets `put`, which leaves out the waiting for a core, and `put_share`.
void MeasurePuts(const LoaderRun& run, double crowding, Handover& handover) {
  double whole = 0;
  double computing = 0;
  for (const Batch& batch : run.batches) {
    const bool known = batch.put.cpu > 0;
    const double cpu = known ? std::min(batch.put.cpu, batch.put.wall) : batch.put.wall;
    // The sender of a message that does not fit into the pipe waits for the loop. The simulator
    // adds this waiting by itself.
    const double part = handover.streamed ? 0 : 1 - crowding;
    handover.put.push_back(cpu + part * (batch.put.wall - cpu));
    whole += handover.put.back();
    computing += cpu;
  }
  if (whole > 0) handover.put_share = computing / whole;
}

constexpr std::size_t kEnough = 8;  // fewest batches of a kind for figures of its own

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / std::max<double>(1, static_cast<double>(values.size()));
}

// Removes the waiting for a core from `get`. If a worker was busy, also removes the time beyond a
// usual get; its mean is `asking`. Sets `get_share`. The CPU time of gets is not recorded. `busy`,
// by batch: whether its worker was fetching another batch during the get.
void MeasureGets(const std::vector<bool>& busy, double crowding, Handover& handover) {
  constexpr double kTaking = 0.8e-3;  // a get of one tensor (analyzer/predict/scenario.cc)
  std::vector<double> of_idle;
  std::vector<double> of_busy;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const double get = handover.get[i];
    if (get > 0) (busy[i] && !handover.streamed ? of_busy : of_idle).push_back(get);
  }
  const bool told = of_idle.size() >= kEnough;
  double least = Summarize(of_idle).p10;
  if (!told && !of_busy.empty()) {
    least = std::min(Summarize(of_busy).p10, kTaking);
  }
  const double usual = told ? Undisturbed(of_idle, crowding) : least;
  handover.asking = (1 - crowding) * std::max(0.0, MeanOf(of_busy) - usual);
  double whole = 0;
  double computing = 0;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    double& get = handover.get[i];
    if (busy[i] && !handover.streamed) get = std::min(get, usual);
    const double cpu = std::min(get, least);
    get = cpu + (1 - crowding) * (get - cpu);
    whole += get;
    computing += cpu;
  }
  if (whole > 0) handover.get_share = computing / whole;
}

// How many seconds the delivery of each batch of one kind took, without gets. `spare`: batches that
// were delivered while a core was free; `full`: other batches.
struct Hops {
  std::vector<double> spare;
  std::vector<double> full;

  void Add(bool is_full, double seconds) { (is_full ? full : spare).push_back(seconds); }
  [[nodiscard]] std::size_t count() const { return spare.size() + full.size(); }
  [[nodiscard]] double Usual(double crowding) const {
    if (spare.size() >= kEnough || full.empty()) return Undisturbed(spare, crowding);
    std::vector<double> all = spare;
    all.insert(all.end(), full.begin(), full.end());
    return Summarize(std::move(all)).p10;
  }
};

}  // namespace

Handover MeasureHandover(const LoaderRun& run, double cores, double crowding) {
  Handover handover;
  handover.streamed = IsStreamed(run);
  const OwnGets own(run);
  const FetchTimes fetches(run);
  const auto is_full = [&](const Batch& batch) {
    return static_cast<double>(fetches.Fetching(batch.delivered)) >= cores;
  };
  const auto handing = [&](const Batch& batch) {
    return std::max(0.0, batch.wait() - own.Within(batch.wait_start, batch.delivered));
  };
  Hops ready;
  Hops late;
  std::vector<bool> busy;  // by batch
  bool any = false;
  std::size_t threaded = 0;
  for (const Batch& batch : run.batches) {
    const bool got = batch.get_start != kNever;
    handover.get.push_back(TakingOf(batch, handover.streamed));
    busy.push_back(got && fetches.WasFetching(batch.worker_process, batch.get_start, batch.got));
    if (batch.available() == kNever) continue;
    if (got && batch.get_thread != batch.wait_thread) ++threaded;
    any = any || got;
    if (WasReady(batch)) {
      ready.Add(is_full(batch), handing(batch));
    } else {
      const std::int64_t from = std::max(batch.available(), batch.wait_start);
      late.Add(is_full(batch), std::max(0.0, NonNegativeSeconds(batch.delivered - from) -
                                                 own.Within(from, batch.delivered)));
    }
  }
  handover.threaded = threaded * 2 > run.batches.size();
  const double late_usual = late.Usual(crowding);
  // With few ready batches, `next` cannot be measured. Then the time from when a late batch is
  // available to its delivery counts as latency if gets were recorded. If not, it includes
  // unpickling, which each batch costs, so it counts as `next`.
  constexpr std::size_t kTelling = 4;
  if (ready.count() >= kTelling) {
    handover.next = ready.Usual(crowding);
  } else {
    handover.next = any ? 0 : late_usual;
  }
  if (ready.full.size() >= kEnough) {
    handover.preempted = std::max(0.0, MeanOf(ready.full) - handover.next);
  }
  handover.latency = std::max(0.0, late_usual - handover.next);
  const double least = Summarize(ready.spare).p10;
  for (const Batch& batch : run.batches) {
    double next = handover.next;
    if (WasReady(batch) && !is_full(batch)) {
      next = handing(batch);
      next -= crowding * std::max(0.0, next - least);
    }
    handover.next_of.push_back(next);
  }
  MeasurePuts(run, crowding, handover);
  MeasureGets(busy, crowding, handover);
  handover.overhead = run.config.sample_tasks ? GapOfThreads(run) : GapOfWorkers(run, crowding);
  return handover;
}

}  // namespace penstock::analyzer
