// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/factors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace penstock::analyzer {
namespace {

// The members that hold the cost of a stage: in a batch and, for stages of samples, in a sample.
struct StageCost {
  Factor factor;
  Work Demand::*batch;
  float SampleCost::*wall;
  float SampleCost::*cpu;
};

constexpr std::array kStageCosts = {
    StageCost{Factor::kRead, &Demand::read, &SampleCost::read, &SampleCost::read_cpu},
    StageCost{Factor::kDecode, &Demand::decode, &SampleCost::decode, &SampleCost::decode_cpu},
    StageCost{Factor::kAugment, &Demand::augment, &SampleCost::augment, &SampleCost::augment_cpu},
    StageCost{Factor::kTokenize, &Demand::tokenize, &SampleCost::tokenize,
              &SampleCost::tokenize_cpu},
    StageCost{Factor::kCollate, &Demand::collate, nullptr, nullptr},
};

template <class Change>
void OnEveryBatch(Pipeline& pipeline, Change change) {
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) change(demand);
  }
}

void ScaleStage(Pipeline& pipeline, const StageCost& cost, double scale, FirstBatches first) {
  const auto change = [&](Demand& demand) {
    (demand.*cost.batch).wall *= scale;
    (demand.*cost.batch).cpu *= scale;
  };
  OnEveryBatch(pipeline, change);
  for (EpochDemand& epoch : pipeline.epochs) {
    if (first == FirstBatches::kScaled) change(epoch.warm_up);
    if (cost.wall == nullptr) continue;
    for (SampleCost& sample : epoch.samples) {
      sample.*cost.wall *= static_cast<float>(scale);
      sample.*cost.cpu *= static_cast<float>(scale);
    }
  }
}

// Scales the loop's own transforms by `transforms`, and the rest of a step by `others`.
void ScaleStep(Pipeline& pipeline, double transforms, double others) {
  const double share = pipeline.step_transforms;
  const double scale = share * transforms + (1 - share) * others;
  OnEveryBatch(pipeline, [scale](Demand& demand) { demand.step *= scale; });
  pipeline.step_transforms = scale > 0 ? share * transforms / scale : 0;
}

void ScaleTransfer(Pipeline& pipeline, double scale) {
  const auto setup = [scale](LoaderSetup& one) {
    one.overhead *= scale;
    one.asking *= scale;
  };
  setup(pipeline);
  for (LoaderSetup& other : pipeline.beside) setup(other);
  OnEveryBatch(pipeline, [scale](Demand& demand) {
    for (double* time :
         {&demand.put, &demand.feed, &demand.latency, &demand.get, &demand.pin, &demand.next}) {
      *time *= scale;
    }
  });
}

// Workers compute more slowly beside a step that computes, because they share caches, memory and
// often the two hardware threads of a core. A recording with the step does not show by how much. So
// with a shorter step, the rate may be higher than predicted.
void DoubtWorkersBesideStep(Pipeline& pipeline, double scale) {
  // Source: ours, two public programs on two hardware threads (torch.compile and timm), whose steps
  // computed on one and on both of them. Without the step, the workers made 1.6 and 1.2 times as
  // much as predicted.
  constexpr double kMost = 0.65;
  if (pipeline.workers == 0 || !pipeline.step_load_known || scale >= 1) return;
  double steps = 0;
  double making = 0;
  OnEveryBatch(pipeline, [&](Demand& demand) {
    steps += demand.step;
    making += demand.service();
  });
  const double longest = std::max(steps, making / pipeline.workers);
  constexpr double kThreadsPerCore = 2;
  const double shared = std::min(1.0, kThreadsPerCore * pipeline.step_load / pipeline.cores);
  if (longest > 0) {
    pipeline.beside_step =
        std::max(pipeline.beside_step, kMost * (1 - scale) * shared * steps / longest);
  }
}

}  // namespace

bool IsPart(Factor factor) {
  return factor != Factor::kNone && factor != Factor::kCompute && factor != Factor::kStartup &&
         factor != Factor::kPrefetch;
}

std::string_view FactorName(Factor factor) {
  switch (factor) {
    case Factor::kRead:
      return "read";
    case Factor::kDecode:
      return "decode";
    case Factor::kAugment:
      return "augment";
    case Factor::kTokenize:
      return "tokenize";
    case Factor::kCollate:
      return "collate";
    case Factor::kTransfer:
      return "transfer";
    case Factor::kH2d:
      return "h2d";
    case Factor::kCompute:
      return "compute";
    case Factor::kStartup:
      return "startup";
    case Factor::kPrefetch:
      return "prefetch";
    case Factor::kNone:
      break;
  }
  return "none";
}

void ScaleFactor(Pipeline& pipeline, Factor factor, double scale, FirstBatches first) {
  for (const StageCost& cost : kStageCosts) {
    if (cost.factor != factor) continue;
    ScaleStage(pipeline, cost, scale, first);
    if (factor != Factor::kRead) DoubtThreads(pipeline);
  }
  if (factor == Factor::kTransfer) ScaleTransfer(pipeline, scale);
  if (factor == Factor::kH2d)
    OnEveryBatch(pipeline, [scale](Demand& demand) { demand.h2d *= scale; });
  if (factor == Factor::kCompute) {
    DoubtWorkersBesideStep(pipeline, scale);
    ScaleStep(pipeline, 1, scale);
  }
}

void DoubtThreads(Pipeline& pipeline) {
  pipeline.doubt = std::hypot(pipeline.doubt, pipeline.threads_doubt);
  pipeline.threads_doubt = 0;
}

void ScaleLoopTransforms(Pipeline& pipeline, double scale) {
  if (pipeline.step_transforms > 0) ScaleStep(pipeline, scale, 1);
}

void ScaleComputing(Pipeline& pipeline, double scale) {
  const auto work = [scale](Work& one) {
    one.wall += (scale - 1) * std::min(one.cpu, one.wall);
    one.cpu *= scale;
  };
  const auto setup = [&](LoaderSetup& one) {
    one.overhead *= scale;
    one.worker_cpu *= scale;
    for (Work& slower : one.slower) work(slower);
  };
  setup(pipeline);
  for (LoaderSetup& other : pipeline.beside) setup(other);
  // The part of a step that computes, on one thread or several.
  const double load = pipeline.step_load;
  const double computing = std::min(1.0, load);
  const double step = 1 + (scale - 1) * computing;
  OnEveryBatch(pipeline, [&](Demand& demand) {
    for (const auto part : kDemandParts) work(demand.*part);
    for (double* time : {&demand.put, &demand.pin, &demand.next}) *time *= scale;
    demand.feed *= 1 + (scale - 1) * pipeline.setup(demand.loader).feed_share;
    demand.get *= 1 + (scale - 1) * pipeline.setup(demand.loader).get_share;
    demand.step *= step;
  });
  const auto shares = [scale](LoaderSetup& one) {
    for (double* share : {&one.feed_share, &one.get_share}) {
      const double whole = 1 + (scale - 1) * *share;
      if (whole > 0) *share *= scale / whole;
    }
  };
  shares(pipeline);
  for (LoaderSetup& other : pipeline.beside) shares(other);
  if (step > 0) pipeline.step_load = load * scale / step;
  const auto seconds = [scale](float& wall, float& cpu) {
    wall += static_cast<float>(scale - 1) * std::min(cpu, wall);
    cpu *= static_cast<float>(scale);
  };
  for (EpochDemand& epoch : pipeline.epochs) {
    for (const auto part : kDemandParts) work(epoch.warm_up.*part);
    for (double& start : epoch.worker_start) start *= scale;
    epoch.one_more *= scale;
    for (SampleCost& sample : epoch.samples) {
      seconds(sample.read, sample.read_cpu);
      seconds(sample.decode, sample.decode_cpu);
      seconds(sample.augment, sample.augment_cpu);
      seconds(sample.tokenize, sample.tokenize_cpu);
    }
  }
}

}  // namespace penstock::analyzer
