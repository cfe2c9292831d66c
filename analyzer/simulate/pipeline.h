// SPDX-License-Identifier: Apache-2.0
//
// What a recorded loader had to do, apart from how it was set up: the costs of every batch as they
// were seen, in their order, and the settings that the simulator runs them under. Values; no clock,
// no randomness. Units: seconds everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/model/batch.h"

namespace penstock::analyzer {

struct Demand {
  Work read, decode, augment, collate, other;  // wall without contention
  double put = 0;                              // in the worker, before its next batch
  double feed = 0;     // in the thread that feeds the worker's queue, beside its next batch
  double latency = 0;  // from there to where the consumer can take it
  double get = 0;      // unpickling, in order of arrival: in next(), or in the pin thread
  double pin = 0;
  double next = 0;  // in next(), for every batch handed out, besides waiting and getting
  double step = 0;  // between two batches, without h2d
  double h2d = 0;
  double samples = 1;
  bool counted = true;           // its interval lies in the steady window
  std::size_t first_sample = 0;  // in EpochDemand::samples, where Pipeline::sample_tasks
  std::size_t tasks = 0;

  [[nodiscard]] double service() const {
    return read.wall + decode.wall + augment.wall + collate.wall + other.wall;
  }
  [[nodiscard]] double cpu() const {
    return read.cpu + decode.cpu + augment.cpu + collate.cpu + other.cpu;
  }
};

// What a batch is made of.
inline constexpr std::array<Work Demand::*, 5> kDemandParts = {
    &Demand::read, &Demand::decode, &Demand::augment, &Demand::collate, &Demand::other};
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

struct Pipeline {
  int workers = 0;
  int prefetch = 2;  // batches per worker; where `sample_tasks`, batches in all
  bool in_order = true;
  bool pin_thread = false;    // receives and pins, beside the consumer
  bool sample_tasks = false;  // threads fill a batch together, sample by sample
  double cores = 1;
  double overhead = 0;           // of a worker, before each batch (or sample)
  double feed_share = 1;         // of Demand::feed, what computes; the rest waits
  double get_share = 1;          // likewise of Demand::get
  double step_load = 0;          // CPU seconds per second of step; above 1: several threads
  bool step_load_known = false;  // the step was long enough to tell
  double worker_cpu = 0;         // CPU of a worker outside fetch, per batch
  double others = 0;             // threads of other programs that compute all the time
  double device_per_sample = 0;  // of a read: seconds of storage that serves one at a time
  bool turns = false;            // it serves sample by sample, and the sample's work follows each
  std::vector<Work> slower;      // by worker: what it takes for each sample beyond the others
  bool crowded = false;  // `cores` is what other programs left: other settings get other shares
  std::vector<EpochDemand> epochs;

  [[nodiscard]] std::size_t batches() const;
  [[nodiscard]] std::size_t credits() const;
};

// At most about `batches` batches and `tasks` samples of a pipeline, start-up in proportion: for
// searches, which need not see all of a long run.
[[nodiscard]] Pipeline Shortened(const Pipeline& pipeline, std::size_t batches, std::size_t tasks);

// Only what lies in the steady windows, as one epoch that needs no start-up.
[[nodiscard]] Pipeline SteadyPart(const Pipeline& pipeline);

}  // namespace penstock::analyzer
