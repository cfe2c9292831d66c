// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/step_findings.h"

#include <algorithm>
#include <array>
#include <set>

#include "analyzer/diagnosis/base.h"
#include "analyzer/words/rule_names.h"

namespace penstock::analyzer {
namespace {

// Whether the step must add or remove workers to answer the finding.
enum class Workers { kAny, kMore, kFewer };

struct Answer {
  std::string_view step;
  std::string_view finding;
  Workers workers = Workers::kAny;
};

constexpr std::array kAnswers = {
    Answer{"num_workers", "no-worker-processes", Workers::kMore},
    Answer{"num_workers", "too-few-workers", Workers::kMore},
    Answer{"num_workers", "too-many-workers", Workers::kFewer},
    Answer{"num_workers", "trainer-starved", Workers::kFewer},
    Answer{"prefetch_factor", "prefetch-too-shallow"},
    Answer{"persistent_workers", "workers-restart-each-epoch"},
    Answer{"persistent_workers", "slow-worker-start"},
    Answer{"malloc", "allocator-page-faults"},
    Answer{"pin_memory", "pageable-copies"},
    Answer{"pin_memory", "copies-not-overlapped"},
    Answer{"in_order", "stragglers"},
    Answer{"slow_samples", "slow-samples"},
    Answer{"slow_samples", "stragglers"},
    Answer{"python_loop", "hot-python-loop"},
    Answer{"slow_call", "slow-call"},
    Answer{"fewer_frames", "decodes-more-frames-than-used"},
    Answer{"draft", "decode-larger-than-needed"},
    Answer{"stored_size", "decode-larger-than-needed"},
    Answer{"decoder", "slow-decoder"},
    Answer{"ram_cache", "slow-storage"},
    Answer{"ram_cache", "cold-cache"},
    Answer{"ram_cache", "fits-in-ram"},
    Answer{"ram_cache", "small-files"},
    Answer{"pack", "small-files"},
    Answer{"reads_apart", "serialised-reads"},
    Answer{"store_once", "repeated-work"},
    Answer{"transfer_u8", "transfer-ceiling"},
    Answer{"transfer_u8", "normalize-on-cpu"},
    Answer{"transforms_in_workers", "transforms-in-the-loop"},
    Answer{"gpu_augment", "move-augment-to-gpu"},
    Answer{"gpu_decode", "move-decode-to-gpu"},
};

static_assert(std::all_of(kAnswers.begin(), kAnswers.end(), [](const Answer& one) {
  return std::any_of(words::kRuleNames.begin(), words::kRuleNames.end(),
                     [&](const Message& name) { return std::string_view(name.id) == one.finding; });
}));

}  // namespace

std::vector<std::string> FindingsOfStep(std::string_view step, bool more_workers,
                                        const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    const bool answered = std::any_of(kAnswers.begin(), kAnswers.end(), [&](const Answer& one) {
      const bool direction =
          one.workers == Workers::kAny || (one.workers == Workers::kMore) == more_workers;
      return one.step == step && one.finding == finding.id && direction;
    });
    if (answered) ids.push_back(finding.id);
  }
  return ids;
}

bool GoesFurther(std::string_view step, std::string_view finding) {
  // The finding assumes half of the time for decoding, as at half of the size.
  return step == "stored_size" && finding == "decode-larger-than-needed";
}

std::vector<std::string> RemediedBy(const Lever& lever, const std::vector<Finding>& findings) {
  std::vector<std::string> ids = FindingsOfStep(lever.id, false, findings);
  if (!lever.also.empty()) ids.push_back(lever.also);
  return ids;
}

std::vector<PlanLeft> FindingsLeftBy(const Plan& plan, const Diagnosis& diagnosis,
                                     const std::vector<Finding>& findings, const Levers& levers,
                                     LeverSet end) {
  constexpr double kToldGain = 1.005;  // a smaller gain is shown nowhere
  std::set<std::string> known;
  for (const PlanStep& step : plan.steps) {
    known.insert(step.findings.begin(), step.findings.end());
  }
  for (const PlanRest& one : plan.rest) known.insert(one.finding);
  for (const char* argument : {"num_workers", "prefetch_factor"}) {
    for (const bool more : {false, true}) {
      const auto ids = FindingsOfStep(argument, more, findings);
      known.insert(ids.begin(), ids.end());
    }
  }
  std::set<std::string> remedied;
  std::set<std::string> excluded;
  for (std::size_t i = 0; i < levers.all.size(); ++i) {
    const auto ids = RemediedBy(levers.all[i], findings);
    remedied.insert(ids.begin(), ids.end());
    const LeverSet one = LeverSet{1} << i;
    if ((end & one) != 0 || !levers.Allows(end | one)) excluded.insert(ids.begin(), ids.end());
  }
  std::vector<PlanLeft> left;
  for (const Finding& finding : findings) {
    if (!finding.predicted || !finding.predicted->refused.empty()) continue;
    if (OnBase(diagnosis, *finding.predicted).speedup < kToldGain) continue;
    if (known.count(finding.id) > 0) continue;
    left.push_back({finding.id, excluded.count(finding.id) > 0, remedied.count(finding.id) > 0});
  }
  return left;
}

}  // namespace penstock::analyzer
