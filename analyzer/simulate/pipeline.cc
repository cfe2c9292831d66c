// SPDX-License-Identifier: Apache-2.0
#include "analyzer/simulate/pipeline.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

// Appends the batches [begin, end) of `epoch`, with their samples; if `counted_only`, only counted
// batches.
void Append(const EpochDemand& epoch, std::size_t begin, std::size_t end, bool counted_only,
            EpochDemand& out) {
  for (std::size_t j = begin; j < end; ++j) {
    if (counted_only && !epoch.batches[j].counted) continue;
    out.batches.push_back(epoch.batches[j]);
    Demand& demand = out.batches.back();
    const auto first = epoch.samples.begin() + static_cast<std::ptrdiff_t>(demand.first_sample);
    demand.first_sample = out.samples.size();
    if (epoch.samples.empty()) continue;
    out.samples.insert(out.samples.end(), first, first + static_cast<std::ptrdiff_t>(demand.tasks));
  }
}

// How many batches come before the first counted one; 0 if none is counted.
std::size_t BeforeCounted(const Pipeline& pipeline) {
  std::size_t before = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      if (demand.counted) return before;
      ++before;
    }
  }
  return 0;
}

Pipeline WithoutEpochs(const Pipeline& pipeline) {
  Pipeline copy;
  static_cast<PipelineSetup&>(copy) = pipeline;
  return copy;
}

}  // namespace

std::size_t CreditsOf(const LoaderSetup& setup) {
  return setup.workers > 0 ? static_cast<std::size_t>(std::max(1, setup.prefetch)) *
                                 static_cast<std::size_t>(setup.workers)
                           : 0;
}

void ScaleParts(Demand& demand, double scale) {
  for (const auto part : kDemandParts) {
    (demand.*part).wall *= scale;
    (demand.*part).cpu *= scale;
  }
}

std::vector<Demand*> BatchesOf(Pipeline& pipeline) {
  std::vector<Demand*> batches;
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) batches.push_back(&demand);
  }
  return batches;
}

std::size_t Pipeline::batches() const {
  std::size_t count = 0;
  for (const EpochDemand& epoch : epochs) count += epoch.batches.size();
  return count;
}

std::size_t Pipeline::credits() const {
  if (sample_tasks) return workers > 0 ? static_cast<std::size_t>(std::max(1, prefetch)) : 0;
  std::size_t all = 0;
  for (std::size_t loader = 0; loader <= beside.size(); ++loader) all += CreditsOf(setup(loader));
  return all;
}

std::size_t Pipeline::all_workers() const {
  std::size_t all = 0;
  for (std::size_t loader = 0; loader <= beside.size(); ++loader) {
    all += static_cast<std::size_t>(std::max(0, setup(loader).workers));
  }
  return all;
}

Pipeline Shortened(const Pipeline& pipeline, std::size_t batches, std::size_t tasks) {
  std::size_t all_tasks = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    // Samples that several batches share count once for each batch.
    for (const Demand& demand : epoch.batches) all_tasks += demand.tasks;
  }
  const std::size_t all = pipeline.batches();
  if (all_tasks > tasks && all > 0) {
    batches = std::min(batches, std::max<std::size_t>(1, tasks / (1 + all_tasks / all)));
  }
  // Batches that fill the queues are not counted. If a part has only such batches, it has no steady
  // rate.
  if (const std::size_t filling = BeforeCounted(pipeline); filling >= batches) batches += filling;
  if (all <= batches) return pipeline;
  Pipeline out = WithoutEpochs(pipeline);
  for (const EpochDemand& epoch : pipeline.epochs) {
    const std::size_t room = batches - std::min(batches, out.batches());
    if (room == 0) break;
    const std::size_t count = std::min(room, epoch.batches.size());
    EpochDemand part;
    part.worker_start = epoch.worker_start;
    part.ended = epoch.ended;
    const double share = static_cast<double>(count) / static_cast<double>(epoch.batches.size());
    part.one_more = epoch.one_more * share;
    part.stop = epoch.stop * share;
    part.warm_up = epoch.warm_up;
    ScaleParts(part.warm_up, share);
    for (double& start : part.worker_start) start *= share;
    Append(epoch, 0, count, false, part);
    out.epochs.push_back(std::move(part));
  }
  return out;
}

Pipeline Without(const Pipeline& pipeline, std::size_t batches) {
  if (batches == 0) return pipeline;
  Pipeline out = WithoutEpochs(pipeline);
  out.skipped += batches;
  for (const EpochDemand& epoch : pipeline.epochs) {
    const std::size_t skipped = std::min(batches, epoch.batches.size());
    batches -= skipped;
    if (skipped == 0) {
      out.epochs.push_back(epoch);
      continue;
    }
    if (skipped == epoch.batches.size()) continue;
    EpochDemand rest;  // the workers of `rest` have already started
    rest.worker_start.assign(epoch.worker_start.size(), 0.0);
    rest.ended = epoch.ended;
    rest.stop = epoch.stop;
    Append(epoch, skipped, epoch.batches.size(), false, rest);
    const std::size_t filling = std::min(pipeline.credits(), rest.batches.size() / 2);
    for (std::size_t j = 0; j < filling; ++j) rest.batches[j].counted = false;
    out.epochs.push_back(std::move(rest));
  }
  return out;
}

Pipeline SteadyPart(const Pipeline& pipeline) {
  Pipeline out = WithoutEpochs(pipeline);
  EpochDemand all;
  for (const EpochDemand& epoch : pipeline.epochs) {
    Append(epoch, 0, epoch.batches.size(), true, all);
  }
  out.epochs.push_back(std::move(all));
  return out;
}

}  // namespace penstock::analyzer
