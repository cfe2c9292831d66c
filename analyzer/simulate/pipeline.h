// SPDX-License-Identifier: Apache-2.0
//
// What a recorded loader had to do, apart from how it was set up: the costs of every batch as they
// were seen, in their order, and the settings that the simulator runs them under. Values; no clock,
// no randomness. Units: seconds everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/batch.h"

namespace penstock::analyzer {

struct Demand {
  Work read, decode, augment, tokenize, collate, other;  // wall without contention
  double put = 0;                                        // in the worker, before its next batch
  double feed = 0;     // in the thread that feeds the worker's queue, beside its next batch
  double latency = 0;  // from there to where the consumer can take it
  double get = 0;      // unpickling, in order of arrival: in next(), or in the pin thread
  double pin = 0;
  double next = 0;  // in next(), for every batch handed out, besides waiting and getting
  double step = 0;  // between two batches, without h2d
  double h2d = 0;
  double samples = 1;
  std::uint32_t loader = 0;      // 0: the pipeline's own, else Pipeline::beside[loader - 1]
  bool counted = true;           // its interval lies in the steady window
  std::size_t first_sample = 0;  // in EpochDemand::samples, where Pipeline::sample_tasks
  std::size_t tasks = 0;

  [[nodiscard]] double service() const {
    return read.wall + decode.wall + augment.wall + tokenize.wall + collate.wall + other.wall;
  }
  [[nodiscard]] double cpu() const {
    return read.cpu + decode.cpu + augment.cpu + tokenize.cpu + collate.cpu + other.cpu;
  }
  // What rates count: samples of the pipeline's own loader.
  [[nodiscard]] double own_samples() const { return loader == 0 ? samples : 0; }
};

// What a batch is made of.
inline constexpr std::array<Work Demand::*, 6> kDemandParts = {&Demand::read,    &Demand::decode,
                                                               &Demand::augment, &Demand::tokenize,
                                                               &Demand::collate, &Demand::other};
// Wall and CPU time of all of it.
void ScaleParts(Demand& demand, double scale);

struct EpochDemand {
  std::vector<Demand> batches;
  std::vector<SampleCost> samples;   // only where Pipeline::sample_tasks
  std::vector<double> worker_start;  // by worker: when it took its first index; amortised
  bool ended = false;                // the recording saw its end: its start-up recurs
  double one_more = 0;  // by which all workers start later for each one more than was seen
  double stop = 0;      // that ending it takes for each worker
  Demand warm_up;       // its parts: what each worker's first batch takes beyond an ordinary one
};

// For how long the loop loses its core when it sends a worker an index and all cores compute: about
// a slice of Linux's scheduler, for which the worker that it woke runs. Source: ours, medians of
// 1.7 to 1.8 ms on two cores (Linux 6.18), two workers that decode beside steps of 35 ms.
inline constexpr double kPreempted = 1.8e-3;

// How one loader hands its batches over.
struct LoaderSetup {
  int workers = 0;
  int prefetch = 2;  // batches per worker; where `sample_tasks`, batches in all
  bool in_order = true;
  bool pin_thread = false;   // receives and pins, beside the consumer
  double overhead = 0;       // of a worker, before each batch (or sample)
  double feed_share = 1;     // of Demand::feed, what computes; the rest waits
  double get_share = 1;      // likewise of Demand::get
  double asking = 0;         // besides get, of a batch whose worker makes another one meanwhile
  double worker_cpu = 0;     // CPU of a worker outside fetch, per batch
  double batch_bytes = 0;    // of those beside: of one collated batch; 0: not known
  bool pinned = false;       // likewise: whether its batches are pinned, with workers or without
  std::vector<Work> slower;  // by worker: what it takes for each sample beyond the others
};

// Batches that it may have on their way, of worker processes.
[[nodiscard]] std::size_t CreditsOf(const LoaderSetup& setup);

// All of a pipeline but its batches.
struct PipelineSetup : LoaderSetup {
  bool sample_tasks = false;  // threads fill a batch together, sample by sample
  double cores = 1;
  double step_load = 0;           // CPU seconds per second of step; above 1: several threads
  bool step_load_known = false;   // the step was long enough to tell
  double preempted = kPreempted;  // as measured, where that could be told
  double doubt = 0;               // share by which what was assumed may have its rate wrong
  double step_transforms = 0;     // of Demand::step: transforms of whole batches in the loop
  double others = 0;              // threads of other programs that compute all the time
  double device_per_sample = 0;   // of a read: seconds of storage that serves one at a time
  bool turns = false;             // it serves sample by sample, and the sample's work follows each
  std::size_t skipped = 0;        // batches of the recording before its first one
  bool crowded = false;  // `cores` is what other programs left: other settings get other shares
  // Loaders that the loop drains together with this one: the demands are those of all of them, in
  // the order in which the loop takes the batches.
  std::vector<LoaderSetup> beside;
};

struct Pipeline : PipelineSetup {
  std::vector<EpochDemand> epochs;

  [[nodiscard]] std::size_t batches() const;
  // Batches that may be on their way, of all loaders.
  [[nodiscard]] std::size_t credits() const;
  [[nodiscard]] std::size_t all_workers() const;
  [[nodiscard]] const LoaderSetup& setup(std::size_t loader) const {
    return loader == 0 ? *this : beside[loader - 1];
  }
};

// The batches of all epochs, in their order.
[[nodiscard]] std::vector<Demand*> BatchesOf(Pipeline& pipeline);

// At most about `batches` batches and `tasks` samples of a pipeline, start-up in proportion: for
// searches, which need not see all of a long run.
[[nodiscard]] Pipeline Shortened(const Pipeline& pipeline, std::size_t batches, std::size_t tasks);

// Without its first `batches` ones: a run that goes on. The first ones that are left fill its
// queues again, and are not counted. Requires: at least one batch is left.
[[nodiscard]] Pipeline Without(const Pipeline& pipeline, std::size_t batches);

// Only what lies in the steady windows, as one epoch that needs no start-up.
[[nodiscard]] Pipeline SteadyPart(const Pipeline& pipeline);

}  // namespace penstock::analyzer
