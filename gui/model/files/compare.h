// SPDX-License-Identifier: Apache-2.0
//
// What the compare view shows of two documents. All figures, and which of them are significant,
// come from analyzer::Compare; nothing is computed twice. Values; building is pure.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analyzer/report/compare.h"
#include "gui/model/document.h"
#include "gui/model/words/texts.h"
#include "traces/base/result.h"

namespace penstock::gui {

// A setting that differs between the two documents. Numbers and names stay as they are; true and
// false become words of the window's language.
struct SettingChange {
  std::string name;  // as in code ("num_workers"), "" where `label` names it
  Text label{};
  std::string before;
  std::string after;
};

struct CompareAnswer {
  analyzer::Comparison comparison;
  std::vector<analyzer::Finding> gone;     // in A only, by id
  std::vector<analyzer::Finding> fresh;    // in B only
  std::vector<analyzer::Finding> in_both;  // as in B
};

// A is the baseline. Errors: those of analyzer::Compare. Cost: that of analyzer::Compare, some 0.1
// s for 10,000 batches.
[[nodiscard]] analyzer::Predicted<CompareAnswer> CompareDocuments(const Document& a,
                                                                  const Document& b);

// The settings in which the loaders, machines or commands of the two documents differ.
[[nodiscard]] std::vector<SettingChange> SettingsThatDiffer(const Document& a, const Document& b,
                                                            const CompareAnswer& answer,
                                                            Language language);

// The result in one sentence. `why`: its cause, as far as the recordings show it: another data set,
// the stage that changed most, the wait, the settings. If no setting with a name in code differs,
// it is the command. It may be empty.
struct CompareSentence {
  std::string text;
  std::string why;
};
[[nodiscard]] CompareSentence SentenceOf(const CompareAnswer& answer,
                                         const std::vector<SettingChange>& settings,
                                         Language language);

// The title of a row of analyzer::Comparison::stages: "decode", "decode, CPU", "copy to GPU".
[[nodiscard]] std::string StageTitle(const std::string& name, Language language);
// The stage whose colour such a row is drawn in.
[[nodiscard]] traces::StageId StageOfChange(std::string_view name);

// A ratio of after to before as text: "-31 %", "3.2x".
[[nodiscard]] std::string RatioText(double ratio);
// The loader of one side: "2 workers, prefetch 2, batch 64, pinned".
[[nodiscard]] std::string SideText(const analyzer::SideFacts& side, Language language);

// Compares on its own thread. All members belong to the thread that made it.
class CompareJob {
 public:
  // `wake` is called from the job's thread when the answer is there.
  CompareJob(Document a, Document b, std::function<void()> wake);
  ~CompareJob() = default;  // waits for the answer
  CompareJob(const CompareJob&) = delete;
  CompareJob& operator=(const CompareJob&) = delete;

  [[nodiscard]] bool finished() const { return done_.load(std::memory_order_acquire); }
  // Requires: finished().
  [[nodiscard]] const analyzer::Predicted<CompareAnswer>& answer() const { return *answer_; }

 private:
  std::optional<analyzer::Predicted<CompareAnswer>> answer_;  // written before done_
  std::atomic<bool> done_{false};  // release pairs with acquire in finished()
  std::jthread thread_;
};

}  // namespace penstock::gui
