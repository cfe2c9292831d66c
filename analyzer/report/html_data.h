// SPDX-License-Identifier: Apache-2.0
//
// The plots of the HTML report as numbers. A plot without data says in `missing` why it has none,
// except the latencies, which are then empty. Values; building is pure.
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
  std::vector<TimelineSpan> spans;  // by start; if some start together, the longest first
};
// A few batches from the middle of the longest steady window, or of the whole run if there is none.
struct TimelineExcerpt {
  double from = 0;
  double to = 0;
  std::size_t batches = 0;
  std::vector<TimelineRow> rows;  // threads that make the loader's data, then its training loop
  std::size_t left_out = 0;       // such threads beyond the first 16
  bool thinned = false;           // a row had more spans than are shown
  Statement missing;
};

// The prediction for one number of workers at one prefetch depth.
struct CurvePoint {
  int workers = 0;
  Interval rate;                 // 90 %
  std::uint64_t ram = 0;         // bytes, in all
  std::uint64_t of_batches = 0;  // part of `ram`: batches in flight
  bool recorded = false;
  bool suggested = false;
  bool fits = true;
};
struct WorkerCurve {
  std::vector<CurvePoint> points;  // ascending workers
  Statement unit;                  // of the rates
  int prefetch = 0;
  double measured = 0;  // the recorded rate
  Statements notes;
  Statement missing;
  Statement memory_missing;  // why the memory of batches and workers is not known
};

// Bins of equal width on a log scale: bin i is [10^(i/kBinsPerDecade), 10^((i+1)/kBinsPerDecade))
// nanoseconds. The first bin also holds shorter calls, the last one longer ones.
inline constexpr std::size_t kBinsPerDecade = 8;
struct LatencyRow {
  traces::StageId stage = traces::StageId::kNone;
  std::uint64_t count = 0;
  double p50 = 0;  // seconds
  double p99 = 0;
  bool mixed = false;  // as in StageRow: the percentiles fit none of its kinds of calls
  std::vector<std::uint64_t> bins;
};

struct QueueBin {
  double at = 0;    // seconds since the trace began: the middle of the bin
  double mean = 0;  // batches, weighted by time
  double low = 0;
  double high = 0;
};
// Number of batches that are finished and not yet taken, over time.
struct QueueDepth {
  std::vector<QueueBin> bins;
  double width = 0;  // seconds per bin
  int most = 0;      // batches that may be in flight at once
  Statement missing;
};

struct ReportPlots {
  TimelineExcerpt timeline;
  WorkerCurve workers;
  std::vector<LatencyRow> latencies;
  QueueDepth queue;
};

// Cost: one pass over the spans of threads that ran in the excerpt, and the prediction of a grid
//       (PredictGrid()) of up to 19 numbers of workers.
[[nodiscard]] ReportPlots BuildPlots(const traces::Trace& trace, const Report& report);

}  // namespace penstock::analyzer
