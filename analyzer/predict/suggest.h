// SPDX-License-Identifier: Apache-2.0
//
// Searches loader settings in the simulator. Values; pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/model/loader_memory.h"
#include "analyzer/predict/attribution.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

struct Suggestion {
  Statement missing;  // why nothing can be suggested; empty: a setting is suggested
  Statement note;     // how more workers change the data that the network gets; empty: not at all
  int workers = 0;
  int prefetch = 2;
  bool persistent_workers = false;
  bool changes = false;  // the suggestion differs from the recorded setting
  // The cheapest setting within 2 % of the best, even if it gains nothing.
  int enough_workers = 0;
  int enough_prefetch = 2;
  Prediction predicted;
  Factor next_bottleneck = Factor::kNone;  // under this setting
};

// The part of a recording that is simulated to name the bottleneck of a setting: the beginning of
// its steady part.
[[nodiscard]] Pipeline NamingPart(const Pipeline& steady);
// The bottleneck of the steady part under `setting`, as suggestions and grids name it.
// Requires: `naming` comes from NamingPart(). Cost: some ten simulations.
[[nodiscard]] Factor BottleneckUnder(const Pipeline& naming, Setting setting,
                                     const LoaderFacts& facts);

// The largest number of workers to try, at most 128; 0: only the recorded number.
[[nodiscard]] int MostWorkers(const Pipeline& pipeline, const Budget& budget);

// The cheapest setting within 2 % of the best predicted one (docs/diagnosis.md 5.3). Tries 0 to
// MostWorkers() workers, which is usually twice the number of cores, with a depth of 2, 4 and 8, or
// 1 if memory has no room for more. Threads that share a queue: tries 1 to MostWorkers() threads
// with depths of 2, 4, 8 and 16 batches. The recorded setting takes part. On a crowded machine no
// other number of workers is tried, unless the recorded setting has no workers.
//
// More workers than the dataset has shards for are not tried. A setting whose rate breaks a law
// (laws.h) is left out if this rate exceeds the recorded rate by more than 15 %. Otherwise it
// counts as no faster than the recording. Running without workers is left out if it only saves the
// start of workers that could be persistent. A setting is not suggested if the low end of its
// confidence interval is no faster than the recorded setting.
//
// Cost: up to six simulations for each number of workers.
[[nodiscard]] Suggestion Suggest(const Pipeline& pipeline, const LoaderFacts& facts,
                                 const Replay& replay, const Budget& budget);

}  // namespace penstock::analyzer
