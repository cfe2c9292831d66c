// SPDX-License-Identifier: Apache-2.0
//
// Memory of the workers grows all the time: reference counts of Python objects that fork shared
// turn their pages private one by one (copy on write), or something leaks. Threshold: by Theil and
// Sen's slope, 64 MB and a fifth of its size within the recording (ours), after the first fifth of
// it. Source: diagnosis.md R26; pytorch#13246.
#include <fmt/core.h>
#include <span>

#include "analyzer/advice/rules.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {

void WorkerMemoryGrowth(const RuleInput& input, Findings& out) {
  double growth = 0;
  double slope = 0;
  double size = 0;
  Finding finding;
  for (const CounterSeries& series : input.diagnosis.run.counters) {
    const auto& processes = input.trace.processes();
    if (series.name != "uss_bytes" || series.process.value >= processes.size()) continue;
    const traces::ProcessInfo& process = processes[series.process.value];
    if (process.role != wire::kRoleWorker) continue;
    const std::size_t skip = series.at.size() / 5;
    const std::span<const double> at(series.at.begin() + static_cast<std::ptrdiff_t>(skip),
                                     series.at.end());
    const std::span<const double> value(series.value.begin() + static_cast<std::ptrdiff_t>(skip),
                                        series.value.end());
    if (at.size() < 8) continue;
    const double one = TheilSenSlope(at, value);
    const double grown = one * (at.back() - at.front());
    if (grown < 64e6 || grown < 0.2 * value.front()) continue;
    slope += one;
    growth += grown;
    size += value.back();
    finding.pids.push_back(process.pid);
  }
  if (finding.pids.empty()) return;
  finding.id = "worker-memory-growth";
  finding.severity = Severity::kWarning;
  finding.title = fmt::format("{} workers grow by {:.0f} MB a minute together", finding.pids.size(),
                              60 * slope / 1e6);
  finding.evidence = {{"bytes_per_s", slope},
                      {"grown_bytes", growth},
                      {"private_bytes", size},
                      {"workers", static_cast<double>(finding.pids.size())}};
  finding.action =
      "Keep the dataset's index in numpy, pyarrow or torch arrays instead of lists and "
      "dictionaries "
      "of Python objects; fewer workers slow the growth.";
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
