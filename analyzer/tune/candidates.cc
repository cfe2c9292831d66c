// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tune/candidates.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/plan/plan.h"
#include "analyzer/report/report.h"
#include "analyzer/tune/race.h"

namespace penstock::analyzer {
namespace {

constexpr double kNearlyAsGood =
    0.9;  // of the suggestion's predicted speed-up; noise may hide the difference

// The remedy of a finding, if it needs no edit of the program.
struct OutsideFix {
  std::string finding;
  std::string step;  // the step of a plan that makes the same change; "": no step does
  std::vector<std::string> overrides;
  std::vector<std::string> paste;
  std::optional<Prediction> predicted;
  double cpu_share = 0;  // saved share of the CPU time of decoding, transforms and collate
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
    fix.step = "malloc";
    fix.cpu_share = EvidenceOf<double>(finding, "cpu_share");
    const auto allocator = EvidenceOf<std::string>(finding, "allocator");
    if (allocator == "libc") {
      fix.overrides = {"malloc=keep"};
      fix.paste = {"export MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456"};
    } else if (allocator == "jemalloc") {  // Pillow keeps its blocks
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

std::vector<OutsideFix> FixesOf(const Findings& findings) {
  std::vector<OutsideFix> fixes;
  for (const Finding& finding : findings) {
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

// The plan of the changes that need no edit of the program.
Plan OutsidePlan(const traces::Trace& trace, const Diagnosis& diagnosis, const Findings& findings,
                 double ram) {
  PlanRequest request;
  request.budget_ram = ram;
  request.outside = true;
  return BuildPlan(trace, diagnosis, findings, request);
}

class Collector {
 public:
  Collector(const traces::Trace& trace, const Diagnosis& diagnosis, const TuneBudget& budget)
      : input_{trace, diagnosis},
        budget_(budget),
        suggestion_(SuggestWithin(diagnosis, budget.ram)),
        findings_(RunRules(trace, diagnosis).findings),
        fixes_(FixesOf(findings_)),
        plan_(OutsidePlan(trace, diagnosis, findings_, budget.ram)) {}

  std::vector<TuneCandidate> Collect() {
    const std::vector<TuneCandidate> settings = Settings();
    if (!settings.empty() && !fixes_.empty()) Add(Together(settings.front()));
    for (const OutsideFix& fix : fixes_) Add(Alone(fix));
    for (const TuneCandidate& setting : settings) Add(setting);
    if (!settings.empty()) AddCheaper();
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

  // The whole plan, then the plan without its last step, without its last two, and so on. If the
  // plan has no step, the suggestion.
  [[nodiscard]] std::vector<TuneCandidate> Settings() const {
    std::vector<TuneCandidate> settings;
    for (std::size_t count = plan_.steps.size(); count > 0; --count) {
      if (!plan_.steps[count - 1].with_next) settings.push_back(Planned(count));
    }
    if (plan_.steps.empty() && suggestion_.changes && suggestion_.predicted.speedup >= kWorthIt) {
      settings.push_back(Loader(suggestion_.workers, suggestion_.prefetch,
                                suggestion_.persistent_workers, suggestion_.predicted));
    }
    return settings;
  }

  // The first `count` steps of the plan.
  [[nodiscard]] TuneCandidate Planned(std::size_t count) const {
    Setting setting = plan_.steps[count - 1].setting;
    const Setting recorded = input_.Recorded();
    const bool stay = input_.loader().facts.persistent;
    const bool stays = setting.persistent.value_or(stay);
    const bool changed = setting.workers != recorded.workers ||
                         setting.prefetch != recorded.prefetch || stays != stay;
    TuneCandidate candidate;
    if (changed) candidate = Loader(setting.workers, setting.prefetch, stays, {});
    candidate.reasons = {"plan"};
    for (std::size_t i = 0; i < count; ++i) {
      for (const OutsideFix& fix : fixes_) {
        if (fix.step != plan_.steps[i].id) continue;
        Join(candidate, fix);
        AddSaving(fix, setting);
      }
    }
    candidate.predicted = input_.WithSetting(setting);
    return candidate;
  }

  static void AddSaving(const OutsideFix& fix, Setting& setting) {
    for (const Factor part :
         {Factor::kDecode, Factor::kAugment, Factor::kTokenize, Factor::kCollate}) {
      setting.scale.emplace_back(part, 1 - fix.cpu_share);
    }
  }

  [[nodiscard]] TuneCandidate Loader(int workers, int prefetch, bool persistent,
                                     const Prediction& predicted) const {
    Suggestion as = suggestion_;
    as.workers = workers;
    as.prefetch = prefetch;
    as.persistent_workers = persistent;
    TuneCandidate candidate;
    // Loaders that the loop uses together are predicted with the same setting, so all of them get
    // it.
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

  // `setting` with those fixes added that it lacks. If a fix is added, the gain is not known.
  [[nodiscard]] TuneCandidate Together(TuneCandidate setting) const {
    for (const OutsideFix& fix : fixes_) {
      const auto& reasons = setting.reasons;
      if (std::find(reasons.begin(), reasons.end(), fix.finding) != reasons.end()) continue;
      Join(setting, fix);
      setting.predicted = std::nullopt;
    }
    return setting;
  }

  // Adds a smaller number of workers that is predicted to be nearly as fast, because noise may hide
  // the difference.
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
  Findings findings_;
  std::vector<OutsideFix> fixes_;
  Plan plan_;
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
