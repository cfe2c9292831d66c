// SPDX-License-Identifier: Apache-2.0
//
// Every epoch reads the dataset from storage, although it would fit into memory.
//
// Threshold: the dataset takes at most half of the memory that the run may use (the share of
// docs/diagnosis.md R23); in the last epoch reads still take 10 % of the fetches and are slower
// than 525 MB/s (a SATA SSD); and the run gains 5 % if reads run at 2 GB/s, the speed at which one
// core copies from the page cache (ours, cautious).
// Source: docs/diagnosis.md R14; DS-Analyzer and CoorDL.
#include <algorithm>

#include "analyzer/advice/rules.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/words/findings_data.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void FitsInRam(const RuleInput& input, Advice& out) {
  constexpr double kDisk = 525e6;
  constexpr double kMemory = 2e9;
  if (!input.diagnosis.loader) return;
  const LoaderRun& run = input.run();
  const auto needs_epochs = [&] { out.Needs("fits-in-ram", Say<words::kRuleNeedsEpochs>()); };
  if (run.epochs.empty()) return needs_epochs();
  const StageTotals& read = input.diagnosis.run.stages[traces::StageId::kRead];
  const double samples = input.diagnosis.run.samples();
  const double dataset = input.loader().material.dataset_bytes;
  const double room = BudgetOf(input.diagnosis.run.machine()).ram;
  if (dataset <= 0 || room <= 0 || dataset > room || read.count == 0 || !(samples > 0)) return;
  const Epoch& last = run.epochs.back();
  double reading = 0;
  double fetching = 0;
  for (std::size_t i = last.first; i < last.first + last.count; ++i) {
    reading += run.batches[i].read.wall;
    fetching += run.batches[i].fetch.wall;
  }
  const bool once = run.epochs.size() < 2;
  if (last.count < 8 && once) return needs_epochs();
  if (last.count < 8 || reading < 0.1 * fetching) return;
  const double bytes =
      static_cast<double>(read.bytes.value) / samples * static_cast<double>(run.samples_per_batch);
  const double speed = bytes * static_cast<double>(last.count) / reading;
  if (bytes <= 0 || speed >= kDisk) return;
  if (once) return needs_epochs();  // the next epoch may find the files in the page cache
  Finding finding;
  finding.predicted = input.WithScaled(Factor::kRead, std::min(1.0, speed / kMemory));
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "fits-in-ram";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kFitsInRam>(Give<"dataset_bytes">(dataset), Give<"room_bytes">(room));
  finding.evidence = {{"dataset_bytes", dataset},
                      {"room_bytes", room},
                      {"read_share_of_last_epoch", reading / fetching},
                      {"threshold", 0.1},
                      {"bytes_per_s_of_a_reader", speed},
                      {"assumed_bytes_per_s", kMemory},
                      {"ram_bytes", dataset}};
  const std::string root = TextFact(input.trace.facts(), "dataset.root");
  const auto shm = static_cast<double>(input.diagnosis.run.machine().shm_size.value);
  finding.action = Say<words::kKeepInRam>(
      Give<"own">(run.config.kind == "penstock"), Give<"mebibytes">(1.1 * dataset / 1048576 + 1),
      Give<"shm">(shm > 1.2 * dataset), Give<"root">(root.empty() ? "DATASET" : root));
  finding.from =
      last.start == kNever ? 0 : static_cast<double>(last.start - input.trace.begin().value) * 1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
