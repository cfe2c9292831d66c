// SPDX-License-Identifier: Apache-2.0
//
// Prints every text that is made of a run: the terminal's report, its JSON, and the dashboard's
// texts in both languages. The argument is a trace, or the name of a made-up run.
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "analyzer/report/html_data.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/report.h"
#include "gui/model/cards.h"
#include "gui/model/other_changes.h"
#include "gui/model/overview.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/staircase.h"
#include "tests/analyzer/synthetic.h"
#include "traces/trace.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;

struct MadeUp {
  std::string_view name;
  std::function<Synthetic()> run;
};

const std::array kMadeUp = {
    MadeUp{"decode", [] { return Synthetic{.costs = Always({.decode = 30, .step = 2})}; }},
    MadeUp{"compute",
           [] { return Synthetic{.costs = Always({.read = 0.2, .decode = 1, .step = 30})}; }},
    MadeUp{"no_workers", [] { return Synthetic{.workers = 0, .costs = Always({.decode = 12})}; }},
    MadeUp{"short", [] { return Synthetic{.batches = 6, .costs = Always({.decode = 30})}; }},
    MadeUp{"no_batches", [] { return Synthetic{.batches = 0}; }},
    MadeUp{"startup",
           [] {
             return Synthetic{.batches = 20, .epochs = 5, .worker_start = 900, .worker_stop = 300};
           }},
    MadeUp{"uneven",
           [] {
             return Synthetic{.costs = [](int, int index) {
               analyzer::testing::Costs costs{.step = 6};
               costs.decode = index % 8 == 0 ? 60 : 2;
               return costs;
             }};
           }},
    MadeUp{"cold_reads",
           [] {
             return Synthetic{.epochs = 3, .cores = 2, .costs = [](int epoch, int) {
                                return analyzer::testing::Costs{.read = epoch == 0 ? 40.0 : 12.0,
                                                                .step = 1};
                              }};
           }},
};

std::unique_ptr<traces::Trace> TraceOf(const std::string& name) {
  for (const MadeUp& made : kMadeUp) {
    if (made.name == name) return analyzer::testing::SyntheticTrace(made.run());
  }
  auto trace = traces::OpenTrace(name);
  if (trace) return std::move(*trace);
  fmt::print(stderr, "{}: {}\n", name, trace.error().message);
  return nullptr;
}

void PrintNotes(const analyzer::Report& report, Language language) {
  if (!report.diagnosis.loader) return;
  const WhatIf recorded = Recorded(report.diagnosis);
  std::array<WhatIf, 5> asked;
  asked.fill(recorded);
  asked[1].batch = 2 * recorded.batch;
  asked[2].step = 0.05;
  asked[3].pin = !recorded.pin;
  asked[4].changes.gpu_decode = asked[4].changes.gpu_augment = true;
  for (const WhatIf& chosen : asked) {
    const auto answer = Ask(report.diagnosis, chosen);
    if (!answer) {
      fmt::print("what-if: {}\n", Typeset(Render(answer.error().why, language)));
      continue;
    }
    for (const analyzer::Statement& note : answer->notes) {
      fmt::print("what-if: {}\n", Typeset(Render(note, language)));
    }
  }
}

void PrintPlan(const analyzer::Report& report, Language language) {
  const Staircase plan = StaircaseOf(report, language);
  if (!plan.missing.empty()) fmt::print("plan: {}\n", plan.missing);
  for (const Stair& stair : plan.stairs) {
    fmt::print("plan: {} | {} | {} | {} | {} | {} | {}{}\n", stair.title, stair.limit, stair.cost,
               stair.figure, stair.interval, stair.times, stair.code,
               stair.gains ? " | gains" : "");
  }
  if (!plan.verdict.empty()) fmt::print("plan: {}\n", plan.verdict);
}

void PrintDashboard(const traces::Trace& trace, const analyzer::Report& report, Language language) {
  fmt::print("verdict: {}\n", Typeset(VerdictText(report, language)));
  if (report.diagnosis.loader) fmt::print("sure: {}\n", SureText(report, language));
  PrintPlan(report, language);
  for (const Card& card : CardsOf(report, language)) {
    fmt::print("card: {} | {} | {} | {}\n", card.title, card.figure, card.unit, card.line);
  }
  const OtherChanges changes = OtherChangesOf(report, language);
  for (const OtherChange& change : changes.shown) {
    fmt::print("also: {} | {} | {}\n", change.option, change.rate, change.gain);
  }
  if (!changes.more.empty()) fmt::print("also: {}\n", changes.more);
  for (const analyzer::Finding& finding : report.findings) {
    const FindingText text = TextOf(finding, language);
    fmt::print("{}: {}\n  {}\n  {}\n", TitleOfRule(finding.id, language), text.title, text.detail,
               text.action);
  }
  for (const std::string& line : InsteadOfFindings(report, language)) {
    fmt::print("no findings: {}\n", line);
  }
  for (const analyzer::NotChecked& missing : report.not_checked) {
    fmt::print("not checked: {}\n", Render(analyzer::Unchecked(missing), language));
  }
  fmt::print("seen: {}\n", Render(analyzer::Seen(report.coverage), language));
  for (const analyzer::Statement& blind : report.coverage.blind) {
    fmt::print("not seen: {}\n", Render(blind, language));
  }
  for (const std::string& line : Warnings(report, language)) fmt::print("warning: {}\n", line);
  const analyzer::ReportPlots plots = analyzer::BuildPlots(trace, report);
  fmt::print("no queue: {}\n", Render(plots.queue.missing, language));
  PrintNotes(report, language);
}

}  // namespace
}  // namespace penstock::gui

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string name = arguments[1];
  const auto trace = penstock::gui::TraceOf(name);
  if (trace == nullptr) return 4;
  const auto report = penstock::analyzer::BuildReport(*trace, name.substr(name.rfind('/') + 1));
  fmt::print("== terminal\n{}\n== JSON\n{}\n",
             penstock::analyzer::ReportText(report, penstock::analyzer::Colour::kOff,
                                            penstock::analyzer::Detail::kAll),
             penstock::analyzer::ReportJson(report));
  fmt::print("== dashboard, English\n");
  penstock::gui::PrintDashboard(*trace, report, penstock::gui::Language::kEnglish);
  fmt::print("== dashboard, Chinese\n");
  penstock::gui::PrintDashboard(*trace, report, penstock::gui::Language::kChinese);
  return 0;
}
