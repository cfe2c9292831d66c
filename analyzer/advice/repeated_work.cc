// SPDX-License-Identifier: Apache-2.0
//
// Every epoch does again what comes out the same each time and could be done once.
// Threshold: such transforms take 10 % of the fetches (as docs/diagnosis.md R17), two epochs or
// more. Only what is named after a transform without chance counts; where all are such, decoding
// comes out the same too, and 40 % of the fetches (R15) is the limit. Source: PRESTO (split points,
// 3 to 13x); Plumber's caches.
#include <algorithm>
#include <string_view>

#include "analyzer/advice/rules.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/words/findings_data.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

enum class TransformOutcome { kSame, kRandom, kUnknown };

TransformOutcome OutcomeOf(std::string_view transform) {
  const auto has = [&](std::string_view part) {
    return transform.find(part) != std::string_view::npos;
  };
  for (const std::string_view part :
       {"Random", "random", "Jitter", "jitter", "Auto", "Mix", "flip", "Flip", "Noise", "Drop"}) {
    if (has(part)) return TransformOutcome::kRandom;
  }
  for (const std::string_view part : {"Resize", "resize", "CenterCrop", "center_crop", "Pad",
                                      "Grayscale", "LongestMaxSize", "SmallestMaxSize"}) {
    if (has(part)) return TransformOutcome::kSame;
  }
  return TransformOutcome::kUnknown;
}

struct Same {
  double time = 0;  // seconds in transforms without chance
  bool all = true;  // no other was seen
  std::string names;
};

Same Find(const RuleInput& input) {
  Same same;
  const StageTotals& augment = input.diagnosis.run.stages[traces::StageId::kAugment];
  for (const auto& [name, part] : augment.children) {
    const std::string_view text = input.trace.String(name);
    if (OutcomeOf(text) != TransformOutcome::kSame) {
      same.all = false;
      continue;
    }
    same.time += Seconds(part.wall);
    same.names += (same.names.empty() ? "" : ", ") + std::string(text);
  }
  return same;
}

}  // namespace

void RepeatedWork(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (input.run().epochs.size() < 2)
    return out.Needs("repeated-work", Say<words::kRuleNeedsEpochs>());
  const StageTable& stages = input.diagnosis.run.stages;
  const double whole = stages.DataTime();
  const Same same = Find(input);
  if (whole <= 0 || same.time <= 0) return;
  const double decode = Seconds(stages[traces::StageId::kDecode].wall);
  const double augment = Seconds(stages[traces::StageId::kAugment].wall);
  const double share = (same.all ? decode + same.time : same.time) / whole;
  const double limit = same.all ? 0.4 : 0.1;
  if (share < limit || augment <= 0) return;
  Setting setting = input.Recorded();
  setting.scale = {{Factor::kAugment, std::max(0.0, 1 - same.time / augment)}};
  const LoaderRun& run = input.run();
  const double sample =
      run.samples_known ? BatchBytes(run) / static_cast<double>(run.samples_per_batch) : 0;
  if (same.all) {
    // Finished samples are read instead of files, at the speed files were read.
    const StageTotals& read = stages[traces::StageId::kRead];
    const auto samples = static_cast<double>(stages[traces::StageId::kSample].count);
    const double file = samples > 0 ? static_cast<double>(read.bytes.value) / samples : 0;
    if (sample <= 0 || file <= 0) return;
    setting.scale.emplace_back(Factor::kDecode, 0.0);
    setting.scale.emplace_back(Factor::kRead, sample / file);
  }
  Finding finding;
  finding.predicted = input.WithSetting(setting);
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "repeated-work";
  finding.severity = Severity::kWarning;
  finding.seen =
      Say<words::kRepeatedWork>(Give<"epochs">(run.epochs.size()), Give<"repeated_share">(share));
  finding.evidence = {{"repeated_share", share},
                      {"threshold", limit},
                      {"transforms", same.names},
                      {"epochs", static_cast<double>(run.epochs.size())},
                      {"sample_bytes", sample}};
  finding.action = Say<words::kStoreOnce>(Give<"all">(same.all), Give<"transforms">(same.names));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
