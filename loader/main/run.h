// SPDX-License-Identifier: Apache-2.0
//
// One run of the pipeline with a consumer that only counts, hashes and waits for its step. A signal
// ends it early, with what it has measured so far. Call it from main()'s thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loader/main/arguments.h"
#include "loader/main/stop_signals.h"
#include "loader/pipeline/digest.h"
#include "loader/pipeline/stats.h"
#include "loader/source/source.h"
#include "loader/trace/tracer.h"
#include "traces/base/result.h"

namespace penstock::loader {

struct RunResult {
  PipelineStats stats;
  std::string source_kind;
  std::uint64_t dataset = 0;
  std::uint64_t classes = 0;
  double open_s = 0;                // opening the source
  double first_batch_s = 0;         // from the opened source to the first batch
  double seconds = 0;               // from the opened source to the end of the last step
  double steady_samples_per_s = 0;  // without the first batch
  double step_s = 0;                // time in the consumer's steps
  std::optional<double> cached;     // share of the files in the page cache before the run
  std::uint64_t peak_rss = 0;
  unsigned threads = 0;
  StreamPosition next;  // where to resume
  std::vector<EpochDigest> digests;
  bool interrupted = false;

  [[nodiscard]] double samples_per_s() const {
    return seconds > 0 ? static_cast<double>(stats.samples) / seconds : 0;
  }
  // Samples per second of CPU time.
  [[nodiscard]] double samples_per_core() const {
    const double busy = Seconds(stats.worker_cpu);
    return busy > 0 ? static_cast<double>(stats.samples) / busy : 0;
  }
};

// Opens `arguments.source`: a path, or synthetic:COUNT.
Result<std::unique_ptr<Source>> OpenNamedSource(LoadArguments& arguments);

// Errors: those of the pipeline.
Result<RunResult> RunPipeline(const LoadArguments& arguments, const Source& source,
                              const AugmentProgram& program, Tracer& tracer, StopSignals& signals);

}  // namespace penstock::loader
