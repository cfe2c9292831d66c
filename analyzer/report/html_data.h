// SPDX-License-Identifier: Apache-2.0
//
// What the plots of the HTML report show, as numbers. Each plot either has data or says in
// `missing`, in a sentence for a person, why there is none. Values; building is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/stats/bootstrap.h"
#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Units: seconds since the trace began.
struct TimelineSpan {
  double from = 0;
  double to = 0;
  traces::StageId stage = traces::StageId::kNone;
  std::uint32_t batch = wire::kNoBatch;
};
struct TimelineRow {
  Statement label;
  std::vector<TimelineSpan> spans;  // by start, longest first
};
// A few batches out of the middle of the steady part, or of all where nothing is steady.
struct TimelineExcerpt {
  double from = 0;
  double to = 0;
  std::size_t batches = 0;
  std::vector<TimelineRow> rows;  // workers, then the training loop
  std::size_t left_out = 0;       // workers beyond the first 16
  bool thinned = false;           // a row had more spans than are shown
  Statement missing;
};

// One number of workers, at one prefetch depth.
struct CurvePoint {
  int workers = 0;
  Interval rate;                 // 90 %
  std::uint64_t ram = 0;         // bytes: all of it
  std::uint64_t of_batches = 0;  // of it: batches on their way
  bool recorded = false;
  bool suggested = false;
  bool fits = true;
};
struct WorkerCurve {
  std::vector<CurvePoint> points;  // ascending workers
  Statement unit;                  // of the rates
  int prefetch = 0;
  double measured = 0;  // rate that was recorded
  Statements notes;
  Statement missing;
  Statement memory_missing;  // nothing tells how large batches and workers are
};

// Bins of equal width on a log scale: bin i is [10^(i/kBinsPerDecade), 10^((i+1)/kBinsPerDecade))
// nanoseconds.
inline constexpr std::size_t kBinsPerDecade = 8;
struct LatencyRow {
  std::string name;
  std::uint64_t count = 0;
  double p50 = 0;  // seconds
  double p99 = 0;
  std::vector<std::uint64_t> bins;
};

struct QueueBin {
  double at = 0;    // seconds since the trace began: the middle of the bin
  double mean = 0;  // batches, weighted by time
  double low = 0;
  double high = 0;
};
// Batches that are finished and not yet taken.
struct QueueDepth {
  std::vector<QueueBin> bins;
  double width = 0;  // seconds of a bin
  int most = 0;      // batches that may be on their way at once
  Statement missing;
};

struct ReportPlots {
  TimelineExcerpt timeline;
  WorkerCurve workers;
  std::vector<LatencyRow> latencies;
  QueueDepth queue;
};

// Cost: one pass over the spans of threads that ran in the excerpt, and up to 40 simulations.
[[nodiscard]] ReportPlots BuildPlots(const traces::Trace& trace, const Report& report);

}  // namespace penstock::analyzer
