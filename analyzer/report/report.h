// SPDX-License-Identifier: Apache-2.0
//
// The report: the content of `penstock report`, as values and as text or JSON (docs/design.md 6).
// Building and writing are pure; nothing here prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/advice/not_checked.h"
#include "analyzer/advice/rules.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/gpu_counters.h"
#include "analyzer/model/requests.h"
#include "analyzer/model/slow_batches.h"
#include "analyzer/model/stalls.h"
#include "analyzer/plan/plan.h"
#include "analyzer/report/coverage.h"
#include "analyzer/report/overrides.h"
#include "analyzer/whatif/probes.h"
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
  // Share of the time that StageWholes has for the stage. Above 1: several threads are in the stage
  // at once.
  double share = 0;
  bool of_workers = false;
  traces::StageId stage = traces::StageId::kNone;
  bool rest = false;   // of a child: UnnamedTime(), which is no call
  bool mixed = false;  // IsMixed(): its percentiles fit none of its kinds of calls
  // Number of GPUs that do the stage in parallel for one rank. The times of the row are sums over
  // these GPUs, and over the ranks.
  std::size_t devices = 1;
  std::vector<StageRow> children;
};

struct Report {
  std::string trace;  // its path as given
  std::string command;
  double duration = 0;
  Diagnosis diagnosis;
  std::vector<StageRow> stages;
  Findings findings;
  std::vector<NotChecked> not_checked;
  Plan plan;
  std::vector<TriedChange> changes;  // other than the suggestion, the largest gain first
  Probes probes;                     // experiments inside the run
  std::vector<GpuCounters> gpus;
  std::vector<std::pair<std::string, KernelTime>>
      kernels;             // the ten most expensive ones, with their names
  std::string gpu_level;   // how much of the GPU was recorded: traces/FORMAT.md; "": not known
  std::string gpu_reason;  // why not more was recorded
  std::string gpu_nvml;    // how sampling NVML went
  // The share of its time that the program spent on recording calls; nullopt: none was recorded.
  std::optional<double> following_cost;
  ComparedBatches compared_batches;
  std::optional<SlowBatches> slow_batches;
  std::vector<Stalls> stalls;          // the line with the most time first
  std::vector<HostRequests> requests;  // the host with the most waiting first
  // The source lines that the report names, by file and line number, if they could be read
  // (ShowSources()).
  std::map<std::pair<std::string, std::uint32_t>, std::string> sources;
  Coverage coverage;
  traces::Losses losses;
  std::vector<OverrideNote> overrides;
  double started = 0;  // seconds since 1970; 0: not known
};

// The recorded command line; "": not known. Quoted for a shell, except in a recording of the agent
// alone.
[[nodiscard]] std::string RecordedCommand(const traces::Trace& trace);

// `loader`: as in Diagnose().
[[nodiscard]] Report BuildReport(const traces::Trace& trace, std::string path,
                                 std::string_view loader = {});

// Whether the time of a stage passes in workers and data threads.
[[nodiscard]] bool OfWorkers(traces::StageId stage);

// "61 %", "< 0.1 %"; "2.3 thr" if that many threads are in the stage at once; "1.2 streams" of a
// device.
[[nodiscard]] std::string ShareText(double share, traces::StageId stage,
                                    Language language = Language::kEnglish);

// The share of a row: "61 %". If several GPUs do the stage, the mean of one GPU.
[[nodiscard]] std::string ShareText(const StageRow& row, Language language = Language::kEnglish);
// The name of a row: "decode" or "h2d, 2 GPUs".
[[nodiscard]] std::string StageText(const StageRow& row, Language language = Language::kEnglish);

// The head of the names of all rows: they have the time of all ranks together.
[[nodiscard]] std::string StageHead(const Report& report, Language language = Language::kEnglish);

// Rows of the stages that occurred, in the order in which data passes through them.
[[nodiscard]] std::vector<StageRow> BuildStageRows(const traces::Trace& trace, const RunModel& run);

// One object of schema penstock.report/1.
[[nodiscard]] std::string ReportJson(const Report& report);

enum class Colour { kOff, kOn };
enum class Detail { kUsual, kAll };  // kAll: all details; the last line of kUsual names the rest
// Lines of at most 80 columns (kColumns): losses first, verdict, plan, findings, suggestion,
// throughput, stages, functions, coverage.
[[nodiscard]] std::string ReportText(const Report& report, Colour colour,
                                     Detail detail = Detail::kUsual);
// Five lines: verdict, rate, stages, advice, coverage.
[[nodiscard]] std::string ReportBrief(const Report& report, Colour colour);

// A suggestion as a line to paste: "DataLoader(dataset, batch_size=64, ...)". "" for loaders of
// other packages, whose arguments are not known.
[[nodiscard]] std::string LoaderCode(const LoaderConfig& config, const Suggestion& suggestion);
// The line for the suggestion of the diagnosis; "" without one.
[[nodiscard]] std::string SuggestedCode(const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
