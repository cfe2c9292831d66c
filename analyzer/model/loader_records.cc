// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/loader_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

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

std::vector<SampleTime> SamplesFor(const LoaderRun& run, const std::vector<SampleTime>& all) {
  const std::set<std::uint16_t> generations = GenerationsOf(run);
  const auto first = static_cast<std::uint32_t>(std::max(1, run.config.num_workers));
  std::vector<SampleTime> samples;
  for (const SampleTime& sample : all) {
    const bool own = sample.consumer == run.config.consumer.value &&
                     generations.count(sample.batch.generation) > 0;
    if (own && sample.batch.index >= first) samples.push_back(sample);
  }
  return samples;
}

}  // namespace penstock::analyzer
