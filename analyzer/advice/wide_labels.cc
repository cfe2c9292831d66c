// SPDX-License-Identifier: Apache-2.0
//
// Masks, label maps or token ids are sent as int64: eight bytes for each value, where one byte is
// enough for a label and four are enough for an id.
//
// Threshold: int64 takes 20 % of a batch's bytes and 1 MB (ours). One label per sample does not
// matter, but a mask with one label per pixel is larger than the picture. Batches that are integers
// alone (95 % of their bytes, ours) hold ids of tokens or items: labels would come with inputs. The
// rule needs the fact
// loader.K.batch_types ("uint8:150528 int64:401408", bytes by type).
// Source: docs/diagnosis.md R17.
#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_data.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

bool TypesKnown(const RuleInput& input) {
  const LoaderConfig& config = input.run().config;
  const auto processes = input.trace.processes();
  if (config.consumer.value >= processes.size()) return false;
  return !TextFact(processes[config.consumer.value].facts,
                   fmt::format("loader.{}.batch_types", config.id))
              .empty();
}

}  // namespace

void WideLabels(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (!TypesKnown(input)) out.Needs("wide-labels", Say<words::kRuleNeedsTypes>());
  const double wide = input.diagnosis.loader->material.i64;
  const double all = input.diagnosis.loader->material.batch_bytes();
  if (all <= 0 || wide < 0.2 * all || wide < 1e6) return;
  const bool ids = wide >= 0.95 * all;
  const double saved = (ids ? 1.0 / 2 : 7.0 / 8) * wide / all;
  Finding finding;
  finding.id = "wide-labels";
  // The whole time of the handover and of copies to the device is scaled by bytes. Part of that
  // time does not depend on bytes, so the prediction is an upper bound.
  Setting setting = input.Recorded();
  setting.scale = {{Factor::kTransfer, 1 - saved}, {Factor::kH2d, 1 - saved}};
  finding.predicted = input.WithSetting(setting);
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen = Say<words::kWideLabels>(Give<"int64_bytes">(wide), Give<"batch_bytes">(all));
  finding.evidence = {{"int64_bytes", wide},
                      {"batch_bytes", all},
                      {"threshold_share", 0.2},
                      {"bytes_saved", saved * all}};
  finding.action = ids ? Say<words::kNarrowIds>(Give<"predicted">(true))
                       : Say<words::kNarrowLabels>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
