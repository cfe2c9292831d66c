// SPDX-License-Identifier: Apache-2.0
//
// Each sample is a small file of its own, and opening it costs more than reading its bytes.
//
// Threshold: at least nine reads for ten samples; reads take at least a quarter of the time that
// workers spend on data, and have less than 1 MB on average, less than 50 MB/s, and a median
// duration of at least 1 ms; reads that cost nothing would gain at least 1 % (ours). A read of such
// a file takes about 0.1 ms from the page cache, and about 0.3 ms from a local SSD.
// Source: docs/diagnosis.md R11; monodepth2#157, mmaction2#264.
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void SmallFiles(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const StageTotals& read = input.diagnosis.run.stages[traces::StageId::kRead];
  const double share = input.ShareOfFetch(traces::StageId::kRead);
  if (share < 0.25 || read.count == 0 || read.bytes.value == 0 || read.wall.value == 0) return;
  if (static_cast<double>(read.count) < 0.9 * input.diagnosis.run.samples()) return;
  const double bytes = static_cast<double>(read.bytes.value) / static_cast<double>(read.count);
  const double time = read.durations.Quantile(0.5);
  const double speed = static_cast<double>(read.bytes.value) / Seconds(read.wall);
  if (bytes >= 1e6 || time < 1e-3 || speed >= 50e6) return;
  Finding finding;
  finding.id = "small-files";
  finding.predicted = input.Without(Factor::kRead);
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for reads
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen = Say<words::kSmallFiles>(Give<"bytes_per_file">(bytes), Give<"read_s">(time));
  finding.evidence = {{"bytes_per_file", bytes},
                      {"read_p50_s", time},
                      {"bytes_per_s", speed},
                      {"threshold_bytes_per_s", 50e6},
                      {"read_share", share}};
  finding.action = Say<words::kPackFiles>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
