// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/loader_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace penstock::analyzer {
namespace {

std::set<std::uint16_t> GenerationsOf(const LoaderRun& run) {
  std::set<std::uint16_t> generations;
  for (const Epoch& epoch : run.epochs) generations.insert(epoch.generation);
  return generations;
}

}  // namespace

std::vector<ReadSpan> ReadsFor(const LoaderRun& run, const std::vector<ReadSpan>& all) {
  const std::set<std::uint16_t> generations = GenerationsOf(run);
  std::vector<ReadSpan> reads;
  for (const ReadSpan& read : all) {
    const bool own = read.reader != ReadSpan::kNobody &&
                     read.consumer == run.config.consumer.value &&
                     generations.count(read.epoch) > 0;
    if (own) reads.push_back(read);
  }
  return reads;
}

std::vector<ReadSpan> ReadsForBatches(const std::vector<ReadSpan>& all) {
  constexpr std::size_t kFew = 64;  // FitReads() learns nothing from fewer
  std::vector<ReadSpan> reads;
  for (const ReadSpan& read : all) {
    if (read.for_batch) reads.push_back(read);
  }
  return reads.size() < kFew ? all : reads;
}

void ShareSampleTimes(const std::vector<SampleTime>& all, std::vector<LoaderRun>& loaders) {
  std::unordered_map<std::uint64_t, LoaderRun*> owners;  // by training process and iterator
  const auto key = [](std::uint32_t consumer, std::uint16_t generation) {
    return std::uint64_t{consumer} << 16 | generation;
  };
  for (LoaderRun& run : loaders) {
    if (run.samples_per_span > 1) continue;
    for (const std::uint16_t generation : GenerationsOf(run)) {
      owners[key(run.config.consumer.value, generation)] = &run;
    }
  }
  for (const SampleTime& sample : all) {
    const auto owner = owners.find(key(sample.consumer, sample.batch.generation));
    if (owner == owners.end()) continue;
    LoaderRun& run = *owner->second;
    const auto first = static_cast<std::uint32_t>(std::max(1, run.config.num_workers));
    if (sample.batch.index >= first) run.sample_times.push_back(sample);
  }
}

}  // namespace penstock::analyzer
