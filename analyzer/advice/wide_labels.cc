// SPDX-License-Identifier: Apache-2.0
//
// Integers of eight bytes travel where one would do: masks and label maps as int64.
// Threshold: int64 is 20 % of a batch's bytes and 1 MB of them (ours): a label for each sample is
// not worth a word, a mask for each pixel is more than the picture. Needs the fact
// loader.K.batch_types ("uint8:150528 int64:401408", bytes by type). Source: diagnosis.md R17.
#include <fmt/core.h>
#include <cstdlib>
#include <string>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {
namespace {

struct Types {
  double wide = 0;
  double all = 0;
};

Types ReadTypes(const std::string& fact) {
  Types types;
  std::size_t at = 0;
  while (at < fact.size()) {
    const std::size_t end = std::min(fact.find(' ', at), fact.size());
    const std::string entry = fact.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos) continue;
    const double bytes = std::strtod(entry.c_str() + colon + 1, nullptr);
    if (!(bytes > 0) || bytes > 1e15) continue;
    types.all += bytes;
    if (entry.compare(0, colon, "int64") == 0) types.wide += bytes;
  }
  return types;
}

}  // namespace

void WideLabels(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.run().config.id < 0) return;
  const ProcessId consumer = input.run().config.consumer;
  if (consumer.value >= input.trace.processes().size()) return;
  const Types types =
      ReadTypes(TextFact(input.trace.processes()[consumer.value].facts,
                         fmt::format("loader.{}.batch_types", input.run().config.id)));
  if (types.all <= 0 || types.wide < 0.2 * types.all || types.wide < 1e6) return;
  const double saved = 7.0 / 8 * types.wide / types.all;
  Finding finding;
  finding.id = "wide-labels";
  // Handing over and copying go by bytes; the part that does not makes this an upper bound.
  Setting setting = input.Recorded();
  setting.scale = {{Factor::kTransfer, 1 - saved}, {Factor::kH2d, 1 - saved}};
  finding.predicted = input.WithSetting(setting);
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.title = fmt::format("{:.1f} of {:.1f} MB of a batch are 64-bit integers",
                              types.wide / 1e6, types.all / 1e6);
  finding.evidence = {{"int64_bytes", types.wide},
                      {"batch_bytes", types.all},
                      {"threshold_share", 0.2},
                      {"bytes_saved", saved * types.all}};
  finding.action =
      "Keep masks and labels uint8 (or int16) in the dataset and call .long() on the device. The "
      "prediction is the most that can be had.";
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
