// SPDX-License-Identifier: Apache-2.0
#include "gui/model/staircase.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "analyzer/report/phrases.h"
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

// A bar of more than kMostWhole times the rate at the end of the plan is cut at kMostShown times
// this rate.
constexpr double kMostWhole = 4;
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
  stair.interval = IntervalText(rate, language);
}

// What the rate of the training step alone includes beside the step's own computing. Without these
// words it does not fit the length of a step. "" if it includes nothing.
std::string IncludedInCeiling(const Report& report, Language language) {
  const analyzer::Diagnosis& diagnosis = report.diagnosis;
  std::string words;
  if (diagnosis.loader && diagnosis.loader->pipeline.others > 0) {
    words = TextOf(Text::kPlanOthersGoOn, language);
  }
  if (diagnosis.ranks.several() && diagnosis.ranks.imbalance.together) {
    words +=
        (words.empty() ? "" : "  ·  ") + std::string(TextOf(Text::kPlanWaitsForRanks, language));
  }
  return words;
}

// Whether the low end of the confidence interval lies above the rate of the step before and above
// the rate of the run as it is.
bool GainsSurely(const Plan& plan, const PlanStep& step) {
  const analyzer::Interval& rate = step.predicted.rate;
  return !step.with_next && rate.low > plan.now.estimate && rate.high > rate.low &&
         step.gain * rate.low > rate.estimate;
}

// Step `i` of `plan`, which is step `number` of the whole plan.
Stair StairOf(const Report& report, const Plan& plan, std::size_t i, std::size_t number,
              Language language) {
  const PlanStep& step = plan.steps[i];
  Stair stair;
  stair.title = Filled(Text::kPlanStair, language, number, Typeset(Render(step.change, language)));
  stair.limit = step.limited_by == analyzer::Factor::kNone
                    ? Render(analyzer::LimitAfter(step), language)
                    : Filled(Text::kPlanThenLimitedBy, language,
                             LimitsText(step.limited_by, step.also_limits, language));
  stair.cost = Render(analyzer::CostOf(step), language);
  if (step.with_next) {
    stair.limit = Render(analyzer::Say<analyzer::words::kPlanWithNext>(), language);
  }
  WriteRate(step.predicted.rate, plan, language, stair);
  stair.times = GainText(step.predicted.speedup);
  stair.gains = GainsSurely(plan, step);
  if (!step.risk.empty()) stair.risk = Typeset(Render(step.risk, language));
  for (const Statement& note : step.notes) {
    stair.notes += (stair.notes.empty() ? "" : "\n") + Typeset(Render(note, language));
  }
  stair.code = LineToPaste(report, plan, i);
  return stair;
}

}  // namespace

std::string LimitsText(analyzer::Factor limited_by, analyzer::Factor also, Language language) {
  const std::string name(TextOf(NameOf(limited_by), language));
  if (also == analyzer::Factor::kNone) return name;
  return Filled(Text::kPlanAlike, language, name, TextOf(NameOf(also), language));
}

bool Staircase::has_steps() const {
  return std::any_of(stairs.begin(), stairs.end(),
                     [](const Stair& stair) { return stair.kind == StairKind::kStep; });
}

Staircase StaircaseOf(const Report& report, Language language) {
  return StaircaseOf(report, {{}, report.plan}, language);
}

Staircase StaircaseOf(const Report& report, const PlanChoice& choice, Language language) {
  const Plan& plan = choice.plan;
  Staircase staircase;
  if (!plan.missing.empty() || plan.now.estimate <= 0) {
    const analyzer::Statement why = analyzer::ReasonOnce(report.diagnosis, plan.missing);
    staircase.missing =
        AsSentence(analyzer::Say<analyzer::words::kNoPlan>(analyzer::Give<"why">(why)), language);
    return staircase;
  }
  staircase.verdict = AsSentence(plan.verdict, language);
  if (report.diagnosis.whole_run) {
    staircase.verdict += analyzer::SentenceGap(language);
    staircase.verdict += TextOf(Text::kRatesOfWholeRun, language);
  }
  Stair now{.kind = StairKind::kNow, .title = std::string(TextOf(Text::kPlanAsItIs, language))};
  if (plan.limited_by != analyzer::Factor::kNone) {
    now.limit = Filled(Text::kPlanLimitedBy, language,
                       LimitsText(plan.limited_by, plan.also_limits, language));
  }
  WriteRate(plan.now, plan, language, now);
  staircase.stairs.push_back(std::move(now));
  std::size_t next = 0;
  for (std::size_t i = 0; i < report.plan.steps.size(); ++i) {
    if (i < choice.off.size() && choice.off[i]) {
      const std::string change = Typeset(Render(report.plan.steps[i].change, language));
      Stair stair{.title = Filled(Text::kPlanStair, language, i + 1, change), .off = true};
      stair.limit = TextOf(Text::kPlanLeftOut, language);
      staircase.stairs.push_back(std::move(stair));
    } else if (next < plan.steps.size()) {
      staircase.stairs.push_back(StairOf(report, plan, next++, i + 1, language));
    }
  }
  if (!plan.no_ceiling && plan.ceiling > 0) {
    const Text name = plan.other_copies ? Text::kPlanStepAndCopies : Text::kPlanStepAlone;
    Stair ceiling{.kind = StairKind::kCeiling, .title = std::string(TextOf(name, language))};
    ceiling.limit = IncludedInCeiling(report, language);
    WriteRate({plan.ceiling, 0, 0}, plan, language, ceiling);
    const double times = plan.ceiling / plan.now.estimate;
    const bool least = report.diagnosis.ceiling_is_least();
    ceiling.times = least ? LeastGainText(times) : GainText(times);
    staircase.stairs.push_back(std::move(ceiling));
  }
  for (const Stair& stair : staircase.stairs) {
    staircase.shown = std::max({staircase.shown, stair.rate.estimate, stair.rate.high});
  }
  const double end = std::max(plan.end(), plan.now.estimate);
  if (staircase.shown > kMostWhole * end) staircase.shown = kMostShown * end;
  return staircase;
}

}  // namespace penstock::gui
