// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/slow_batches_report.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/diagnosis/outside_experiments.h"
#include "analyzer/report/statement_json.h"
#include "analyzer/words/page.h"
#include "analyzer/words/slow_batches.h"

namespace penstock::analyzer {
namespace {

double SinceBegin(const Report& report, std::int64_t at) {
  return Seconds(TimeNs{at} - report.diagnosis.run.begin);
}

// The rank that the compared batches are of, if there are several.
std::optional<int> RankOfBatches(const Diagnosis& diagnosis) {
  if (!diagnosis.ranks.several()) return std::nullopt;
  const RankPlace* place = diagnosis.run.ranks.Find(diagnosis.run.loader().config.consumer);
  return place != nullptr ? std::optional<int>(place->rank) : std::nullopt;
}

// The name of the loader that the compared batches are of, if the trace has others. Each rank may
// have a loader of the same name.
std::optional<std::string> LoaderOfBatches(const RunModel& run) {
  const std::string& name = run.loader().name;
  const bool others = std::any_of(run.loaders.begin(), run.loaders.end(),
                                  [&](const LoaderRun& one) { return one.name != name; });
  return others && !name.empty() ? std::optional(name) : std::nullopt;
}

// When the compared batches were made, in a run with experiments.
std::optional<Statement> WhenMade(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return std::nullopt;
  return OutsideExperiments(diagnosis.run.loader(), diagnosis.loader->steady);
}

Statement NoSlowBatches(const Report& report) {
  const ComparedBatches& all = report.compared_batches;
  const auto loader = Give<"loader">(LoaderOfBatches(report.diagnosis.run));
  const auto rank = RankOfBatches(report.diagnosis);
  auto when = WhenMade(report.diagnosis);
  if (all.batches < ComparedBatches::kFewest) {
    return Say<words::kFewToCompare>(Give<"least">(ComparedBatches::kFewest), loader,
                                     Give<"rank">(rank), Give<"batches">(all.batches),
                                     Give<"when">(std::move(when)));
  }
  return Say<words::kNoSlowBatches>(Give<"even">(all.IsEven()), Give<"batches">(all.batches),
                                    loader, Give<"rank">(rank), Give<"when">(std::move(when)),
                                    Give<"slowest">(all.slowest), Give<"median">(all.median));
}

}  // namespace

Statement SlowBatchesOf(const Report& report) {
  if (report.compared_batches.batches == 0) return {};
  if (!report.slow_batches) return NoSlowBatches(report);
  const SlowBatches& found = *report.slow_batches;
  const auto [from, to] = found.between.value_or(std::pair<std::int64_t, std::int64_t>{});
  const bool between = found.between.has_value();
  const bool crowded = report.diagnosis.loader && report.diagnosis.loader->cpu.crowded;
  return Say<words::kSlowBatches>(
      Give<"one">(found.slow == 1), Give<"slow">(found.slow), Give<"batches">(found.batches),
      Give<"loader">(LoaderOfBatches(report.diagnosis.run)),
      Give<"rank">(RankOfBatches(report.diagnosis)), Give<"when">(WhenMade(report.diagnosis)),
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

namespace {

void WriteWhatTheyDo(const Report& report, JsonWriter& json) {
  const SlowBatches& found = *report.slow_batches;
  json.Field("times", found.times);
  const bool named = found.stage != traces::StageId::kNone;
  json.Field("stage", named ? traces::StageName(found.stage) : "").Field("share", found.share);
  if (found.cpu_known) json.Field("waits", found.waits);
  if (found.worker) json.Field("worker", *found.worker);
  if (found.between) {
    json.Field("from_s", SinceBegin(report, found.between->first));
    json.Field("to_s", SinceBegin(report, found.between->second));
  }
  json.Field("spread", found.spread);
}

}  // namespace

void WriteSlowBatches(const Report& report, JsonWriter& json) {
  const Statement said = SlowBatchesOf(report);
  if (said.empty()) return;
  const ComparedBatches& all = report.compared_batches;
  json.Key("slow_batches").BeginObject();
  json.Field("batches", static_cast<std::uint64_t>(all.batches));
  json.Field("slow",
             static_cast<std::uint64_t>(report.slow_batches ? report.slow_batches->slow : 0));
  json.Field("median_s", all.median).Field("slowest_s", all.slowest);
  if (report.slow_batches) WriteWhatTheyDo(report, json);
  json.Field("text", English(said)).Key("statement");
  WriteStatement(said, json);
  json.EndObject();
}

}  // namespace penstock::analyzer
