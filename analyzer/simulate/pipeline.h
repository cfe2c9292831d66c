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
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

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

// How busy the cores were while the loader ran steadily.
struct CpuLoad {
  double cores = 1;      // usable: by affinity and quota; of all recorded ranks of the host
  double own_cores = 1;  // of one rank: its equal part, or what it had of the others'
  // Wall over CPU time of decoding, which has nothing to wait for but a core; 0: not known.
  double squeeze = 0;
  bool crowded = false;  // squeezed although the recorded processes left cores free
  double others = 0;     // threads of other programs that would explain it
  double used = 0;       // CPU seconds per second of all traced processes of our host
  // By the kernel's account, where it was recorded: of what workers wait (wall minus CPU) in reads
  // and in the other parts of batches, that for a core; and of all the time that batches take.
  bool delays_known = false;
  double delayed_reads = 0;
  double delayed_rest = 0;
  double core_wait = 0;
  bool known = false;
  bool from_counters = false;  // else from spans: a lower bound

  [[nodiscard]] double saturation() const { return cores > 0 ? used / cores : 0; }
};

// Waiting for a core is in proportion to computing; waiting for a clock or a device is not. So the
// samples' decoding times tell them apart: its slope over their CPU times is the squeeze, if they
// differ enough for a slope. Else all of the wall time counts, up to twenty times the CPU time.
[[nodiscard]] CpuLoad MeasureCpuLoad(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

// CPU seconds per second of the processes of `role` (nullopt: all) within the windows of all
// epochs: not the imports of workers that start. nullopt: not recorded.
[[nodiscard]] std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                                 std::optional<wire::ProcessRole> role);

// The recorded configuration of `run`, with the services that were seen. `load`: of the same run.
[[nodiscard]] Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady, const CpuLoad& load);

// At most about `batches` batches and `tasks` samples of a pipeline, start-up in proportion: for
// searches, which need not see all of a long run.
[[nodiscard]] Pipeline Shortened(const Pipeline& pipeline, std::size_t batches, std::size_t tasks);

// Only what lies in the steady windows, as one epoch that needs no start-up.
[[nodiscard]] Pipeline SteadyPart(const Pipeline& pipeline);

}  // namespace penstock::analyzer
