// SPDX-License-Identifier: Apache-2.0
//
// Workers wait for the bytes of files that are large enough to be read at full speed.
//
// Threshold: the loop waits 5 %, and reads take 40 % of the fetches (docs/diagnosis.md R10). Reads
// are slower than 525 MB/s, the speed of a SATA SSD (DS-Analyzer's constant; the page cache gives
// several GB/s), and have a median of 1 ms. The run gains 5 % without them. The rule small-files
// reports small and slow reads.
// Source: docs/diagnosis.md R10, R12; Plumber.
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void SlowStorage(const RuleInput& input, Advice& out) {
  constexpr double kDisk = 525e6;
  if (!input.diagnosis.loader || input.diagnosis.wait_fraction < 0.05) return;
  const StageTotals& read = input.diagnosis.run.stages[traces::StageId::kRead];
  const double share = input.ShareOfFetch(traces::StageId::kRead);
  if (share < 0.4 || read.count == 0 || read.bytes.value == 0 || read.wall.value == 0) return;
  const double bytes = static_cast<double>(read.bytes.value) / static_cast<double>(read.count);
  const double time = read.durations.Quantile(0.5);
  const double speed = static_cast<double>(read.bytes.value) / Seconds(read.wall);
  const bool small_files = bytes < 1e6 && speed < 50e6;
  if (small_files || time < 1e-3 || speed >= kDisk) return;
  Finding finding;
  finding.predicted = input.Without(Factor::kRead);
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "slow-storage";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kSlowStorage>(Give<"bytes_per_s">(speed), Give<"read_share">(share));
  const double whole = input.diagnosis.run.duration();
  finding.evidence = {
      {"read_share", share},
      {"threshold", 0.4},
      {"bytes_per_s_of_a_reader", speed},
      {"bytes_per_s_together", whole > 0 ? static_cast<double>(read.bytes.value) / whole : 0},
      {"disk_bytes_per_s", kDisk},
      {"bytes_per_read", bytes},
      {"storage", TextFact(input.trace.facts(), "dataset.storage")}};
  finding.action = Say<words::kFasterStorage>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
