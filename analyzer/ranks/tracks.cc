// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/tracks.h"

#include <algorithm>
#include <map>

namespace penstock::analyzer {
namespace {

RankTrack TrackOf(const LoaderRun& run) {
  RankTrack track;
  std::uint32_t epoch = 0;
  for (const Epoch& one : run.epochs) {
    for (std::size_t i = one.first; i < one.first + one.count; ++i) {
      const Batch& batch = run.batches[i];
      Passing passing;
      passing.iteration = {epoch, batch.key.index};
      passing.entered = batch.wait_start;
      passing.delivered = batch.delivered;
      passing.ended = batch.step_end;
      passing.wait = batch.wait();
      passing.step = batch.step();
      track.passings.push_back(passing);
    }
    ++epoch;
  }
  std::stable_sort(track.passings.begin(), track.passings.end(),
                   [](const Passing& a, const Passing& b) { return a.iteration < b.iteration; });
  return track;
}

}  // namespace

std::vector<RankTrack> TracksOf(const RunModel& run) {
  std::map<std::int32_t, std::size_t> loaders;  // by rank
  for (std::size_t i = 0; i < run.loaders.size(); ++i) {
    const RankPlace* place = run.ranks.Find(run.loaders[i].config.consumer);
    if (place == nullptr || run.loaders[i].batches.empty()) continue;
    const auto [at, first] = loaders.emplace(place->rank, i);
    const std::size_t most = run.loaders[at->second].batches.size();
    if (!first && run.loaders[i].batches.size() > most) at->second = i;
  }
  std::vector<RankTrack> tracks;
  for (const auto& [rank, loader] : loaders) {
    tracks.push_back(TrackOf(run.loaders[loader]));
    tracks.back().rank = rank;
    tracks.back().loader = loader;
  }
  return tracks;
}

}  // namespace penstock::analyzer
