// SPDX-License-Identifier: Apache-2.0
//
// Ranks that train together, with everything known that the analyzer must find again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/analyzer/synthetic.h"
#include "traces/trace.h"

namespace penstock::analyzer::testing {

// A loop as data-parallel training has it: each rank waits for its data and computes; all leave the
// collective together, and do something of their own after it. Times in milliseconds.
struct Ranked {
  int ranks = 2;
  int batches = 100;  // of each of `epochs`
  int epochs = 1;
  double compute = 10;
  double collective = 1;
  bool together = true;  // false: nobody waits for anybody
  int workers = 2;
  bool kernels = false;  // the collective is one of a device, and ends when all leave it
  std::function<double(int rank, int iteration)> wait = [](int, int) { return 1.0; };
  std::function<double(int rank, int iteration)> after = [](int, int) { return 0.2; };
};

// Rank 2 of four waits 6 ms in each iteration, the others 1 ms.
[[nodiscard]] Ranked OneIsSlow();

// The clock of one rank's trace: what it shows when the true one shows t is t + skew + drift * t.
struct Skew {
  double offset_s = 0;
  double drift = 0;
  std::string boot = "one";
  std::string host = "node0";
  std::int64_t wall_error_ns = 0;  // of its CLOCK_REALTIME
  std::int64_t namespace_ns = 0;   // of `offset_s`, the part that a time namespace says
};

// What one recorder on each of the ranks would have written.
[[nodiscard]] traces::TraceData TraceOfRank(const Ranked& run, int rank, const Skew& skew = {});

// `other` beside `data` as one recorder of both would have it; its pids are moved by `pids`.
void AddBeside(traces::TraceData& data, traces::TraceData other, std::uint32_t pids);

// One recorder of all ranks of one host.
[[nodiscard]] traces::TraceData TraceOfAll(const Ranked& run);

// `ranks` synthetic loaders side by side on one host, each with its place in the facts.
[[nodiscard]] traces::TraceData SideBySide(const Synthetic& each, int ranks);

}  // namespace penstock::analyzer::testing
