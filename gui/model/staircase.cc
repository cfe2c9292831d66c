// SPDX-License-Identifier: Apache-2.0
#include "gui/model/staircase.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "analyzer/report/plan_report.h"
#include "analyzer/words/format.h"
#include "analyzer/words/page.h"
#include "analyzer/words/plan.h"
#include "gui/model/forecast.h"
#include "gui/model/overview.h"

namespace penstock::gui {
namespace {

using analyzer::Plan;
using analyzer::PlanStep;
using analyzer::Report;
using analyzer::Statement;

// How many times as long as the end of the plan a bar may be.
constexpr double kMostShown = 2;

std::string AsSentence(Statement what, Language language) {
  return Typeset(Render(
      analyzer::Say<analyzer::words::kClause>(analyzer::Give<"what">(std::move(what))), language));
}

// Writes the rate and its confidence interval.
void WriteRate(const analyzer::Interval& rate, const Plan& plan, Language language, Stair& stair) {
  stair.rate = rate;
  stair.figure =
      fmt::format("{} {}", analyzer::ShortNumber(rate.estimate), Render(plan.unit, language));
  if (rate.high <= rate.low) return;
  stair.interval = Filled(Text::kInterval, language, analyzer::ShortNumber(rate.low),
                          analyzer::ShortNumber(rate.high));
}

// Whether the low end of the confidence interval lies above the step before it and above the run as
// it is.
bool GainsSurely(const Plan& plan, const PlanStep& step) {
  const analyzer::Interval& rate = step.predicted.rate;
  return !step.with_next && rate.low > plan.now.estimate && rate.high > rate.low &&
         step.gain * rate.low > rate.estimate;
}

Stair StairOf(const Report& report, std::size_t i, Language language) {
  const Plan& plan = report.plan;
  const PlanStep& step = plan.steps[i];
  Stair stair;
  stair.title = Filled(Text::kPlanStair, language, i + 1, Typeset(Render(step.change, language)));
  stair.limit =
      step.limited_by == analyzer::Factor::kNone
          ? Render(analyzer::LimitAfter(step), language)
          : Filled(Text::kPlanThenLimitedBy, language, TextOf(NameOf(step.limited_by), language));
  stair.cost = Render(analyzer::CostOf(step), language);
  if (step.with_next) {
    stair.limit = Render(analyzer::Say<analyzer::words::kPlanWithNext>(), language);
  }
  WriteRate(step.predicted.rate, plan, language, stair);
  stair.times = GainText(step.predicted.speedup);
  stair.gains = GainsSurely(plan, step);
  if (!step.risk.empty()) stair.notes = Typeset(Render(step.risk, language));
  for (const Statement& note : step.notes) {
    stair.notes += (stair.notes.empty() ? "" : "\n") + Typeset(Render(note, language));
  }
  stair.code = LineToPaste(report, i);
  return stair;
}

// The command with the variables that the run must be started with.
std::string Started(const Report& report, const PlanStep& step) {
  const auto given = [&](std::string_view name) -> const analyzer::Value* {
    for (const auto& [key, value] : step.change.values) {
      if (key == name) return &value;
    }
    return nullptr;
  };
  const auto* flag = given("pillow");
  const bool pillow = flag != nullptr && *flag == analyzer::Value(true);
  if (!pillow && given("allocator") != nullptr) return "";
  const std::string_view variables =
      pillow ? "PILLOW_BLOCKS_MAX=16"
             : "MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456";
  return fmt::format("{} {}", variables, report.command.empty() ? "COMMAND" : report.command);
}

}  // namespace

bool Staircase::has_steps() const {
  return std::any_of(stairs.begin(), stairs.end(),
                     [](const Stair& stair) { return stair.kind == StairKind::kStep; });
}

std::string LineToPaste(const Report& report, std::size_t i) {
  constexpr std::array<std::string_view, 4> kArguments = {"num_workers", "prefetch_factor",
                                                          "persistent_workers", "pin_memory"};
  const PlanStep& step = report.plan.steps[i];
  if (step.id == "malloc") return Started(report, step);
  const bool argument =
      std::find(kArguments.begin(), kArguments.end(), step.id) != kArguments.end();
  if (!argument || !report.diagnosis.loader) return "";
  analyzer::LoaderConfig config = report.diagnosis.run.loader().config;
  for (std::size_t before = 0; before <= i; ++before) {
    if (report.plan.steps[before].id == "pin_memory") config.pin_memory = true;
  }
  analyzer::Suggestion suggestion;
  suggestion.workers = step.setting.workers;
  // If the workers are threads that share batches, the setting also counts the batch that the
  // training loop uses.
  suggestion.prefetch = step.setting.prefetch - (config.sample_tasks ? 1 : 0);
  suggestion.persistent_workers = step.setting.persistent.value_or(config.persistent_workers);
  return analyzer::LoaderCode(config, suggestion);
}

Staircase StaircaseOf(const Report& report, Language language) {
  const Plan& plan = report.plan;
  Staircase staircase;
  if (!plan.missing.empty() || plan.now.estimate <= 0) {
    staircase.missing = AsSentence(
        analyzer::Say<analyzer::words::kNoPlan>(analyzer::Give<"why">(plan.missing)), language);
    return staircase;
  }
  staircase.verdict = AsSentence(plan.verdict, language);
  if (report.diagnosis.whole_run) {
    staircase.verdict += " " + std::string(TextOf(Text::kRatesOfWholeRun, language));
  }
  Stair now{.kind = StairKind::kNow, .title = std::string(TextOf(Text::kPlanAsItIs, language))};
  if (plan.limited_by != analyzer::Factor::kNone) {
    now.limit = Filled(Text::kPlanLimitedBy, language, TextOf(NameOf(plan.limited_by), language));
  }
  WriteRate(plan.now, plan, language, now);
  staircase.stairs.push_back(std::move(now));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    staircase.stairs.push_back(StairOf(report, i, language));
  }
  if (!plan.no_ceiling && plan.ceiling > 0) {
    const Text name = plan.other_copies ? Text::kPlanStepAndCopies : Text::kPlanStepAlone;
    Stair ceiling{.kind = StairKind::kCeiling, .title = std::string(TextOf(name, language))};
    WriteRate({plan.ceiling, 0, 0}, plan, language, ceiling);
    ceiling.times = GainText(plan.ceiling / plan.now.estimate);
    staircase.stairs.push_back(std::move(ceiling));
  }
  for (const Stair& stair : staircase.stairs) {
    staircase.shown = std::max({staircase.shown, stair.rate.estimate, stair.rate.high});
  }
  staircase.shown = std::min(staircase.shown, kMostShown * std::max(plan.end(), plan.now.estimate));
  return staircase;
}

}  // namespace penstock::gui
