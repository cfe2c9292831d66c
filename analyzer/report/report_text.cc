// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/core.h>

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
#include "analyzer/words/format.h"
#include "analyzer/words/page.h"
#include "analyzer/words/plan.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

std::string Labelled(std::string_view label, std::string_view text) {
  return text.empty() ? "" : RowLabel(label) + Wrapped(text, kTextWidth, kTextIndent) + "\n";
}

// Losses come before everything that was found.
std::string Losses(const Report& report, const Paint& paint) {
  std::string text;
  Statement losses = Lost(report.losses);
  if (!losses.empty()) {
    const Statement rest = Say<words::kIncomplete>(Give<"losses">(std::move(losses)));
    text += paint.Red("  INCOMPLETE    " + English(rest)) + "\n";
  }
  const std::string blind = English(PartlyBlind(report.coverage));
  if (!blind.empty()) text += paint.Red("  PARTLY BLIND  " + blind) + "\n";
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
      Give<"headroom">(diagnosis.headroom()),
      GiveIf<"rate">(diagnosis.headroom() <= kMostTimes, diagnosis.base_rate()),
      Give<"free">(diagnosis.ceiling), Give<"unit">(RateUnit(diagnosis))));
  return RowLabel("if free") + Wrapped(text, kTextWidth, kTextIndent) + "\n";
}

std::string ProbesText(const Probes& probes) {
  std::string text;
  for (const Statement& said : ProbesSaid(probes)) {
    text += Labelled(text.empty() ? "measured" : "", English(said));
  }
  return text;
}

std::string RowLine(const StageRow& row, std::size_t depth) {
  const std::string name = std::string(2 * depth, ' ') + PlainText(StageText(row), 23 - 2 * depth);
  return fmt::format("  {:<23} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", name, ShareText(row),
                     DurationText(row.wall), row.cpu_known ? DurationText(row.cpu) : "-", row.count,
                     row.mixed ? "-" : DurationText(row.p50),
                     row.mixed ? "-" : DurationText(row.p99),
                     row.bytes > 0 ? BytesText(row.bytes) : "-");
}

std::string StageTableText(const Report& report, const Paint& paint) {
  if (report.stages.empty()) return "";
  constexpr std::size_t kChildren = 5;
  std::string text =
      paint.Dim(fmt::format("  {:<23} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}", "stage", "share",
                            "wall", "CPU", "count", "p50", "p99", "bytes")) +
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

std::string MemoryLines(const Diagnosis& diagnosis) {
  std::string text;
  for (const MemoryNote& note : MemoryNotes(diagnosis)) {
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
    text += fmt::format("  {} {}: {}\n", mark, paint.Bold(finding.id),
                        Wrapped(English(finding.seen), kTextWidth + 8, "     "));
    std::string action = English(finding.action);
    if (finding.predicted) {
      action += " " + English(Say<words::kPredictedIs>(
                          Give<"prediction">(PredictionOf(*finding.predicted, report.diagnosis))));
    }
    text += "     " + Wrapped(action, kTextWidth + 8, "     ") + "\n";
  }
  return text;
}

std::string SuggestionText(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return "";
  const Suggestion& suggestion = diagnosis.loader->suggestion;
  if (!suggestion.changes) {
    return Labelled("suggestion", English(Keep(diagnosis)));
  }
  const std::string code = SuggestedCode(diagnosis);
  return RowLabel(diagnosis.ranks.several() ? "each rank" : "suggestion") +
         (code.empty() ? English(SuggestedSetting(suggestion)) : code) + "\n" +
         std::string(kTextIndent) + "predicted " +
         English(PredictionOf(suggestion.predicted, diagnosis)) +
         fmt::format("; next bottleneck: {}\n", FactorName(suggestion.next_bottleneck)) +
         (suggestion.note.empty() ? "" : Labelled("", English(suggestion.note)));
}

// Changes other than the loader's settings, with their assumptions.
std::string ChangesText(const Report& report, const Paint& paint) {
  std::string text;
  for (const TriedChange& one : report.changes) {
    text += RowLabel(text.empty() ? "also" : "") + one.option + ": " +
            English(PredictionOf(one.predicted, report.diagnosis)) + "\n";
    for (const Statement& note : one.notes) {
      text += paint.Dim(std::string(kTextIndent) + "- " +
                        Wrapped(English(note), kTextWidth, std::string(kTextIndent) + "  ")) +
              "\n";
    }
  }
  return text;
}

std::string CoverageText(const Coverage& coverage) {
  std::string text = RowLabel("seen") + English(Seen(coverage)) + "\n";
  for (const Statement& blind : coverage.blind) {
    text += RowLabel("not seen") + Wrapped(English(blind), kTextWidth, kTextIndent) + "\n";
  }
  return text;
}

// Rules that could not be checked. They are named so that silence is not mistaken for health.
std::string NotCheckedLine(const Report& report) {
  std::string text;
  for (const NotChecked& missing : report.not_checked) {
    text += (text.empty() ? "" : "; ") + English(Unchecked(missing));
  }
  return text.empty() ? ""
                      : RowLabel("not checked") + Wrapped(text, kTextWidth, kTextIndent) + "\n";
}

}  // namespace

std::string ReportText(const Report& report, Colour colour) {
  const Paint paint(colour == Colour::kOn);
  const Diagnosis& diagnosis = report.diagnosis;
  std::string text = fmt::format("{}  {}  {}\n", PlainText(report.trace, 60),
                                 DurationText(report.duration), PlainText(report.command, 60));
  text += Losses(report, paint);
  text += "\n  " + paint.Bold(Wrapped(English(diagnosis.summary), kTextWidth + 12, "  ")) + "\n";
  text += paint.Dim("  " + English(ConfidenceOf(diagnosis))) + "\n\n";
  text += paint.Bold(English(Say<words::kPlanTitle>())) + "\n" +
          PlanText(report.plan, colour, PlanDetail::kSteps) + "\n";
  text += Labelled("throughput", English(ThroughputOf(diagnosis)));
  text += Labelled("change", English(RateChangeOf(diagnosis)));
  if (WaitKnown(diagnosis)) {
    const Statement wait = Say<words::kLoopWaited>(Give<"wait">(diagnosis.wait_fraction));
    text += RowLabel("wait") + English(wait) + "\n";
  }
  text += Labelled("loader", English(LoaderOf(diagnosis)));
  for (const Statement& other : OtherLoaders(diagnosis)) {
    text += Labelled("and", English(other));
  }
  text += Labelled("overrides", English(OverridesSaid(report.overrides)));
  text += GainsLine(diagnosis) + ProbesText(report.probes) + "\n";
  text += StageTableText(report, paint) + "\n";
  text += FunctionsText(report, paint);
  text += WorkerLines(diagnosis) + MemoryLines(diagnosis);
  text += GpuText(report);
  const std::string ranks = RanksText(report);
  if (!ranks.empty()) text += "\n" + ranks;
  const std::string findings = FindingsText(report, paint);
  if (!findings.empty()) text += "\n" + findings + "\n";
  text += SuggestionText(diagnosis) + ChangesText(report, paint);
  text += CoverageText(report.coverage);
  text += paint.Dim(NotCheckedLine(report));
  return text;
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
    advice =
        SuggestedCode(diagnosis) +
        fmt::format(" predicted {}x", TimesText(diagnosis.loader->suggestion.predicted.speedup));
  } else if (!report.findings.empty()) {
    advice = report.findings.front().id + ": " + English(report.findings.front().seen);
  }
  std::string seen = English(Seen(report.coverage));
  const std::string losses = English(Lost(report.losses));
  if (!losses.empty()) seen += ", " + paint.Red(losses);
  const std::size_t spots = report.coverage.blind.size();
  if (spots > 0) seen += ", " + English(Say<words::kBlindSpots>(Give<"spots">(spots)));
  const Statement rate = Say<words::kRateInBrief>(
      GiveIf<"rate">(diagnosis.base_rate() > 0, diagnosis.base_rate()),
      Give<"unit">(RateUnit(diagnosis)),
      GiveIf<"wait">(WaitKnown(diagnosis), diagnosis.wait_fraction),
      GiveIf<"ranks">(diagnosis.ranks.several(), diagnosis.ranks.rows.size()));
  return fmt::format("{}{}\n{}{}, confidence {}\n{}{}\n{}{}\n{}{}\n", RowLabel("verdict"),
                     paint.Bold(English(diagnosis.summary)), RowLabel("throughput"), English(rate),
                     PercentText(diagnosis.confidence), RowLabel("stages"),
                     stages.empty() ? "none seen" : stages, RowLabel("advice"), advice,
                     RowLabel("seen"), seen);
}

}  // namespace penstock::analyzer
