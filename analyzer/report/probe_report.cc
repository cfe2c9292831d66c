// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/probe_report.h"

#include "analyzer/report/statement_json.h"
#include "analyzer/words/probes.h"

namespace penstock::analyzer {
namespace {

void WriteProbed(const ProbedFactor& factor, JsonWriter& json) {
  json.BeginObject().Field("factor", factor.name).Field("speed", factor.speed);
  json.Field("seen", factor.seen);
  json.Field("windows", static_cast<std::uint64_t>(factor.windows));
  if (!factor.known()) json.Field("unknown", English(factor.unknown));
  if (factor.known()) {
    json.Field("measured", factor.gain.estimate);
    json.Field("low", factor.gain.low).Field("high", factor.gain.high);
  }
  if (factor.predicted) {
    json.Field("predicted", factor.predicted->estimate);
    json.Field("predicted_low", factor.predicted->low);
    json.Field("predicted_high", factor.predicted->high);
    json.Field("disagrees", factor.disagrees);
  }
  json.EndObject();
}

}  // namespace

Statements ProbesSaid(const Probes& probes) {
  if (!probes.any) return {};
  if (!probes.missing.empty()) return {Say<words::kProbesNothing>(Give<"why">(probes.missing))};
  Statements said;
  for (const ProbedFactor& factor : probes.factors) {
    if (!factor.seen) continue;
    if (!factor.known()) {
      said.push_back(Say<words::kProbeUnknown>(
          Give<"factor">(factor.name), Give<"speed">(factor.speed), Give<"why">(factor.unknown)));
      continue;
    }
    const Interval predicted = factor.predicted.value_or(Interval{});
    const bool known = factor.predicted.has_value();
    said.push_back(Say<words::kProbed>(
        Give<"factor">(factor.name), Give<"speed">(factor.speed),
        GiveIf<"predicted">(known, predicted.estimate), GiveIf<"from">(known, predicted.low),
        GiveIf<"to">(known, predicted.high), Give<"gain">(factor.gain.estimate),
        Give<"low">(factor.gain.low), Give<"high">(factor.gain.high),
        Give<"disagrees">(factor.disagrees)));
  }
  const Interval& check = probes.check.gain;
  said.push_back(Say<words::kProbeCheck>(Give<"gain">(check.estimate), Give<"low">(check.low),
                                         Give<"high">(check.high)));
  return said;
}

void WriteProbes(const Probes& probes, JsonWriter& json) {
  if (!probes.any) return;
  json.Key("probe").BeginObject().Field("sound", probes.sound);
  json.Key("factors").BeginArray();
  for (const ProbedFactor& factor : probes.factors) WriteProbed(factor, json);
  json.EndArray().Key("check");
  WriteProbed(probes.check, json);
  json.Field("missing", English(probes.missing)).Key("missing_statement");
  WriteStatement(probes.missing, json);
  json.EndObject();
}

}  // namespace penstock::analyzer
