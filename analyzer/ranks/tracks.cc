// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/tracks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/model/device_records.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {
namespace {

// Whether a kernel of this name synchronises all ranks. A send or a receive synchronises only two.
// Source: nccl/src/device: ncclDevKernel_AllReduce_..., before 2.19 ncclKernel_AllReduce_...
bool IsCollective(std::string_view kernel) {
  return kernel.find("nccl") != std::string_view::npos &&
         kernel.find("SendRecv") == std::string_view::npos;
}

// When the last collective of each batch ended on the devices of `consumer`.
std::map<traces::BatchKey, std::int64_t> Collectives(const traces::Trace& trace,
                                                     ProcessId consumer) {
  std::map<traces::BatchKey, std::int64_t> ends;
  std::unordered_map<std::uint32_t, bool> known;  // by name
  const auto threads = trace.threads();
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    if (threads[i].process != consumer || !DeviceOf(threads[i])) continue;
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const traces::Span> spans) {
      for (const traces::Span& span : spans) {
        if (span.stage != traces::StageId::kKernel || !span.batch.valid()) continue;
        const auto [at, fresh] = known.try_emplace(span.name.value, false);
        if (fresh) at->second = IsCollective(trace.String(span.name));
        if (!at->second) continue;
        const auto [end, first] = ends.try_emplace(span.batch, span.end().value);
        if (!first) end->second = std::max(end->second, span.end().value);
      }
    });
  }
  return ends;
}

// Whether most batches of `run` have a collective. A collective may belong to a batch of another
// loader: if the loop takes a batch of each loader and then does one step, it names the last batch.
bool HasCollectives(const LoaderRun& run,
                    const std::map<traces::BatchKey, std::int64_t>& collectives) {
  const auto count = std::count_if(run.batches.begin(), run.batches.end(), [&](const Batch& batch) {
    return collectives.find(batch.key) != collectives.end();
  });
  return 2 * static_cast<std::size_t>(count) > run.batches.size();
}

// The batches of an epoch in order of delivery, as indices into LoaderRun::batches. Ranks meet
// after the same number of batches, which need not be the same batches: with in_order=False, each
// rank gets its batches in another order.
std::vector<std::size_t> InOrderOfDelivery(const LoaderRun& run, const Epoch& epoch) {
  std::vector<std::size_t> taken(epoch.count);
  std::iota(taken.begin(), taken.end(), epoch.first);
  std::stable_sort(taken.begin(), taken.end(), [&](std::size_t a, std::size_t b) {
    return run.batches[a].delivered < run.batches[b].delivered;
  });
  return taken;
}

RankTrack TrackOf(const LoaderRun& run,
                  const std::map<traces::BatchKey, std::int64_t>& collectives) {
  RankTrack track;
  track.by_device = HasCollectives(run, collectives);
  const std::vector<bool> steady = MeasureLoop(run).steady;
  std::uint32_t epoch = 0;
  for (const Epoch& one : run.epochs) {
    const std::vector<std::size_t> taken = InOrderOfDelivery(run, one);
    for (std::size_t k = 0; k < taken.size(); ++k) {
      const Batch& batch = run.batches[taken[k]];
      Passing passing;
      passing.iteration = {epoch, run.batches[one.first + k].key.index};
      passing.delivered = batch.delivered;
      passing.ended = batch.step_end;
      passing.wait = batch.wait();
      passing.step = batch.step();
      passing.steady = steady[taken[k]];
      if (track.by_device) {
        const auto met = collectives.find(batch.key);
        passing.ended = met == collectives.end() ? kNever : met->second;
      }
      track.passings.push_back(passing);
    }
    ++epoch;
  }
  std::stable_sort(track.passings.begin(), track.passings.end(),
                   [](const Passing& a, const Passing& b) { return a.iteration < b.iteration; });
  return track;
}

// The names of the loaders that all ranks have. One rank alone often has a validation loader.
std::set<std::string> NamesOnAllRanks(const RunModel& run) {
  std::set<std::int32_t> all;
  std::map<std::string, std::set<std::int32_t>> ranks;  // by name
  for (const LoaderRun& loader : run.loaders) {
    const RankPlace* place = run.ranks.Find(loader.config.consumer);
    if (place == nullptr || loader.batches.empty()) continue;
    all.insert(place->rank);
    if (!loader.name.empty()) ranks[loader.name].insert(place->rank);
  }
  std::set<std::string> names;
  for (const auto& [name, having] : ranks) {
    if (having.size() == all.size()) names.insert(name);
  }
  return names;
}

// For each rank, the index in RunModel::loaders of the loader that its track follows.
std::map<std::int32_t, std::size_t> LoadersByRank(const RunModel& run) {
  const std::set<std::string> shared = NamesOnAllRanks(run);
  const auto order = [&](std::size_t loader) {
    const LoaderRun& one = run.loaders[loader];
    return std::pair(shared.count(one.name), one.batches.size());
  };
  std::map<std::int32_t, std::size_t> loaders;
  for (std::size_t i = 0; i < run.loaders.size(); ++i) {
    const RankPlace* place = run.ranks.Find(run.loaders[i].config.consumer);
    if (place == nullptr || run.loaders[i].batches.empty()) continue;
    const auto [at, first] = loaders.emplace(place->rank, i);
    if (!first && order(i) > order(at->second)) at->second = i;
  }
  return loaders;
}

}  // namespace

std::vector<RankTrack> TracksOf(const traces::Trace& trace, const RunModel& run) {
  const bool kernels = run.stages[traces::StageId::kKernel].count > 0;
  std::vector<RankTrack> tracks;
  for (const auto& [rank, loader] : LoadersByRank(run)) {
    const LoaderRun& one = run.loaders[loader];
    std::map<traces::BatchKey, std::int64_t> collectives;
    if (kernels) collectives = Collectives(trace, one.config.consumer);
    tracks.push_back(TrackOf(one, collectives));
    tracks.back().rank = rank;
    tracks.back().loader = loader;
  }
  return tracks;
}

}  // namespace penstock::analyzer
