// SPDX-License-Identifier: Apache-2.0
//
// What the compare view shows of two documents. The figures and what is called significant are
// analyzer::Compare's; nothing is computed a second time. Values; building is pure.
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

// A setting that is not the same in both. Numbers and names as they are; yes and no as texts.
struct SettingChange {
  std::string name;  // as in code ("num_workers"), "" where `label` names it
  Text label{};
  std::string before;
  std::string after;
};

struct CompareAnswer {
  analyzer::Comparison comparison;
  std::vector<analyzer::Finding> gone;   // in A only, by id
  std::vector<analyzer::Finding> fresh;  // in B only
  std::size_t in_both = 0;
  // The scripts of two runs that are not of one program; empty: they are, or it is not known.
  std::string program_before;
  std::string program_after;
};

// A is the baseline. Errors: those of analyzer::Compare.
// Cost: that of analyzer::Compare: some 0.1 s for 10,000 batches.
[[nodiscard]] analyzer::Predicted<CompareAnswer> CompareDocuments(const Document& a,
                                                                  const Document& b);

// What differs between the two loaders, their machines and their commands.
[[nodiscard]] std::vector<SettingChange> SettingsThatDiffer(const Document& a, const Document& b,
                                                            const CompareAnswer& answer,
                                                            Language language);

// The answer in one sentence, and why, as far as the recordings tell: the stage that changed most,
// the wait, the settings. `why` may be empty.
struct CompareSentence {
  std::string text;
  std::string why;
};
[[nodiscard]] CompareSentence SentenceOf(const CompareAnswer& answer,
                                         const std::vector<SettingChange>& settings,
                                         Language language);

// "decode", "decode, CPU", "copy to GPU": a row of analyzer::Comparison::stages for a person.
[[nodiscard]] std::string StageTitle(const std::string& name, Language language);
// The stage whose colour the row has.
[[nodiscard]] traces::StageId StageOfChange(std::string_view name);

// "-31 %", "3.2x": of a ratio after over before.
[[nodiscard]] std::string RatioText(double ratio);
// "2 workers, prefetch 2, batch 64, pinned": of one side.
[[nodiscard]] std::string SideText(const analyzer::SideFacts& side, Language language);

// Compares on a thread of its own. All members belong to the thread that made it.
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
