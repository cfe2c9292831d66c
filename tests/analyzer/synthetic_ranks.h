// SPDX-License-Identifier: Apache-2.0
//
// Ranks that train together. All their costs are known, and the analyzer must find them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/analyzer/synthetic.h"
#include "traces/trace.h"

namespace penstock::analyzer::testing {

// The loop of data-parallel training. Each rank waits for its data and computes. All ranks leave
// the collective together. Then each rank continues its step alone. Units: milliseconds.
struct Ranked {
  int ranks = 2;
  int batches = 100;  // of each of `epochs`
  int epochs = 1;
  double compute = 10;
  double collective = 1;
  bool together = true;  // false: ranks do not wait for each other
  int workers = 2;
  bool kernels = false;  // the collective is a device's kernel, which ends when all leave it
  std::function<double(int rank, int iteration)> wait = [](int, int) { return 1.0; };
  std::function<double(int rank, int iteration)> after = [](int, int) { return 0.2; };
};

// Rank 2 of four waits 6 ms in each iteration, the others 1 ms.
[[nodiscard]] Ranked OneIsSlow();

// The clock of one rank's trace: `t` seconds after the first iteration began, it is ahead of the
// true clock by offset_s + drift * t.
struct Skew {
  double offset_s = 0;
  double drift = 0;
  std::string boot = "one";
  std::string host = "node0";
  std::int64_t wall_error_ns = 0;  // error of its CLOCK_REALTIME
  std::int64_t namespace_ns = 0;   // the part of `offset_s` that a time namespace causes
};

// What the recorder of one rank would have written.
[[nodiscard]] traces::TraceData TraceOfRank(const Ranked& run, int rank, const Skew& skew = {});

// Adds `other` to `data`, as if one recorder had written both. `pids` is added to the pids of
// `other`.
void AddBeside(traces::TraceData& data, traces::TraceData other, std::uint32_t pids);

// What one recorder of all ranks on one host would have written.
[[nodiscard]] traces::TraceData TraceOfAll(const Ranked& run);

// `ranks` synthetic loaders side by side on one host, each with its place in the facts.
[[nodiscard]] traces::TraceData SideBySide(const Synthetic& each, int ranks);

}  // namespace penstock::analyzer::testing
