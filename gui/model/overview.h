// SPDX-License-Identifier: Apache-2.0
//
// What the first view shows of the analyzer's report; no number is computed twice. Values; pure.
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

// How much a training run waits for its data; kUnknown without a loader or a steady window. Source:
// the thresholds of XProf's input pipeline.
enum class InputBound : std::uint8_t { kUnknown, kNot, kModerately, kHighly };
[[nodiscard]] InputBound Judge(const analyzer::Report& report);

struct RibbonPart {
  traces::StageId colour = traces::StageId::kNone;
  Text name{};
  double seconds = 0;  // mean over the batches
  bool bottleneck = false;
  double computing = -1;      // the seconds of them on a core; < 0: not known, or nothing to tell
  bool beside = false;        // a put of which some passes beside the worker's next batch
  bool lighter = false;       // has the colour of another part, and is drawn lighter than that
  analyzer::Statement why{};  // why it is the bottleneck although another part takes longer
};

// The time of a batch: first a worker makes it, then the training loop uses it. Both parts are
// drawn to one scale.
struct Ribbon {
  std::vector<RibbonPart> making;  // read, decode, augment in one part or two, tokenize, other, ...
  std::vector<RibbonPart> loop;    // waiting, waiting for other loaders, copying, computing
  double making_time = 0;          // seconds
  double worker_time = 0;  // the same, without a put that passes beside the worker's next batch
  double loop_time = 0;
  int workers = 0;  // 0: the training loop makes the batches itself
  bool workers_known = true;
  bool window = false;  // the means are of the batches that count; otherwise of all batches
  bool steady = false;  // these batches are a steady part
  Text title = Text::kRibbonTitle;
  Text each_made = Text::kEachBatch;  // of which the times are; for several workers another text
  Text each = Text::kEachOfAllBatches;
  [[nodiscard]] bool empty() const { return making.empty() && loop.empty(); }
};
// For a program without a loader: RibbonOfLoop().
[[nodiscard]] Ribbon BuildRibbon(const analyzer::Report& report);
// The time of a sample or image in a loop that makes its data itself: what that consists of, and
// beside it the rest of the loop. Empty if the loop does not, or if that is not known.
[[nodiscard]] Ribbon RibbonOfLoop(const analyzer::Diagnosis& diagnosis);
// Says why a bottleneck takes less time than another stage: the cores are full, so that stages cost
// what they need of a core, and the longer one waits more. The parts of a stage count together.
void ExplainBottleneck(const analyzer::CpuLoad& cpu, std::vector<RibbonPart>& making);

// The mean length of the training loop's step, as the ribbon shows it: without the copies to the
// device and without the wait for other loaders. Units: seconds. Requires: diagnosis.loader.
[[nodiscard]] double MeanStep(const analyzer::Diagnosis& diagnosis);

// The verdict as one sentence.
[[nodiscard]] std::string VerdictText(const analyzer::Report& report, Language language);

// A finding as the list shows it. In Chinese the title is the name of the rule, and what was seen
// stands below it with the figures.
struct FindingText {
  std::string title;
  std::string detail;  // "" if the title says everything
  std::string action;
};
[[nodiscard]] FindingText TextOf(const analyzer::Finding& finding, Language language);
// What to do about a finding: its advice, its place in the plan, and its own prediction.
[[nodiscard]] std::string AdviceText(const analyzer::Report& report,
                                     const analyzer::Finding& finding, Language language);
// The name of a rule: its id in English, its name in Chinese.
[[nodiscard]] std::string TitleOfRule(std::string_view id, Language language);

// What the list says where there are no findings: first that the checks found nothing, or that
// there was nothing to check, then which checks need what. Empty if there are findings.
[[nodiscard]] std::vector<std::string> InsteadOfFindings(const analyzer::Report& report,
                                                         Language language);

// A change that a suggestion makes: "num_workers", 2, 4.
struct Change {
  Text name{};
  int before = 0;
  int after = 0;
};
[[nodiscard]] std::vector<Change> ChangesOf(const analyzer::Report& report);

// One line each about losses and about what hooks did not see; empty if the trace is complete.
[[nodiscard]] std::vector<std::string> Warnings(const analyzer::Report& report, Language language);

// One line about what hooks saw, what they could not see, and that nothing was lost.
[[nodiscard]] std::string CoverageText(const analyzer::Report& report, Language language);

[[nodiscard]] Text NameOf(analyzer::Factor factor);
// What costs nothing, in a list of the gains of parts. The prefetch depth is no part that costs:
// its gain is that of batches that all take as long.
[[nodiscard]] Text NameOfFree(analyzer::Factor factor);

}  // namespace penstock::gui
