// SPDX-License-Identifier: Apache-2.0
//
// Everything that is concluded from a run before it is put into words. The rules in advice/ and the
// reports in report/ start from it. Values; the diagnosis does not refer to the trace.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnosis/device_use.h"
#include "analyzer/diagnosis/feed.h"
#include "analyzer/measure/cpu_load.h"
#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/device_activity.h"
#include "analyzer/model/functions.h"
#include "analyzer/model/material.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/sameness.h"
#include "analyzer/model/sample_tail.h"
#include "analyzer/model/steady.h"
#include "analyzer/predict/attribution.h"
#include "analyzer/predict/suggest.h"
#include "analyzer/ranks/rank_summary.h"
#include "analyzer/simulate/pipeline.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// Signs of trouble that a mean hides. Fractions, unless noted; 0 where they do not apply.
struct Signals {
  double head_of_line = 0;  // share of the wait in which a later batch was finished
  double worker_busy = 0;   // share of the workers' time spent in fetches, in the steady windows;
                            // if Diagnosis::whole_run, of the workers' lives
  double worker_idle = 0;   // share of the workers' time spent waiting for an index, over the
                            // whole recording
  double wall_per_cpu = 0;  // wall over CPU time of fetches; 1: all computing; 0: not known
  double batch_variation = 0;  // standard deviation over mean of the fetch times
  double startup = 0;          // share of the run: making iterators, waiting for first batches
  double startup_time = 0;     // seconds
};

struct LoaderDiagnosis {
  SteadyState steady;
  DeviceActivity device;  // in the steady windows
  CpuLoad cpu;
  Signals signals;
  SampleTail sample_tail;
  Pipeline pipeline;  // predictions start from it; for a long run it holds only the beginning
  LoaderFacts facts;
  MemoryModel memory;
  Material material;
  Replay replay;
  Attribution attribution;
  bool starts_once = false;  // only the first epoch has start-up (StartOnce())
  Suggestion suggestion;
  Sharding sharding = Sharding::kByIndex;
  double fetched = 0;  // fraction of the delivered batches whose fetch was recorded
};

// A replay with a larger error does not explain the run: then nothing is predicted, and the verdict
// names no gain. Replays have such errors, for example, if other programs come and go. From 5 % on
// the verdict names the error, and any error lowers the confidence.
inline constexpr double kUselessReplay = 0.2;
// With less confidence, a verdict on what was not seen is only a guess.
inline constexpr double kLittleConfidence = 0.2;
// Why no other setting can be predicted from this recording; empty if it can.
[[nodiscard]] Statement Missing(const LoaderDiagnosis& loader, const LoaderRun& run);

// The pipeline as a longer run repeats it: without start-up that comes only once.
[[nodiscard]] Pipeline OfLongerRun(const LoaderDiagnosis& loader);

// Whether the figures of `loader` come from a simulation of how the loop uses its loaders.
[[nodiscard]] bool IsSimulated(const LoaderDiagnosis& loader, const LoaderRun& run);
// How the delivered samples change with more workers than `recorded`: with an iterable dataset,
// each worker may deliver every sample. Empty if they do not change, or if `workers` is at most
// `recorded`.
[[nodiscard]] Statement NoteOnWorkers(Sharding sharding, int recorded, int workers);

// The suggestion for a loader that the same training process uses beside the main one.
struct OtherLoader {
  std::size_t loader = 0;  // index into RunModel::loaders
  Suggestion suggestion;   // its figures refer to this loader's own base
  bool whole_run = false;  // as in Diagnosis
};

struct Diagnosis {
  RunModel run;
  RankSummary ranks;
  std::optional<LoaderDiagnosis> loader;  // for run.loader(); nullopt: no loader delivered batches
  Factor bottleneck = Factor::kNone;
  // Speed-ups if one factor cost nothing. They refer to the base, except that the speed-up of
  // start-up always refers to the whole run.
  std::vector<Gain> gains;
  double samples_rate = 0;  // samples per second, of the steady part if there is one
  double batch_rate = 0;
  double whole_rate = 0;     // samples per second over the whole run, start-up included
  double ceiling = 0;        // on the base: the rate if all data cost nothing; 0: not known
  double wait_fraction = 0;  // of the loop's steady part; if `whole_run`, of the whole loop
  // Start-up recurs and matters: figures are for the whole run, not for its steady part.
  bool whole_run = false;
  double confidence = 0;
  Statement summary;
  Statement needs;            // why no figure is predicted from this recording; empty if some are
  DevicesUse devices;         // without a loader and data stages: what the devices did
  Feed feed;                  // without a loader: who makes the data, and who waits for it
  bool samples_known = true;  // without a loader; false: the rate counts decoded images
  std::vector<OtherLoader> others;  // in the main loader's process; eight at most
  FunctionProfiles functions;

  // The rate that speed-ups refer to: `samples_rate`, or `whole_rate` if start-up counts.
  [[nodiscard]] double base_rate() const { return whole_run ? whole_rate : samples_rate; }
  // The same with the interval of the steady part; a whole run has no interval.
  [[nodiscard]] Interval base_interval() const {
    const double base = base_rate();
    return loader && !whole_run ? loader->steady.rate : Interval{base, base, base};
  }
  // How many times as fast the run would be if all data cost nothing.
  [[nodiscard]] double headroom() const {
    return ceiling > 0 && base_rate() > 0 ? ceiling / base_rate() : 1;
  }
  // Whether the run would be faster still than the ceiling says: a part of the recorded step waits
  // for the data of other ranks, which would cost nothing either.
  [[nodiscard]] bool ceiling_is_least() const;
};

// Why nothing can be predicted from this recording; empty if it can.
[[nodiscard]] Statement NotEnough(const Diagnosis& diagnosis);

// `loader` names the loader to diagnose as the main one ("train.py:88", as in the report's
// `loaders`); "": the loader that the loop waits for most.
// Cost: as BuildRunModel(), plus simulations of O(batches) for each loader of the process.
[[nodiscard]] Diagnosis Diagnose(const traces::Trace& trace, std::string_view loader = {});

// Why `loader` cannot be chosen in this run; empty if it can, or if no name is given.
[[nodiscard]] Statement UnknownLoader(const RunModel& run, std::string_view loader);

}  // namespace penstock::analyzer
