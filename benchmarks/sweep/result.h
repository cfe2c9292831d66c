// SPDX-License-Identifier: Apache-2.0
//
// The result of a sweep as plain data, the choices that follow from it, and its files.
//
// JSON, schema "penstock.sweep/1"; keys stay, keys may be added. Rates in samples per second, times
// in seconds. Unknown figures are left out; a cell without runs has no "samples_per_s".
//
//   { "schema": "penstock.sweep/1", "mode": "loader|command|ablation",
//     "subject": ["penstock-load", "DATA", ...],     the command without the varied options
//     "figure": "samples_per_s", "repeats": 3, "interrupted": false,
//     "machine": {"cores": 2, "cpu": "..."},
//     "axes": [{"name": "workers", "values": ["0", "1"]}],
//     "cells": [{"name": "workers:1/batch:64", "values": {"workers": "1", "batch": "64"},
//                "state": "measured|failed|unavailable|pending", "error": "why it failed",
//                "samples_per_s": {"median": 0, "min": 0, "max": 0, "p25": 0, "p75": 0},
//                "runs": [0, 0, 0], "wall_s": 0, "first_batch_s": 0, "bottleneck": "decode",
//                "traces": ["of each run, with --keep"],
//                "of_best": 0.98, "within_noise": false, "seconds_per_sample": 0,
//                "increment_s": 0}],                 the last two in an ablation only
//     "best": "name of a cell", "suggested": "name of a cell", "tie": 0.02 }
//
// CSV: one line for each cell: one column for each axis, then state, median, min, max, p25, p75,
// runs (their number), of_best, within_noise, first_batch_s, error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/sweep/grid.h"
#include "traces/base/result.h"

namespace penstock::sweep {

// One run of one cell. Negative or empty: not known.
struct Measurement {
  double samples_per_s = 0;
  double wall_s = -1;         // of the whole process
  double first_batch_s = -1;  // loader only
  int workers = -1;           // workers of the loader, command only
  std::string bottleneck;     // verdict of the report, command only
  std::string trace;          // absolute path of the recording, if it was kept
};

enum class CellState { kPending, kMeasured, kFailed, kUnavailable };

struct CellResult {
  Cell cell;
  CellState state = CellState::kPending;
  std::string error;                   // one line, for kFailed and kUnavailable
  std::optional<std::size_t> against;  // ablation: the cell to which this one adds something
  std::vector<Measurement> runs;
  ErrorKind kind = ErrorKind::kEnvironment;  // of `error`, for kFailed
};

// The median with quartiles and extremes. Quantiles are interpolated linearly (Hyndman and Fan,
// type 7). With fewer than five runs quartiles say little, so tables show the extremes.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
  double p25 = 0;
  double p75 = 0;
};

// Requires: at least one run.
[[nodiscard]] Spread SpreadOf(const std::vector<Measurement>& runs);

// The chosen cells, as indices.
struct Choice {
  std::size_t best = 0;            // highest median
  std::size_t suggested = 0;       // the cheapest with a median within the tie of the best
  std::vector<bool> as_good;       // by cell: not the best, but its median is within the tie
  std::vector<bool> within_noise;  // by cell: as good, or its runs overlap those of the best
};

struct SweepResult {
  std::string mode = "loader";
  std::vector<std::string> subject;
  unsigned repeats = 0;
  bool interrupted = false;
  double tie = 0.02;
  unsigned threads = 1;  // ablation: threads of the loader
  std::vector<Axis> axes;
  std::vector<CellResult> cells;
};

// The cheapest cell has the fewest workers. Among cells with as many workers it has the least
// memory for batches (batch size times prefetch, and times the workers if each prefetches for
// itself, as in PyTorch), and among these it comes first in the grid. Only cells without a failed
// run count.
//
// nullopt if no cell was measured, and for an ablation, whose cells do different work.
[[nodiscard]] std::optional<Choice> Choose(const SweepResult& result);

// The figures of an ablation for each cell: thread seconds for one sample, and the difference from
// the cell `against`. nullopt if the cell was not measured.
struct Increment {
  double seconds_per_sample = 0;
  std::optional<double> added;
};
[[nodiscard]] std::vector<std::optional<Increment>> Increments(const SweepResult& result);

[[nodiscard]] std::string ToJson(const SweepResult& result);
[[nodiscard]] std::string ToCsv(const SweepResult& result);

}  // namespace penstock::sweep
