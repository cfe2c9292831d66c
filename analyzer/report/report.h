// SPDX-License-Identifier: Apache-2.0
//
// The report: what `penstock report` says, as values and as text or JSON (docs/design.md 6).
// Building and writing are pure; nothing here prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/advice/not_checked.h"
#include "analyzer/advice/rules.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/gpu_counters.h"
#include "analyzer/plan/plan.h"
#include "analyzer/report/coverage.h"
#include "analyzer/report/overrides.h"
#include "analyzer/whatif/tried_changes.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct StageRow {
  std::string name;
  double wall = 0;  // seconds
  double cpu = 0;   // seconds; 0 if not known
  bool cpu_known = false;
  std::uint64_t count = 0;
  double p50 = 0;
  double p99 = 0;
  std::uint64_t bytes = 0;
  // Share of the workers' busy time, or of the loop's: see `of_workers`. Above 1: threads beside
  // them do it.
  double share = 0;
  bool of_workers = false;
  bool mixed = false;  // IsMixed(): its percentiles are those of no kind of call
  // GPUs that do it beside each other: its times are sums over them.
  std::size_t devices = 1;
  std::vector<StageRow> children;
};

struct Report {
  std::string trace;  // path as given
  std::string command;
  double duration = 0;
  Diagnosis diagnosis;
  std::vector<StageRow> stages;
  Findings findings;
  std::vector<NotChecked> not_checked;
  Plan plan;
  std::vector<TriedChange> changes;  // besides the suggestion, the largest gain first
  std::vector<GpuCounters> gpus;
  std::vector<std::pair<std::string, KernelTime>> kernels;  // the dearest ten, by name
  std::string gpu_level;   // what of the GPU was recorded: traces/FORMAT.md; "" not known
  std::string gpu_reason;  // why not more
  std::string gpu_nvml;    // what sampling NVML came to
  // Lines of the program's sources, by file and line: those that the report names, as far as they
  // could be read (ShowSources()).
  std::map<std::pair<std::string, std::uint32_t>, std::string> sources;
  Coverage coverage;
  traces::Losses losses;
  std::vector<OverrideNote> overrides;
  double started = 0;  // seconds since 1970, 0: not known
};

// The command line that was recorded; "" not known.
[[nodiscard]] std::string RecordedCommand(const traces::Trace& trace);

[[nodiscard]] Report BuildReport(const traces::Trace& trace, std::string path);

// Whether workers and data threads are where a stage's time passes.
[[nodiscard]] bool OfWorkers(traces::StageId stage);

// "61 %"; "2.3 thr" of workers' time where that many threads are in it at once.
[[nodiscard]] std::string ShareText(double share, bool of_workers,
                                    Language language = Language::kEnglish);

// "61 %" of a row: of each GPU on average, where several do it.
[[nodiscard]] std::string ShareText(const StageRow& row, Language language = Language::kEnglish);
// "decode"; "h2d, 2 GPUs".
[[nodiscard]] std::string StageText(const StageRow& row, Language language = Language::kEnglish);

// Rows of the stages that occurred, in the order of the data's way.
[[nodiscard]] std::vector<StageRow> BuildStageRows(const traces::Trace& trace, const RunModel& run);

// One object of schema penstock.report/1.
[[nodiscard]] std::string ReportJson(const Report& report);

enum class Colour { kOff, kOn };
// A screenful: losses first, verdict, throughput, stages, workers, findings, suggestion, coverage.
[[nodiscard]] std::string ReportText(const Report& report, Colour colour);
// Five lines: verdict, rate, stages, advice, coverage.
[[nodiscard]] std::string ReportBrief(const Report& report, Colour colour);

// A suggestion as a line to paste: "DataLoader(dataset, batch_size=64, ...)"; "" for a loader whose
// arguments are not known.
[[nodiscard]] std::string LoaderCode(const LoaderConfig& config, const Suggestion& suggestion);
// That of the diagnosis; "" without one.
[[nodiscard]] std::string SuggestedCode(const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
