// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tune/candidates.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/report/report.h"
#include "analyzer/tune/race.h"

namespace penstock::analyzer {
namespace {

constexpr double kNearlyAsGood = 0.9;  // predicted: near enough for noise to hide the difference

// A finding's fix that needs no edit.
struct OutsideFix {
  std::string finding;
  std::vector<std::string> overrides;
  std::vector<std::string> paste;
  std::optional<Prediction> predicted;
  double cpu_share = 0;  // of decoding, transforms and collation that it saves; 0: not known
};

template <class T>
T EvidenceOf(const Finding& finding, std::string_view name) {
  for (const auto& [key, value] : finding.evidence) {
    if (key == name && std::holds_alternative<T>(value)) return std::get<T>(value);
  }
  return {};
}

std::optional<OutsideFix> FixOf(const Finding& finding) {
  OutsideFix fix;
  fix.finding = finding.id;
  fix.predicted = finding.predicted;
  if (finding.id == "allocator-page-faults") {
    fix.cpu_share = EvidenceOf<double>(finding, "cpu_share");
    const auto allocator = EvidenceOf<std::string>(finding, "allocator");
    if (allocator == "libc") {
      fix.overrides = {"malloc=keep"};
      fix.paste = {"export MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456"};
    } else if (allocator == "jemalloc") {  // Pillow's blocks, where the finding names them
      fix.overrides = {"pillow_blocks=16"};
      fix.paste = {"export PILLOW_BLOCKS_MAX=16"};
    }
  } else if (finding.id == "cpu-oversubscribed") {
    fix.overrides = {"threads=1", "cv2_threads=0"};
    fix.paste = {
        "export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "
        "NUMEXPR_NUM_THREADS=1",
        "cv2.setNumThreads(0)  # with OpenCV"};
  }
  if (fix.overrides.empty()) return std::nullopt;
  return fix;
}

std::vector<OutsideFix> FixesOf(const traces::Trace& trace, const Diagnosis& diagnosis) {
  std::vector<OutsideFix> fixes;
  for (const Finding& finding : RunRules(trace, diagnosis).findings) {
    if (auto fix = FixOf(finding)) fixes.push_back(std::move(*fix));
  }
  return fixes;
}

void Join(TuneCandidate& candidate, const OutsideFix& fix) {
  candidate.reasons.push_back(fix.finding);
  candidate.setting.outside.insert(candidate.setting.outside.end(), fix.overrides.begin(),
                                   fix.overrides.end());
  candidate.paste.insert(candidate.paste.begin(), fix.paste.begin(), fix.paste.end());
}

class Collector {
 public:
  Collector(const traces::Trace& trace, const Diagnosis& diagnosis, const TuneBudget& budget)
      : input_{trace, diagnosis},
        budget_(budget),
        suggestion_(SuggestWithin(diagnosis, budget.ram)),
        fixes_(FixesOf(trace, diagnosis)) {}

  std::vector<TuneCandidate> Collect() {
    const bool suggested = suggestion_.changes && suggestion_.predicted.speedup >= kWorthIt;
    if (suggested && !fixes_.empty()) Add(Together());
    for (const OutsideFix& fix : fixes_) Add(Alone(fix));
    if (suggested) {
      Add(Suggested());
      AddCheaper();
    }
    SortByCost();
    return std::move(found_);
  }

 private:
  void Add(TuneCandidate candidate) {
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const TuneCandidate& one) {
      return one.setting == candidate.setting;
    });
    if (found_.size() < budget_.candidates && !known) found_.push_back(std::move(candidate));
  }

  [[nodiscard]] TuneCandidate Suggested() const {
    return Loader(suggestion_.workers, suggestion_.prefetch, suggestion_.persistent_workers,
                  suggestion_.predicted);
  }

  [[nodiscard]] TuneCandidate Loader(int workers, int prefetch, bool persistent,
                                     const Prediction& predicted) const {
    Suggestion as = suggestion_;
    as.workers = workers;
    as.prefetch = prefetch;
    as.persistent_workers = persistent;
    TuneCandidate candidate;
    // Loaders that the loop drains together are predicted with the same setting, so all get it.
    const bool alone = input_.run().use != LoopUse::kInterleaved;
    candidate.setting.loader =
        LoaderSetting{workers, prefetch, persistent, alone ? budget_.loader : ""};
    candidate.reasons = {"suggestion"};
    candidate.predicted = predicted;
    candidate.paste = {LoaderCode(input_.run().config, as)};
    candidate.note =
        NoteOnWorkers(input_.loader().sharding, input_.run().config.num_workers, workers);
    return candidate;
  }

  static TuneCandidate Alone(const OutsideFix& fix) {
    TuneCandidate candidate;
    Join(candidate, fix);
    candidate.predicted = fix.predicted;
    return candidate;
  }

  // Everything at once. Its gain is predicted where that of every part is.
  [[nodiscard]] TuneCandidate Together() const {
    TuneCandidate candidate = Suggested();
    Setting setting = input_.Recorded();
    setting.workers = suggestion_.workers;
    setting.prefetch = suggestion_.prefetch;
    setting.persistent = suggestion_.persistent_workers;
    bool known = true;
    for (const OutsideFix& fix : fixes_) {
      Join(candidate, fix);
      known = known && fix.cpu_share > 0;
      for (const Factor part : {Factor::kDecode, Factor::kAugment, Factor::kCollate}) {
        setting.scale.emplace_back(part, 1 - fix.cpu_share);
      }
    }
    candidate.predicted = std::nullopt;
    if (known) candidate.predicted = input_.WithSetting(setting);
    return candidate;
  }

  // Fewer workers that are predicted to do nearly as well: noise may hide what they lack.
  void AddCheaper() {
    const int recorded = input_.run().config.num_workers;
    for (int workers = 1; workers < suggestion_.workers; ++workers) {
      if (workers == recorded) continue;
      const Prediction predicted = input_.With(workers, suggestion_.prefetch);
      if (predicted.speedup < kWorthIt ||
          predicted.speedup < kNearlyAsGood * suggestion_.predicted.speedup) {
        continue;
      }
      Add(Loader(workers, suggestion_.prefetch, suggestion_.persistent_workers, predicted));
      return;
    }
  }

  void SortByCost() {
    const LoaderConfig& config = input_.run().config;
    const auto cost = [&](const TuneCandidate& one) {
      const LoaderSetting as_is{config.num_workers, config.prefetch_factor, false, ""};
      const LoaderSetting setting = one.setting.loader.value_or(as_is);
      return std::tuple(setting.workers, setting.prefetch, one.setting.outside.size(),
                        one.setting.loader.has_value());
    };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
  }

  RuleInput input_;
  TuneBudget budget_;
  Suggestion suggestion_;
  std::vector<OutsideFix> fixes_;
  std::vector<TuneCandidate> found_;
};

}  // namespace

std::string TuneSetting::Override() const {
  std::string text;
  if (loader && loader->workers == 0) text = "workers=0";
  if (loader && loader->workers > 0) {
    text = fmt::format("workers={},prefetch={},persistent={}", loader->workers, loader->prefetch,
                       loader->persistent ? 1 : 0);
  }
  if (loader && !loader->at.empty()) text += ",at=" + loader->at;
  for (const std::string& one : outside) text += (text.empty() ? "" : ",") + one;
  return text;
}

Suggestion SuggestWithin(const Diagnosis& diagnosis, double ram) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  Budget budget = BudgetOf(diagnosis.run.host);
  if (ram > 0) budget.ram = ram;
  return Suggest(loader.pipeline, loader.facts, loader.replay, budget);
}

std::vector<TuneCandidate> TuneCandidates(const traces::Trace& trace, const Diagnosis& diagnosis,
                                          const TuneBudget& budget) {
  return Collector(trace, diagnosis, budget).Collect();
}

}  // namespace penstock::analyzer
