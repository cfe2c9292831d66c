// SPDX-License-Identifier: Apache-2.0
//
// What the first view shows, from the analyzer's report: no number here is computed twice. Values;
// pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "gui/model/words/texts.h"
#include "traces/event.h"

namespace penstock::gui {

using analyzer::Typeset;

// How much a training run waits for its data; not known without a loader or a steady part. Source:
// XProf's input-pipeline thresholds.
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
  std::vector<RibbonPart> making;  // read, decode, augment, tokenize, other, collate, handing over
  std::vector<RibbonPart> loop;    // waiting, copying, computing
  double making_time = 0;          // seconds
  double loop_time = 0;
  int workers = 0;  // that make batches side by side; 0: the loop makes them itself
  bool workers_known = true;
  [[nodiscard]] bool empty() const { return making.empty() && loop.empty(); }
};
[[nodiscard]] Ribbon BuildRibbon(const analyzer::Report& report);

// The verdict in one sentence.
[[nodiscard]] std::string VerdictText(const analyzer::Report& report, Language language);

// A finding as the list shows it. In Chinese the title is the rule's name, and what was seen, with
// the figures, stands below.
struct FindingText {
  std::string title;
  std::string detail;  // "" where the title says it all
  std::string action;
};
[[nodiscard]] FindingText TextOf(const analyzer::Finding& finding, Language language);
// What a rule is called: its id, or its name in Chinese.
[[nodiscard]] std::string TitleOfRule(std::string_view id, Language language);

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
