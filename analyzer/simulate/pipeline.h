// SPDX-License-Identifier: Apache-2.0
//
// The loader model: the costs of every batch of a recorded loader, in order, and the settings under
// which the simulator runs it. Values; no clock, no randomness. Units: seconds everywhere.
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
  double latency = 0;  // from the end of feed until the loop can take the batch
  double get = 0;      // unpickling, in order of arrival: in next(), or in the pin thread
  double pin = 0;
  double next = 0;  // in next(), for every batch, besides the waiting and the get
  double step = 0;  // between two batches, without h2d
  double h2d = 0;
  double samples = 1;
  std::uint32_t loader = 0;      // 0: the main loader, else Pipeline::beside[loader - 1]
  bool counted = true;           // its interval lies in the steady window
  std::size_t source = 0;        // index of the recorded batch that has these costs
  std::size_t first_sample = 0;  // index into EpochDemand::samples, if Pipeline::sample_tasks
  std::size_t tasks = 0;         // number of samples from there; batches may share them

  [[nodiscard]] double service() const {
    return read.wall + decode.wall + augment.wall + tokenize.wall + collate.wall + other.wall;
  }
  [[nodiscard]] double cpu() const {
    return read.cpu + decode.cpu + augment.cpu + tokenize.cpu + collate.cpu + other.cpu;
  }
  // The samples that rates count: those of the main loader.
  [[nodiscard]] double own_samples() const { return loader == 0 ? samples : 0; }
};

// The parts of making a batch.
inline constexpr std::array<Work Demand::*, 6> kDemandParts = {&Demand::read,    &Demand::decode,
                                                               &Demand::augment, &Demand::tokenize,
                                                               &Demand::collate, &Demand::other};
// Scales wall and CPU time of all parts.
void ScaleParts(Demand& demand, double scale);

struct EpochDemand {
  std::vector<Demand> batches;
  std::vector<SampleCost> samples;  // only if Pipeline::sample_tasks
  // By worker: the time from the start of the epoch to the worker's first index. If the end of the
  // epoch was not recorded, this time is scaled by the recorded share of its batches.
  std::vector<double> worker_start;
  bool ended = false;   // the recording saw the epoch end, so start-up recurs
  double one_more = 0;  // delay of all workers' start for each worker beyond the recorded number
  double stop = 0;      // time to end the epoch, for each worker
  Demand warm_up;       // only its parts are set: the extra cost of each worker's first batch
};

// How long the loop loses its core when it sends an index to a worker while all cores compute. The
// woken worker keeps the core for about a time slice of Linux's scheduler. Source: ours, medians of
// 1.7 to 1.8 ms on two cores (Linux 6.18), two workers that decode beside steps of 35 ms.
inline constexpr double kPreempted = 1.8e-3;

// How one loader hands its batches over.
struct LoaderSetup {
  int workers = 0;
  // Batches per worker. If `sample_tasks`: batches of all threads together, including the one that
  // the loop uses.
  int prefetch = 2;
  bool in_order = true;
  bool pin_thread = false;   // receives and pins batches in parallel with the loop
  double overhead = 0;       // time of a worker before each batch (or sample)
  double feed_share = 1;     // share of Demand::feed that computes; the rest waits
  double get_share = 1;      // the same for Demand::get
  double asking = 0;         // extra time of a get while its worker makes another batch
  double worker_cpu = 0;     // CPU of a worker outside fetch, per batch
  double batch_bytes = 0;    // for loaders in `beside`: bytes of one collated batch; 0: not known
  bool pinned = false;       // for loaders in `beside`: its batches are pinned
  std::vector<Work> slower;  // by worker: extra time for each sample, beyond the other workers
};

// The number of batches that may be in flight, for a loader with worker processes.
[[nodiscard]] std::size_t CreditsOf(const LoaderSetup& setup);

// A pipeline without its batches.
struct PipelineSetup : LoaderSetup {
  bool sample_tasks = false;  // threads fill a batch together, sample by sample
  double cores = 1;
  double step_load = 0;          // CPU seconds per second of step; above 1: several threads
  bool step_load_known = false;  // the step was long enough to tell
  // Share of Demand::step in which workers had the loop's core, beyond what the simulator adds.
  double step_delay = 0;
  double preempted = kPreempted;  // the measured value, if there is one
  double doubt = 0;               // fraction by which assumptions may make the rate wrong
  // Fraction by which the rate may also be higher than predicted: the CPU times of workers were
  // measured beside a step that computed, and the step is shorter now.
  double beside_step = 0;
  // DoubtThreads() adds this to `doubt` if the number of workers or the costs of their work change:
  // how long a worker waits for its own threads depends on the cores that these threads get.
  double threads_doubt = 0;
  bool worker_threads = false;   // the dataset's own threads make samples in the workers
  bool threads_moved = false;    // the dataset's own threads are in the training process now, which
                                 // is not simulated
  bool own_processes = false;    // MadeByOwnProcesses()
  bool processes_moved = false;  // workers would need such processes now, which is not simulated
  // CPU seconds for each batch of a library's pool in a training process that makes its batches
  // itself. In a part of this time the pool shares the work of the fetching thread; in the rest it
  // spins.
  double pool_cpu = 0;
  double step_transforms = 0;  // share of Demand::step: transforms of whole batches in the loop
  double others = 0;           // number of threads of other programs that compute all the time
  double device_per_sample =
      0;                    // part of a read: seconds of storage that serves one read at a time
  bool turns = false;       // reads take turns: a worker reads and computes sample by sample
  std::size_t skipped = 0;  // number of recorded batches before the first one of the pipeline
  bool crowded = false;     // other programs share the cores, so other settings get another share
                            // of them
  // Loaders that the loop uses together with the main one. If there are any, EpochDemand::batches
  // holds the batches of all loaders, in the order in which the loop takes them.
  std::vector<LoaderSetup> beside;
};

struct Pipeline : PipelineSetup {
  std::vector<EpochDemand> epochs;

  [[nodiscard]] std::size_t batches() const;
  // The number of batches of all loaders that may be in flight.
  [[nodiscard]] std::size_t credits() const;
  [[nodiscard]] std::size_t all_workers() const;
  [[nodiscard]] const LoaderSetup& setup(std::size_t loader) const {
    return loader == 0 ? *this : beside[loader - 1];
  }
};

// The batches of all epochs, in order.
[[nodiscard]] std::vector<Demand*> BatchesOf(Pipeline& pipeline);

// The first batches of a pipeline: at most `batches`, with about `tasks` samples in all, and
// start-up in proportion. If none of these batches is counted, the part goes on up to `batches`
// batches after the first counted one begins. For searches, which need not simulate all of a long
// run.
[[nodiscard]] Pipeline Shortened(const Pipeline& pipeline, std::size_t batches, std::size_t tasks);

// The pipeline without its first `batches` batches, as a run that has already started. The first
// batches of the rest fill the queues again and are not counted. Requires: at least one batch is
// left.
[[nodiscard]] Pipeline Without(const Pipeline& pipeline, std::size_t batches);

// Only the batches in the steady windows, as one epoch without start-up.
[[nodiscard]] Pipeline SteadyPart(const Pipeline& pipeline);

}  // namespace penstock::analyzer
