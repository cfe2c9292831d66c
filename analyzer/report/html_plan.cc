// SPDX-License-Identifier: Apache-2.0
//
// The plan on the HTML page: its rates as bars, its steps as a list, and experiments to try.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/report/html_text.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/words/format.h"
#include "analyzer/words/page.h"
#include "analyzer/words/plan.h"

namespace penstock::analyzer {
namespace {

constexpr double kStairRow = 26;
constexpr double kStairLeft = 190;
constexpr double kStairRight = 760;

struct Stair {
  std::string name;
  Interval rate;
  std::string limit;
  std::string_view css;
};

std::vector<Stair> StairsOf(const Plan& plan, Language language) {
  std::vector<Stair> stairs;
  stairs.push_back(
      {Word<words::kPlanNow>(language), plan.now, Render(LimitNow(plan), language), "wall"});
  for (const PlanStep& step : plan.steps) {
    stairs.push_back(
        {Render(Say<words::kPlanStairName>(Give<"id">(step.id), Give<"number">(stairs.size())),
                language),
         step.predicted.rate, Render(LimitAfter(step), language), "cpu"});
  }
  if (!plan.no_ceiling) {
    stairs.push_back({Render(CeilingName(plan), language), {plan.ceiling, 0, 0}, "", "gain"});
  }
  return stairs;
}

std::string Staircase(const Plan& plan, Language language) {
  const std::vector<Stair> stairs = StairsOf(plan, language);
  double most = 0;
  for (const Stair& stair : stairs) most = std::max({most, stair.rate.estimate, stair.rate.high});
  // A ceiling far above the other bars would make them look alike, so its bar ends with the axis.
  const double shown = std::min(most, 4 * std::max(plan.end(), 1e-9));
  const double bottom = 10 + kStairRow * static_cast<double>(stairs.size());
  Drawing drawing(kPictureWidth, bottom + 42, Word<words::kPlanPlot>(language));
  const std::vector<double> values = RoundSteps(shown, 6);
  const Scale x{0, values.back(), kStairLeft, kStairRight};
  std::vector<Tick> ticks;
  for (const double value : values) ticks.push_back({value, fmt::format("{:.6g}", value)});
  drawing.Below(x, ticks, bottom, 4, Render(plan.unit, language));
  double y = 10;
  for (const Stair& stair : stairs) {
    const double end = x.At(stair.rate.estimate);
    const std::string figure = ShortNumber(stair.rate.estimate);
    drawing.Text(kStairLeft - 8, y + 14, stair.name, "end");
    drawing.Rect(kStairLeft, y, end - kStairLeft, 18, stair.css,
                 fmt::format("{}{}{}", stair.name, Colon(language), figure));
    double label = end;
    if (stair.rate.high > stair.rate.low) {
      const double high = x.At(stair.rate.high);
      drawing.Line(x.At(stair.rate.low), y + 9, high, y + 9, "axis");
      label = std::max(end, high);
    }
    drawing.Text(
        label + 6, y + 14,
        stair.limit.empty() ? figure : fmt::format("{}{}{}", figure, Comma(language), stair.limit),
        "tick");
    y += kStairRow;
  }
  return fmt::format(
      "<figure>{}<figcaption>{}</figcaption></figure>\n", std::move(drawing).Finish(),
      Escaped(Render(Say<words::kPlanCaption>(Give<"whole">(plan.whole_run)), language)));
}

std::string StepItem(const PlanStep& step, const Statement& unit, Language language) {
  const Interval& rate = step.predicted.rate;
  std::string notes;
  for (const Statement& note : step.notes) {
    notes += fmt::format("<br/><span class=\"dim\">- {}</span>", Escaped(Render(note, language)));
  }
  const Statement figures =
      Say<words::kPlanRate>(Give<"rate">(rate.estimate), Give<"unit">(unit), Give<"low">(rate.low),
                            Give<"high">(rate.high), Give<"speedup">(step.predicted.speedup),
                            Give<"limit">(LimitAfter(step)));
  return fmt::format("<li><b>{}</b>{}<br/><span class=\"dim\">{}</span>{}</li>\n",
                     Escaped(Render(ChangeOf(step), language)), Escaped(Render(figures, language)),
                     Escaped(Render(CostOf(step), language)), notes);
}

}  // namespace

std::string PlanHtml(const Plan& plan, Language language) {
  const auto sentence = [&](Statement what) {
    return fmt::format(
        "<p>{}</p>\n",
        Escaped(Render(Say<words::kClause>(Give<"what">(std::move(what))), language)));
  };
  if (!plan.missing.empty()) return sentence(Say<words::kNoPlan>(Give<"why">(plan.missing)));
  std::string text = sentence(plan.verdict);
  if (!plan.steps.empty()) {
    text += Staircase(plan, language) + "<ol>\n";
    for (const PlanStep& step : plan.steps) text += StepItem(step, plan.unit, language);
    text += "</ol>\n";
  }
  if (plan.experiments.empty()) return text;
  text += fmt::format("<h3>{}</h3>\n<ul>\n", Escaped(Word<words::kPlanTryTitle>(language)));
  for (const PlanExperiment& one : plan.experiments) {
    text += "<li>" + Escaped(Render(one.why, language));
    if (!one.command.empty()) {
      text +=
          fmt::format("<br/><code>{}</code>", Escaped(PlainText(one.command, std::string::npos)));
    }
    text += "</li>\n";
  }
  return text + "</ul>\n";
}

}  // namespace penstock::analyzer
