// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/plan_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/plan/step_findings.h"
#include "analyzer/report/statement_json.h"
#include "analyzer/words/format.h"
#include "analyzer/words/plan.h"

namespace penstock::analyzer {
namespace {

constexpr double kShownGain = 0.005;  // a smaller gain is reported as no gain
constexpr std::string_view kPlanIndent = "      ";
constexpr std::size_t kPlanWidth = kColumns - kPlanIndent.size();

std::string PlanLine(std::string_view text) {
  return std::string(kPlanIndent) + Wrapped(text, kPlanWidth, kPlanIndent) + "\n";
}

// A rate in bold, and after it `rest`, which is not bold.
std::string RateLine(std::string_view label, const Interval& rate, double speedup,
                     const Statement& unit, std::string_view rest, const Paint& paint) {
  std::string text = fmt::format("{} {}", ShortNumber(rate.estimate), English(unit));
  if (rate.high > rate.low) {
    text += fmt::format(" ({}..{})", ShortNumber(rate.low), ShortNumber(rate.high));
  }
  text += ", " + TimesText(speedup) + "x";
  const std::string lines = Wrapped(fmt::format("{}, {}", text, rest), kPlanWidth, kPlanIndent);
  // The rate alone is shorter than a line, so `lines` begins with `text` unbroken.
  return paint.Bold(fmt::format("  {:<4}{}", label, text)) + lines.substr(text.size()) + "\n";
}

std::string PlanSentence(const Statement& said) {
  return "  " + Wrapped(English(said) + ".", kColumns - 2, "  ") + "\n";
}

void WritePlanStep(const PlanStep& step, JsonWriter& json) {
  json.BeginObject().Field("id", step.id).Field("value", step.value);
  json.Field("change", English(step.change)).Key("change_statement");
  WriteStatement(step.change, json);
  json.Field("samples_per_s", step.predicted.rate.estimate);
  json.Field("low", step.predicted.rate.low).Field("high", step.predicted.rate.high);
  json.Field("speedup", step.predicted.speedup).Field("gain", step.gain);
  json.Key("cost").BeginObject();
  json.Field("ram_bytes", step.cost.ram).Field("workers", step.cost.workers);
  json.Field("disk_bytes", step.cost.disk).Field("lines_of_code", step.cost.lines);
  json.Field("changes_results", !step.risk.empty()).Field("risk", English(step.risk)).EndObject();
  json.Field("limited_by", FactorName(step.limited_by));
  json.Field("also_limits", FactorName(step.also_limits));
  WriteStatements("notes", step.notes, json);
  json.Key("findings").BeginArray();
  for (const std::string& id : step.findings) json.Value(id);
  json.EndArray();
  json.Field("with_next", step.with_next).EndObject();
}

// The command with the variables of a "malloc" step in front; "" if the step removes another
// allocator instead.
std::string CommandWithVariables(const Report& report, const PlanStep& step) {
  const auto given = [&](std::string_view name) -> const Value* {
    for (const auto& [key, value] : step.change.values) {
      if (key == name) return &value;
    }
    return nullptr;
  };
  const auto* flag = given("pillow");
  const bool pillow = flag != nullptr && *flag == Value(true);
  if (!pillow && given("allocator") != nullptr) return "";
  const std::string_view variables =
      pillow ? "PILLOW_BLOCKS_MAX=16"
             : "MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456";
  return fmt::format("{} {}", variables, report.command.empty() ? "COMMAND" : report.command);
}

// Whether LoaderCode() has an argument for a step on a loader of `kind`.
bool IsArgument(std::string_view step, std::string_view kind) {
  constexpr std::array<std::string_view, 3> kOnlyOfPyTorch = {"persistent_workers", "pin_memory",
                                                              "in_order"};
  if (step == "num_workers" || step == "prefetch_factor") return true;
  return kind == "pytorch" &&
         std::find(kOnlyOfPyTorch.begin(), kOnlyOfPyTorch.end(), step) != kOnlyOfPyTorch.end();
}

}  // namespace

std::string LineToPaste(const Report& report, const Plan& plan, std::size_t i) {
  const PlanStep& step = plan.steps[i];
  if (step.id == "malloc") return CommandWithVariables(report, step);
  if (!report.diagnosis.loader) return "";
  LoaderConfig config = report.diagnosis.run.loader().config;
  if (!IsArgument(step.id, config.kind)) return "";
  for (std::size_t before = 0; before <= i; ++before) {
    if (plan.steps[before].id == "pin_memory") config.pin_memory = true;
    if (plan.steps[before].id == "in_order") config.in_order = false;
  }
  Suggestion suggestion;
  suggestion.workers = step.setting.workers;
  // With threads that share batches, the depth of the setting includes the batch that the training
  // loop uses. The depth to paste does not.
  const int extra = report.diagnosis.loader->pipeline.sample_tasks ? 1 : 0;
  suggestion.prefetch = step.setting.prefetch - extra;
  suggestion.persistent_workers = step.setting.persistent.value_or(config.persistent_workers);
  return LoaderCode(config, suggestion);
}

std::vector<std::string> LinesToPaste(const Report& report) {
  std::string loader;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < report.plan.steps.size(); ++i) {
    std::string one = LineToPaste(report, report.plan, i);
    if (one.empty()) continue;
    if (report.plan.steps[i].id == "malloc") {
      lines.push_back(std::move(one));
    } else {
      loader = std::move(one);  // it has the arguments of the steps before it
    }
  }
  if (!loader.empty()) lines.push_back(std::move(loader));
  return lines;
}

Statement PlaceInPlan(const Plan& plan, std::string_view finding) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::vector<std::string>& answered = plan.steps[i].findings;
    if (std::find(answered.begin(), answered.end(), finding) != answered.end()) {
      const Prediction& predicted = plan.steps[i].predicted;
      return Say<words::kPlanHasIt>(Give<"step">(i + 1), Give<"first">(i == 0),
                                    Give<"further">(GoesFurther(plan.steps[i].id, finding)),
                                    Give<"rate">(predicted.rate.estimate), Give<"unit">(plan.unit),
                                    Give<"gain">(predicted.speedup));
    }
  }
  for (const PlanRest& one : plan.rest) {
    if (one.finding != finding) continue;
    const double more = one.gain - 1;
    return Say<words::kPlanLeavesOut>(Give<"steps">(!plan.steps.empty()),
                                      GiveIf<"more">(more >= kShownGain, more),
                                      GiveIf<"unsure">(one.unsure > 0, one.unsure));
  }
  for (const PlanLeft& one : plan.left) {
    if (one.finding != finding) continue;
    return Say<words::kPlanCannotAdd>(Give<"excluded">(one.excluded),
                                      Give<"remedied">(one.remedied));
  }
  return {};
}

Statement CeilingName(const Plan& plan) {
  return Say<words::kPlanCeiling>(Give<"copies">(plan.other_copies));
}

Statement ChangeOf(const PlanStep& step) {
  return Say<words::kPlanChange>(Give<"change">(step.change),
                                 GiveIf<"risk">(!step.risk.empty(), step.risk),
                                 Give<"with_next">(step.with_next));
}

Statement LimitAfter(const PlanStep& step) {
  if (step.limited_by == Factor::kNone) return Say<words::kPlanThenNone>();
  return Say<words::kPlanThen>(
      Give<"factor">(FactorName(step.limited_by)),
      GiveIf<"also">(step.also_limits != Factor::kNone, FactorName(step.also_limits)));
}

Statement LimitNow(const Plan& plan) {
  if (plan.limited_by == Factor::kNone) return {};
  return Say<words::kPlanHere>(
      Give<"factor">(FactorName(plan.limited_by)),
      GiveIf<"also">(plan.also_limits != Factor::kNone, FactorName(plan.also_limits)));
}

Statement CostOf(const PlanStep& step) {
  const PlanCost& cost = step.cost;
  return Say<words::kPlanCostIs>(
      GiveIf<"lines">(cost.lines > 0, cost.lines),
      GiveIf<"workers">(cost.other_workers, cost.workers),
      GiveIf<"ram">(cost.other_ram && cost.ram > 0, cost.ram),
      GiveIf<"before">(cost.ram_before > 0, cost.ram_before),
      Give<"batches">(cost.batches_alone || cost.workers == 0), Give<"cached">(cost.cached),
      Give<"rough">(cost.rough),
      Give<"same">(cost.ram > 0 && !cost.other_ram && !cost.other_workers),
      GiveIf<"disk">(cost.disk > 0, cost.disk));
}

std::string PlanText(const Plan& plan, Colour colour, PlanDetail detail) {
  const Paint paint(colour == Colour::kOn);
  if (!plan.missing.empty()) {
    return PlanSentence(Say<words::kNoPlan>(Give<"why">(plan.missing)));
  }
  std::string text;
  if (!plan.steps.empty()) {
    std::string rest = English(Say<words::kPlanBase>(Give<"whole">(plan.whole_run)));
    if (const Statement limit = LimitNow(plan); !limit.empty()) rest += ", " + English(limit);
    text += RateLine(English(Say<words::kPlanNow>()), plan.now, 1, plan.unit, rest, Paint(false));
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const Prediction& predicted = step.predicted;
    text += RateLine(std::to_string(i + 1) + ".", predicted.rate, predicted.speedup, plan.unit,
                     English(LimitAfter(step)), paint);
    text += PlanLine(English(ChangeOf(step))) + paint.Dim(PlanLine(English(CostOf(step))));
    if (detail == PlanDetail::kSteps) continue;
    for (const Statement& note : step.notes) {
      text += paint.Dim("      - " + Wrapped(English(note), kPlanWidth - 2, "        ") + "\n");
    }
  }
  if (plan.steps.empty()) {
    text += PlanSentence(plan.verdict);
  } else {
    if (!plan.no_ceiling) {
      text += fmt::format("  =   {} {}, {}\n", ShortNumber(plan.ceiling), English(plan.unit),
                          English(CeilingName(plan)));
    }
    text += PlanSentence(plan.verdict);
  }
  if (detail == PlanDetail::kSteps) return text;
  for (const PlanExperiment& one : plan.experiments) {
    text += "  ?   " + Wrapped(English(one.why), kPlanWidth, kPlanIndent) + "\n";
    if (one.command.empty()) continue;
    // The command is never shortened: without its end it would still run, but do something else.
    text += std::string(kPlanIndent) + PlainText(one.command, std::string::npos) + "\n";
  }
  return text;
}

void WritePlan(const Plan& plan, JsonWriter& json) {
  json.BeginObject().Key("steps").BeginArray();
  for (const PlanStep& step : plan.steps) WritePlanStep(step, json);
  json.EndArray().Key("rest").BeginArray();
  for (const PlanRest& one : plan.rest) {
    json.BeginObject().Field("finding", one.finding).Field("gain", one.gain).EndObject();
  }
  json.EndArray().Field("ceiling_samples_per_s", plan.no_ceiling ? 0 : plan.ceiling);
  json.Field("ceiling_with_other_copies", !plan.no_ceiling && plan.other_copies);
  json.Field("base", BaseName(plan.whole_run));
  json.Key("now").BeginObject();
  json.Field("samples_per_s", plan.now.estimate);
  json.Field("low", plan.now.low).Field("high", plan.now.high);
  json.Field("limited_by", FactorName(plan.limited_by));
  json.Field("also_limits", FactorName(plan.also_limits)).EndObject();
  json.Field("verdict", English(plan.verdict)).Key("verdict_statement");
  WriteStatement(plan.verdict, json);
  json.Field("missing", English(plan.missing)).Key("missing_statement");
  WriteStatement(plan.missing, json);
  json.Key("experiments").BeginArray();
  for (const PlanExperiment& one : plan.experiments) {
    json.BeginObject().Field("id", one.id).Field("why", English(one.why));
    json.Key("why_statement");
    WriteStatement(one.why, json);
    json.Field("command", one.command).EndObject();
  }
  json.EndArray().EndObject();
}

std::string PlanJson(const Plan& plan) {
  JsonWriter json;
  WritePlan(plan, json);
  return json.text();
}

}  // namespace penstock::analyzer
