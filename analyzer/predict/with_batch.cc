// SPDX-License-Identifier: Apache-2.0
//
// Puts the samples of a recording into batches of another size.
#include <algorithm>
#include <utility>

#include "analyzer/predict/scenario.h"

namespace penstock::analyzer {
namespace {

// Distributes the samples of recorded batches over batches of another size.
class Rebatcher {
 public:
  Rebatcher(std::size_t size, EpochDemand& out) : size_(size), out_(out) {}

  // Adds one sample of `from`; `share` is its part of that batch's costs.
  void Add(const Demand& from, const Demand& share, const SampleCost* cost) {
    if (filled_ == 0) {
      out_.batches.push_back(from);
      Demand& fresh = out_.batches.back();
      for (const auto part : kDemandParts) fresh.*part = Work{};
      fresh.samples = fresh.step = fresh.h2d = 0;
      fresh.put *= kHandoverPerBatch;
      fresh.feed *= kHandoverPerBatch;
      fresh.get *= kHandoverPerBatch;
      fresh.pin = 0;
      fresh.first_sample = out_.samples.size();
      fresh.tasks = 0;
    }
    Demand& to = out_.batches.back();
    const auto add = [](Work& sum, const Work& more) {
      sum.wall += more.wall;
      sum.cpu += more.cpu;
    };
    for (const auto part : kDemandParts) add(to.*part, share.*part);
    to.samples += share.samples;
    to.step += share.step;
    to.h2d += share.h2d;
    to.put += share.put;
    to.feed += share.feed;
    to.get += share.get;
    to.pin += share.pin;
    if (cost != nullptr) {
      out_.samples.push_back(*cost);
      ++to.tasks;
    }
    filled_ = filled_ + 1 == size_ ? 0 : filled_ + 1;
  }

 private:
  std::size_t size_;
  EpochDemand& out_;
  std::size_t filled_ = 0;
};

// The costs of one of the `n` samples of a batch. `own`: the sample's recorded cost; `all`: the sum
// over the batch.
Demand ShareOf(const Demand& batch, const SampleCost& own, const SampleCost& all, double n) {
  const auto part = [n](const Work& work, float mine, float sum) {
    const double share = sum > 0 ? static_cast<double>(mine / sum) : 1 / n;
    return Work{work.wall * share, work.cpu * share};
  };
  Demand share;
  share.read = part(batch.read, own.read, all.read);
  share.decode = part(batch.decode, own.decode, all.decode);
  share.augment = part(batch.augment, own.augment, all.augment);
  share.tokenize = part(batch.tokenize, own.tokenize, all.tokenize);
  share.collate = part(batch.collate, 0, 0);
  share.other = part(batch.other, 0, 0);
  share.samples = batch.samples / n;
  share.step = batch.step / n;
  share.h2d = batch.h2d / n;
  share.put = batch.put * (1 - kHandoverPerBatch) / n;
  share.feed = batch.feed * (1 - kHandoverPerBatch) / n;
  share.get = batch.get * (1 - kHandoverPerBatch) / n;
  share.pin = batch.pin / n;
  return share;
}

}  // namespace

Pipeline WithBatch(const Pipeline& pipeline, const LoaderRun& run, int batch) {
  Pipeline changed = pipeline;
  std::size_t i = pipeline.skipped;  // index into run.batches
  for (EpochDemand& epoch : changed.epochs) {
    EpochDemand rebatched;
    rebatched.worker_start = epoch.worker_start;
    rebatched.ended = epoch.ended;
    rebatched.one_more = epoch.one_more;
    rebatched.stop = epoch.stop;
    rebatched.warm_up = epoch.warm_up;
    Rebatcher rebatcher(static_cast<std::size_t>(std::max(1, batch)), rebatched);
    for (const Demand& demand : epoch.batches) {
      const Batch& recorded = run.batches[i++];
      const bool own = demand.tasks > 0;
      const std::size_t known = own ? demand.tasks : recorded.sample_costs;
      const std::size_t n = known > 0 ? known : static_cast<std::size_t>(demand.samples + 0.5);
      const SampleCost* costs = nullptr;
      if (own) {
        costs = epoch.samples.data() + demand.first_sample;
      } else if (known > 0) {
        costs = run.samples.data() + recorded.first_sample;
      }
      SampleCost all;
      for (std::size_t k = 0; k < known; ++k) {
        all.read += costs[k].read;
        all.decode += costs[k].decode;
        all.augment += costs[k].augment;
        all.tokenize += costs[k].tokenize;
      }
      for (std::size_t k = 0; k < n; ++k) {
        const SampleCost cost = costs != nullptr ? costs[k] : SampleCost{};
        const Demand share = ShareOf(demand, cost, all, static_cast<double>(n));
        rebatcher.Add(demand, share, own ? &cost : nullptr);
      }
    }
    epoch = std::move(rebatched);
  }
  return changed;
}

}  // namespace penstock::analyzer
