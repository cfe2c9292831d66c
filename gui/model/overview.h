// SPDX-License-Identifier: Apache-2.0
//
// What the first view shows, from the analyzer's report: no number here is computed twice. Values;
// pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "gui/model/texts.h"
#include "traces/event.h"

namespace penstock::gui {

// How much a training run waits for its data. Source: XProf's input-pipeline thresholds.
enum class InputBound : std::uint8_t { kUnknown, kNot, kModerately, kHighly };
[[nodiscard]] InputBound Judge(const analyzer::Report& report);

struct RibbonPart {
  traces::StageId colour = traces::StageId::kNone;
  Text name{};
  double seconds = 0;  // of one batch, mean
  bool bottleneck = false;
};

// A batch on its way: made by a worker, then used by the training loop. Both are drawn to one
// scale.
struct Ribbon {
  std::vector<RibbonPart> making;  // read, decode, augment, other, collate, handing over
  std::vector<RibbonPart> loop;    // waiting, copying, computing
  double making_time = 0;          // seconds
  double loop_time = 0;
  int workers = 0;  // that make batches side by side; 0: the loop makes them itself
  [[nodiscard]] bool empty() const { return making.empty() && loop.empty(); }
};
[[nodiscard]] Ribbon BuildRibbon(const analyzer::Report& report);

// The verdict in one sentence. English is the analyzer's own; Chinese says the same
// (verdict_texts.cc).
[[nodiscard]] std::string VerdictText(const analyzer::Report& report, Language language);

// A finding as the list shows it. In Chinese the title and the advice are those of its id, and what
// was seen of it, with the figures, stands below.
struct FindingText {
  std::string title;
  std::string detail;  // "" where the title says it all
  std::string action;
};
[[nodiscard]] FindingText TextOf(const analyzer::Finding& finding, Language language);
// What a rule is called: its id, or its title in Chinese.
[[nodiscard]] std::string_view TitleOfRule(std::string_view id, Language language);

// A sentence of the analyzer as it is set here: with a capital, unless it begins with a name, and
// arrows that are arrows.
[[nodiscard]] std::string Typeset(std::string text);

// "samples/s", "images/s" or "batches/s" (analyzer::RateUnit) in the language of the window.
[[nodiscard]] std::string_view UnitText(std::string_view unit, Language language);

// What a suggestion changes: "num_workers", 2, 4.
struct Change {
  Text name{};
  int before = 0;
  int after = 0;
};
[[nodiscard]] std::vector<Change> ChangesOf(const analyzer::Report& report);

// Loss and blindness in one line each; empty if the trace is whole.
[[nodiscard]] std::vector<std::string> Warnings(const analyzer::Report& report, Language language);

[[nodiscard]] Text NameOf(analyzer::Factor factor);

}  // namespace penstock::gui
