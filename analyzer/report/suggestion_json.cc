// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/suggestion_json.h"

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/statement_json.h"

namespace penstock::analyzer {

void WritePrediction(const Diagnosis& diagnosis, const Prediction& prediction, JsonWriter& json) {
  const Prediction told = OnBase(diagnosis, prediction);
  json.Field("samples_per_s", told.rate.estimate);
  json.Field("low", told.rate.low).Field("high", told.rate.high);
  json.Field("speedup", told.speedup).Field("whole_run_speedup", prediction.speedup);
  if (prediction.at_most) json.Field("at_most", true);
}

void WriteSuggestion(const Diagnosis& diagnosis, JsonWriter& json) {
  json.Key("suggestion").BeginObject();
  Suggestion suggestion;
  LoaderConfig config;
  config.workers_known = false;
  config.prefetch_factor = 0;
  if (diagnosis.loader) {
    suggestion = diagnosis.loader->suggestion;
    config = diagnosis.run.loader().config;
  } else {
    suggestion.prefetch = 0;
    suggestion.predicted.rate.estimate = suggestion.predicted.rate.low =
        suggestion.predicted.rate.high = diagnosis.samples_rate;
    suggestion.next_bottleneck = diagnosis.bottleneck;
  }
  json.Key("loader").BeginObject();
  json.Field("num_workers", suggestion.workers);
  json.Field("workers_known", suggestion.changes || config.workers_known);
  json.Field("prefetch_factor", suggestion.workers > 0 ? suggestion.prefetch : 0);
  json.Field("pin_memory", config.pin_memory);
  json.Field("persistent_workers", suggestion.workers > 0 && suggestion.persistent_workers);
  json.Field("batch_size", config.batch_size);
  json.EndObject();
  // Suggest() tries no other device, so this is always empty. Moves to a GPU are in "changes".
  json.Key("move_to_gpu").BeginArray().EndArray();
  json.Key("predicted").BeginObject();
  WritePrediction(diagnosis, suggestion.predicted, json);
  json.Field("ram_bytes", suggestion.predicted.ram);
  json.EndObject();
  json.Field("next_bottleneck", FactorName(suggestion.next_bottleneck));
  json.Field("code", SuggestedCode(diagnosis));
  json.Field("changes", suggestion.changes);
  json.Field("missing", English(suggestion.missing)).Key("missing_statement");
  WriteStatement(suggestion.missing, json);
  json.Field("note", English(suggestion.note)).Key("note_statement");
  WriteStatement(suggestion.note, json);
  json.EndObject();
}

void WriteSuggestionFor(std::size_t loader, const Diagnosis& diagnosis, JsonWriter& json) {
  const Suggestion* found = loader == 0 ? &diagnosis.loader->suggestion : nullptr;
  bool whole_run = diagnosis.whole_run;
  for (const OtherLoader& other : diagnosis.others) {
    if (other.loader != loader) continue;
    found = &other.suggestion;
    whole_run = other.whole_run;
  }
  if (found == nullptr) return;
  json.Key("suggestion").BeginObject();
  const bool recorded = diagnosis.run.loaders[loader].config.workers_known;
  json.Field("num_workers", found->workers);
  json.Field("workers_known", found->changes || recorded);
  json.Field("prefetch_factor", found->workers > 0 ? found->prefetch : 0);
  json.Field("persistent_workers", found->workers > 0 && found->persistent_workers);
  json.Field("changes", found->changes);
  // The prediction for another loader is already relative to the base of that loader.
  const Prediction told = loader == 0 ? OnBase(diagnosis, found->predicted) : found->predicted;
  json.Field("samples_per_s", told.rate.estimate);
  json.Field("low", told.rate.low).Field("high", told.rate.high);
  json.Field("speedup", told.speedup).Field("base", BaseName(whole_run));
  json.Field("missing", English(found->missing)).EndObject();
}

}  // namespace penstock::analyzer
