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
  Statement missing;  // why nothing can be suggested; empty: something was
  Statement note;     // what more workers would change for the network; empty: nothing
  int workers = 0;
  int prefetch = 2;
  bool persistent_workers = false;
  bool changes = false;  // differs from what was recorded
  // The cheapest setting within 2 % of the best, even if it gains nothing.
  int enough_workers = 0;
  int enough_prefetch = 2;
  Prediction predicted;
  Factor next_bottleneck = Factor::kNone;  // BottleneckUnder() of a change, else that of the run
};

// What names the bottleneck of a setting: the beginning of the steady part of a recording.
[[nodiscard]] Pipeline NamingPart(const Pipeline& steady);
// The bottleneck under `setting`, wherever one is told: in a suggestion and in a grid. It is that
// of the steady part. Requires: `naming` comes from NamingPart(). Cost: some ten simulations.
[[nodiscard]] Factor BottleneckUnder(const Pipeline& naming, Setting setting,
                                     const LoaderFacts& facts);

// Workers beyond which none are tried; 0: no other number than the recorded one is.
[[nodiscard]] int MostWorkers(const Pipeline& pipeline, const Budget& budget);

// Cheapest of W in 0..2*cores (up to twice the recorded ones where those mostly wait) and P in {2,
// 4, 8}, 1 where memory allows no more, within 2 % of the best predicted (docs/diagnosis.md 5.3).
// Threads that share a queue: W in 1..2*cores and depths of 2, 4, 8 and 16 batches. The recorded
// setting takes part; on a crowded machine it is the only one, unless there were no workers at all.
//
// No more workers are tried than the dataset has shards for. A setting is left out if its rate
// breaks a law (laws.h), and no workers at all are left out if they only save the start of workers
// that could stay. What does not gain beyond its own interval is not suggested.
//
// Cost: O(8 * cores) simulations.
[[nodiscard]] Suggestion Suggest(const Pipeline& pipeline, const LoaderFacts& facts,
                                 const Replay& replay, const Budget& budget);

}  // namespace penstock::analyzer
