// SPDX-License-Identifier: Apache-2.0
//
// Lets Google Benchmark order the runs. Every cell is a benchmark, and each repetition is one run
// in a process of its own. Repetitions of all cells are interleaved in random order, so that drifts
// affect all of them equally. The flags of Google Benchmark work: --benchmark_filter chooses cells,
// --benchmark_list_tests names them, --benchmark_out writes its JSON or CSV. Call this once.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/sweep/session.h"
#include "traces/base/result.h"

namespace penstock::sweep {

struct DriverOptions {
  unsigned repeats = 3;
  unsigned warmup = 1;
  std::vector<std::string> flags;  // --benchmark_...
};

struct Driven {
  bool listed = false;      // names were listed and nothing was measured
  bool own_format = false;  // --benchmark_format: Google Benchmark has printed its own table
};

// Runs the sweep. Cells that the filter leaves out stay pending.
//
// Errors: kUsage for a flag that Google Benchmark does not know; the errors of Session.
Result<Driven> Drive(SweepResult& result, Session& session, const DriverOptions& options);

}  // namespace penstock::sweep
