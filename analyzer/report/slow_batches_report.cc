// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/slow_batches_report.h"

#include <utility>

#include "analyzer/report/statement_json.h"
#include "analyzer/words/page.h"
#include "analyzer/words/slow_batches.h"

namespace penstock::analyzer {
namespace {

double SinceBegin(const Report& report, std::int64_t at) {
  return Seconds(TimeNs{at} - report.diagnosis.run.begin);
}

}  // namespace

Statement SlowBatchesOf(const Report& report) {
  if (!report.slow_batches) return {};
  const SlowBatches& found = *report.slow_batches;
  const auto [from, to] = found.between.value_or(std::pair<std::int64_t, std::int64_t>{});
  const bool between = found.between.has_value();
  const bool crowded = report.diagnosis.loader && report.diagnosis.loader->cpu.crowded;
  return Say<words::kSlowBatches>(
      Give<"one">(found.slow == 1), Give<"slow">(found.slow), Give<"batches">(found.batches),
      Give<"times">(found.times), Give<"median">(found.median), Give<"share">(found.share),
      GiveIf<"stage">(found.stage != traces::StageId::kNone, traces::StageName(found.stage)),
      Give<"waits">(found.waits), Give<"crowded">(crowded),
      Give<"computes">(found.cpu_known && !found.waits), Give<"worker">(found.worker),
      Give<"several">(found.several_workers), GiveIf<"from">(between, SinceBegin(report, from)),
      GiveIf<"to">(between, SinceBegin(report, to)), Give<"spread">(found.spread));
}

std::string SlowBatchesSentence(const Report& report, Language language) {
  Statement said = SlowBatchesOf(report);
  if (said.empty()) return "";
  return Render(Say<words::kSentence>(Give<"what">(std::move(said))), language);
}

void WriteSlowBatches(const Report& report, JsonWriter& json) {
  if (!report.slow_batches) return;
  const SlowBatches& found = *report.slow_batches;
  json.Key("slow_batches").BeginObject();
  json.Field("batches", static_cast<std::uint64_t>(found.batches));
  json.Field("slow", static_cast<std::uint64_t>(found.slow));
  json.Field("median_s", found.median).Field("times", found.times);
  const bool named = found.stage != traces::StageId::kNone;
  json.Field("stage", named ? traces::StageName(found.stage) : "").Field("share", found.share);
  if (found.cpu_known) json.Field("waits", found.waits);
  if (found.worker) json.Field("worker", *found.worker);
  if (found.between) {
    json.Field("from_s", SinceBegin(report, found.between->first));
    json.Field("to_s", SinceBegin(report, found.between->second));
  }
  json.Field("spread", found.spread);
  const Statement said = SlowBatchesOf(report);
  json.Field("text", English(said)).Key("statement");
  WriteStatement(said, json);
  json.EndObject();
}

}  // namespace penstock::analyzer
