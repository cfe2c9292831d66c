// SPDX-License-Identifier: Apache-2.0
//
// Each tensor that is passed between processes holds a file descriptor. Batches of many tensors can
// use up the descriptors that a process may have. Then a loader dies with "received 0 items of
// ancdata" or EMFILE.
//
// Threshold: the batches in flight take half of the limit (ours: the program has files of its own).
// The fact loader.K.batch_tensors has the number of tensors of a batch. The training process's fact
// limit.open_files has the limit. There is no gain to predict: the run breaks or it does not.
// Source: docs/diagnosis.md R25; pytorch#973, #11201, PR#34768.
#include <fmt/core.h>

#include "analyzer/advice/place.h"
#include "analyzer/words/findings_memory.h"

namespace penstock::analyzer {

void TooManyDescriptors(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().config.id < 0) return;
  const LoaderConfig& config = input.run().config;
  if (config.sample_tasks || config.num_workers == 0) return;
  if (config.consumer.value >= input.trace.processes().size()) return;
  const Facts& facts = input.trace.processes()[config.consumer.value].facts;
  const auto tensors = NumberFact(facts, fmt::format("loader.{}.batch_tensors", config.id));
  const auto limit = NumberFact(facts, "limit.open_files");
  const bool by_name = TextFact(facts, "torch.sharing_strategy") == "file_system";
  if (!tensors || !limit || *limit <= 0 || by_name) return;
  // One batch for every credit, and the batch that the training loop holds.
  const double open = *tensors * (config.credits() + 1);
  if (open < 0.5 * *limit) return;
  Finding finding;
  finding.id = "too-many-descriptors";
  finding.severity = open >= *limit ? Severity::kCritical : Severity::kWarning;
  finding.seen = Say<words::kTooManyDescriptors>(Give<"descriptors">(open), Give<"limit">(*limit));
  finding.evidence = {{"tensors_per_batch", *tensors},
                      {"batches_on_their_way", static_cast<double>(config.credits())},
                      {"descriptors", open},
                      {"limit", *limit},
                      {"threshold_share", 0.5}};
  finding.action = Say<words::kFewerDescriptors>();
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
