// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/memory_report.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/probe_report.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/report/report.h"
#include "analyzer/report/request_report.h"
#include "analyzer/report/slow_batches_report.h"
#include "analyzer/report/stall_report.h"
#include "analyzer/words/format.h"
#include "analyzer/words/page.h"
#include "analyzer/words/plan.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

// Text at the left edge of a report.
std::string Paragraph(std::string_view text) {
  return "  " + Wrapped(text, kColumns - 2, "  ");
}

// Trace, duration and command: on one line if they fit.
std::string Head(const Report& report) {
  const std::string trace =
      PathText(report.trace, kColumns - 12) + "  " + DurationText(report.duration);
  const std::string command = PlainText(report.command, kColumns - 2);
  if (command.empty()) return trace + "\n";
  const bool fits = trace.size() + 2 + command.size() <= kColumns;
  return trace + (fits ? "  " : "\n  ") + command + "\n";
}

// Losses come before everything that was found.
std::string Losses(const Report& report, const Paint& paint) {
  std::string text;
  Statement losses = Lost(report.losses, report.diagnosis.run);
  if (!losses.empty()) {
    const Statement rest = Say<words::kIncomplete>(Give<"losses">(std::move(losses)));
    text += paint.Red(Paragraph("INCOMPLETE: " + English(rest))) + "\n";
  }
  const std::string blind = English(PartlyBlind(report.coverage));
  if (!blind.empty()) text += paint.Red(Paragraph("PARTLY BLIND: " + blind)) + "\n";
  if (report.losses.unsealed) {
    text += paint.Dim("  (" + English(Say<words::kNotClosed>()) + ")") + "\n";
  }
  return text;
}

std::string GainsLine(const Diagnosis& diagnosis) {
  // Without a loader, gains are shares of the threads' time, which the table shows already.
  if (!Predicts(diagnosis) || !diagnosis.loader) return "";
  std::string text;
  for (const Gain& gain : diagnosis.gains) {
    if (gain.speedup < 1.005) continue;
    const bool of_whole = gain.factor == Factor::kStartup && !diagnosis.whole_run;
    text += (text.empty() ? "" : ", ") +
            (of_whole ? English(Say<words::kStartupOfWhole>(Give<"gain">(gain.speedup)))
                      : fmt::format("{} {}x", FactorName(gain.factor), TimesText(gain.speedup)));
  }
  if (text.empty()) return "";
  text += English(Say<words::kAllData>(
      Give<"least">(diagnosis.ceiling_is_least()), Give<"headroom">(diagnosis.headroom()),
      GiveIf<"rate">(diagnosis.headroom() <= kMostTimes, diagnosis.base_rate()),
      Give<"free">(diagnosis.ceiling), Give<"unit">(RateUnit(diagnosis))));
  return Labelled("if free", text);
}

std::string ProbesText(const Probes& probes) {
  std::string text;
  for (const Statement& said : ProbesSaid(probes)) {
    text += Labelled(text.empty() ? "measured" : "", English(said));
  }
  return text;
}

// The columns of a name beside its share, which may need more than its 8 ("1.2 streams").
std::size_t NameRoom(std::string_view share) {
  constexpr std::size_t kName = 19;
  constexpr std::size_t kShare = 8;
  return kName + kShare - std::max(kShare, share.size());
}

// Columns of the stage table: name, share, two sums of time, and four others; 80 in all.
std::string StageLine(const std::array<std::string, 8>& cells) {
  return fmt::format("  {:<{}} {:>8} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7}", cells[0],
                     NameRoom(cells[1]), cells[1], cells[2], cells[3], cells[4], cells[5], cells[6],
                     cells[7]);
}

// A time summed over threads, in 8 columns.
std::string SumText(double seconds) {
  return seconds < 1e5 ? DurationText(seconds) : fmt::format("{:.0f} h", seconds / 3600);
}

// A number of calls in 7 columns.
std::string CallsText(std::uint64_t count) {
  constexpr double kMillion = 1e6;
  const auto calls = static_cast<double>(count);
  return calls < 10 * kMillion ? fmt::format("{}", count)
                               : fmt::format("{:.4g} M", calls / kMillion);
}

std::string RowLine(const StageRow& row, std::size_t depth) {
  const std::string share = ShareText(row);
  const std::string name =
      std::string(2 * depth, ' ') + PlainText(StageText(row), NameRoom(share) - 2 * depth);
  return StageLine({name, share, SumText(row.wall), row.cpu_known ? SumText(row.cpu) : "-",
                    row.rest ? "-" : CallsText(row.count), row.mixed ? "-" : DurationText(row.p50),
                    row.mixed ? "-" : DurationText(row.p99),
                    row.bytes > 0 ? BytesText(row.bytes) : "-"}) +
         "\n";
}

std::string StageTableText(const Report& report, const Paint& paint) {
  if (report.stages.empty()) return "";
  constexpr std::size_t kChildren = 5;
  std::string text = paint.Dim(StageLine({StageHead(report), "share", "wall", "CPU", "count", "p50",
                                          "p99", "bytes"})) +
                     "\n";
  for (const StageRow& row : report.stages) {
    text += RowLine(row, 0);
    for (std::size_t i = 0; i < std::min(kChildren, row.children.size()); ++i) {
      text += paint.Dim(RowLine(row.children[i], 1));
    }
  }
  return text;
}

std::string WorkerLines(const Diagnosis& diagnosis) {
  if (!diagnosis.loader || diagnosis.run.loader().config.num_workers == 0) return "";
  constexpr std::size_t kMost = 8;
  const auto& workers = diagnosis.run.loader().workers;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, workers.size()); ++i) {
    const WorkerRun& worker = workers[i];
    text += fmt::format("  worker {:<5} {:>6} batches, busy {:>8}, CPU {:>8}, idle {:>8}\n",
                        worker.worker_id, worker.batches, DurationText(worker.busy),
                        DurationText(worker.cpu), DurationText(worker.idle));
  }
  if (workers.size() > kMost) text += fmt::format("  ... {} more\n", workers.size() - kMost);
  return text;
}

// `all`: also sentences about memory that are no warnings.
std::string MemoryLines(const Diagnosis& diagnosis, bool all) {
  std::string text;
  for (const MemoryNote& note : MemoryNotes(diagnosis)) {
    if (!all && note.severity == Severity::kInfo) continue;
    text += Labelled(text.empty() ? "memory" : "", English(note.statement));
  }
  return text;
}

std::string FindingsText(const Report& report, const Paint& paint) {
  std::string text;
  for (const Finding& finding : report.findings) {
    const bool bad = finding.severity == Severity::kCritical;
    const bool warn = finding.severity == Severity::kWarning;
    const std::string mark = bad ? paint.Red("!!") : (warn ? paint.Yellow("! ") : paint.Dim("- "));
    const std::string seen =
        Wrapped(finding.id + ": " + English(finding.seen), kColumns - 5, "     ");
    text += "  " + mark + " " + paint.Bold(finding.id) + seen.substr(finding.id.size()) + "\n";
    std::string action = English(finding.action);
    if (finding.predicted) {
      action += " " + English(Say<words::kPredictedIs>(
                          Give<"prediction">(PredictionOf(*finding.predicted, report.diagnosis))));
    }
    if (Statement place = PlaceInPlan(report.plan, finding.id); !place.empty()) {
      action += " " + English(Say<words::kClause>(Give<"what">(std::move(place))));
    }
    text += "     " + Wrapped(action, kColumns - 5, "     ") + "\n";
  }
  return text;
}

// The lines to paste for the plan.
std::string PasteText(const Report& report) {
  const std::string_view label = report.diagnosis.ranks.several() ? "each rank" : "to paste";
  std::string text;
  for (const std::string& line : LinesToPaste(report)) {
    text += Labelled(text.empty() ? label : "", line);
  }
  return text;
}

// Changes other than the loader's settings, with their assumptions.
std::string ChangesText(const Report& report, const Paint& paint) {
  std::string text;
  for (const TriedChange& one : report.changes) {
    text += Labelled(text.empty() ? "also" : "",
                     one.option + ": " + English(PredictionOf(one.predicted, report.diagnosis)));
    for (const Statement& note : one.notes) {
      text += paint.Dim(std::string(kTextIndent) + "- " +
                        Wrapped(English(note), kTextWidth - 2, std::string(kTextIndent) + "  ")) +
              "\n";
    }
  }
  return text;
}

std::string CoverageText(const Coverage& coverage) {
  std::string text = Labelled("seen", English(Seen(coverage)));
  for (const Statement& blind : coverage.blind) text += Labelled("not seen", English(blind));
  return text;
}

// Rules that could not be checked. They are named, because a reader could otherwise take a missing
// finding for a good sign.
std::string NotCheckedLine(const Report& report) {
  std::string text;
  for (const NotChecked& missing : report.not_checked) {
    text += (text.empty() ? "" : "; ") + English(Unchecked(missing));
  }
  return Labelled("not checked", text);
}

// A line that says what --verbose would add; "": it would add nothing.
std::string VerboseLine(const Report& report, bool more_functions) {
  const Diagnosis& diagnosis = report.diagnosis;
  Statements more;
  if (more_functions) more.push_back(Say<words::kMoreFunctions>());
  if (report.slow_batches) more.push_back(Say<words::kSlowestBatches>());
  if (!WorkerLines(diagnosis).empty()) more.push_back(Say<words::kEachWorker>());
  if (MemoryLines(diagnosis, true) != MemoryLines(diagnosis, false)) {
    more.push_back(Say<words::kTheirMemory>());
  }
  if (!report.changes.empty()) more.push_back(Say<words::kChangesTried>());
  if (!report.not_checked.empty()) more.push_back(Say<words::kRulesUnchecked>());
  if (more.empty()) return "";
  return Labelled("--verbose", English(Say<words::kVerboseAdds>(Give<"more">(std::move(more)))));
}

}  // namespace

std::string ReportText(const Report& report, Colour colour, Detail detail) {
  const Paint paint(colour == Colour::kOn);
  const Diagnosis& diagnosis = report.diagnosis;
  const bool all = detail == Detail::kAll;
  std::string text = Head(report) + Losses(report, paint);
  text += "\n" + paint.Bold(Paragraph(English(diagnosis.summary))) + "\n";
  text += paint.Dim(Paragraph(English(ConfidenceOf(diagnosis)))) + "\n\n";
  Plan plan = report.plan;
  plan.missing = ReasonOnce(diagnosis, plan.missing);
  text += paint.Bold(English(Say<words::kPlanTitle>())) + "\n" +
          PlanText(plan, colour, PlanDetail::kSteps) + "\n";
  const std::string findings = FindingsText(report, paint);
  if (!findings.empty()) text += findings + "\n";
  if (report.plan.missing.empty()) text += PasteText(report);
  if (all) text += ChangesText(report, paint);
  text += Labelled("throughput", English(ThroughputOf(diagnosis)));
  text += Labelled("change", English(RateChangeOf(diagnosis)));
  text += Labelled("drift", English(RateDriftOf(diagnosis)));
  if (WaitKnown(diagnosis)) text += Labelled("wait", English(WaitOf(report)));
  text += Labelled("loader", English(LoaderOf(diagnosis)));
  for (const Statement& other : OtherLoaders(diagnosis)) {
    text += Labelled("and", English(other));
  }
  text += Labelled("overrides", English(OverridesSaid(report.overrides)));
  text += GainsLine(diagnosis) + ProbesText(report.probes) + "\n";
  const std::string stages = StageTableText(report, paint);
  if (!stages.empty()) text += stages + "\n";
  bool more_functions = false;
  text += FunctionsText(report, paint, all ? kAllLines : kFewLines, &more_functions);
  text += StallsText(report);
  if (all) {
    text += Labelled("slow batches", English(SlowBatchesOf(report))) + WorkerLines(diagnosis);
  }
  text += MemoryLines(diagnosis, all) + GpuText(report);
  const std::string ranks = RanksText(report);
  if (!ranks.empty()) text += (text.ends_with("\n\n") ? "" : "\n") + ranks + "\n";
  text += RequestsText(report) + CoverageText(report.coverage);
  return text + paint.Dim(all ? NotCheckedLine(report) : VerboseLine(report, more_functions));
}

std::string ReportBrief(const Report& report, Colour colour) {
  const Paint paint(colour == Colour::kOn);
  const Diagnosis& diagnosis = report.diagnosis;
  std::string stages;
  for (const StageRow& row : report.stages) {
    if (!row.of_workers || row.name == "sample" || row.name == "fetch") continue;
    stages += fmt::format("{}{} {}", stages.empty() ? "" : ", ", row.name, ShareText(row));
  }
  std::string advice = English(Say<words::kNoChange>());
  if (!report.plan.steps.empty()) {
    const Prediction& first = report.plan.steps.front().predicted;
    const Prediction& last = report.plan.steps.back().predicted;
    advice = English(Say<words::kPlanInBrief>(
        Give<"change">(report.plan.steps.front().change), Give<"gain">(first.speedup),
        GiveIf<"more">(report.plan.steps.size() > 1, report.plan.steps.size() - 1),
        Give<"all">(last.speedup)));
  } else if (diagnosis.loader && diagnosis.loader->suggestion.changes) {
    const Suggestion& suggestion = diagnosis.loader->suggestion;
    const std::string code = SuggestedCode(diagnosis);
    advice =
        fmt::format("{} predicted {}x", code.empty() ? English(SuggestedSetting(suggestion)) : code,
                    TimesText(OnBase(diagnosis, suggestion.predicted).speedup));
  } else if (!report.findings.empty()) {
    advice = report.findings.front().id + ": " + English(report.findings.front().seen);
  } else if (!diagnosis.needs.empty()) {
    advice = English(diagnosis.needs);
  }
  std::string seen = English(Seen(report.coverage));
  const std::string losses = English(Lost(report.losses, report.diagnosis.run));
  if (!losses.empty()) seen += ", " + paint.Red(losses);
  const std::size_t spots = report.coverage.blind.size();
  if (spots > 0) seen += ", " + English(Say<words::kBlindSpots>(Give<"spots">(spots)));
  const Statement rate = Say<words::kRateInBrief>(
      GiveIf<"rate">(diagnosis.base_rate() > 0, diagnosis.base_rate()),
      Give<"unit">(RateUnit(diagnosis)),
      GiveIf<"wait">(WaitKnown(diagnosis), diagnosis.wait_fraction),
      GiveIf<"ranks">(diagnosis.ranks.several(), diagnosis.ranks.rows.size()));
  return fmt::format("{}{}\n{}{}, confidence {:.0f} of 100\n{}{}\n{}{}\n{}{}\n",
                     RowLabel("verdict"), paint.Bold(English(diagnosis.summary)),
                     RowLabel("throughput"), English(rate), 100 * diagnosis.confidence,
                     RowLabel("stages"), stages.empty() ? "none seen" : stages, RowLabel("advice"),
                     advice, RowLabel("seen"), seen);
}

}  // namespace penstock::analyzer
