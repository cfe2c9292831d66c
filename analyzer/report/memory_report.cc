// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/memory_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/memory.h"
#include "analyzer/words/page.h"

namespace penstock::analyzer {
namespace {

// `copied`, `kept`: the growth is known to come from copy on write, or from memory that the worker
// keeps.
Statement GrowthOf(const Growth& growth, bool copied, bool kept) {
  const Interval& rate = growth.per_second;
  return Say<words::kMemoryGrowth>(Give<"rate_bytes">(60 * rate.estimate),
                                   Give<"low_bytes">(60 * rate.low),
                                   Give<"high_bytes">(60 * rate.high), Give<"copied">(copied),
                                   Give<"fresh">(kept), Give<"settles">(growth.settles > 0));
}

Statement WorkersOf(const MemoryModel& memory) {
  constexpr double kUnlike = 1.05;  // a greater ratio of the most to the least makes a range
  const GrowingWorkers growing = FindGrowingWorkers(memory);
  Statements grows;
  if (growing.copied) grows.push_back(GrowthOf(*growing.copied, memory.attributed, false));
  if (growing.fresh) grows.push_back(GrowthOf(*growing.fresh, false, true));
  const auto [least, most] = std::minmax_element(
      memory.workers.begin(), memory.workers.end(),
      [](const auto& a, const auto& b) { return a.private_bytes < b.private_bytes; });
  const bool unlike = most->private_bytes > kUnlike * least->private_bytes;
  const bool shares = memory.shared_bytes > 0;
  return Say<words::kMemoryOfWorkers>(
      Give<"several">(memory.worker_count != 1), Give<"workers">(memory.worker_count),
      Give<"private_bytes">(memory.private_bytes), Give<"attributed">(memory.attributed),
      Give<"mixed">(memory.mixed), GiveIf<"low_bytes">(unlike, least->private_bytes),
      GiveIf<"high_bytes">(unlike, most->private_bytes),
      Give<"shared_bytes">(shares ? std::optional(memory.shared_bytes) : std::nullopt),
      Give<"all">(growing.all), Give<"flat">(growing.told),
      GiveIf<"grows">(!grows.empty(), std::move(grows)));
}

// `loaders`: the number of loaders that the loop uses together.
Statement SettingOf(const MemoryForecast& forecast, const LoaderDiagnosis& loader,
                    std::size_t loaders) {
  const MemoryModel& memory = loader.memory;
  const WorkersRead& read = loader.facts.read;
  const bool ranges = forecast.total.high > forecast.total.low;
  const auto if_ranges = [&](double bytes) { return ranges ? std::optional(bytes) : std::nullopt; };
  const bool shares = forecast.shared > 0;
  const bool sized = memory.shared.size > 0;
  const bool ends = forecast.out_of_memory.has_value();
  return Say<words::kMemoryOfSetting>(
      Give<"suggested">(forecast.suggested), Give<"workers">(forecast.workers),
      Give<"several">(forecast.workers != 1), GiveIf<"loaders">(loaders > 1, loaders),
      Give<"prefetch">(forecast.prefetch), Give<"total_bytes">(forecast.total.estimate),
      Give<"low_bytes">(if_ranges(forecast.total.low)),
      Give<"high_bytes">(if_ranges(forecast.total.high)),
      Give<"whole">(forecast.worker.estimate > 0), GiveIf<"read">(read.few(), read.workers),
      GiveIf<"readings">(read.few(), read.readings),
      Give<"horizon">(ranges && memory.growth.horizon > 0 ? std::optional(HorizonOf(memory.growth))
                                                          : std::nullopt),
      Give<"unforeseen">(memory.known && !memory.growth.foreseeable &&
                         !FindGrowingWorkers(memory).told),
      Give<"shared_bytes">(shares ? std::optional(forecast.shared) : std::nullopt),
      Give<"size_bytes">(sized ? std::optional(memory.shared.size) : std::nullopt),
      GiveIf<"ranks">(memory.ranks > 1, memory.ranks),
      Give<"limit_of">(ends ? std::optional(LimitOf(memory)) : std::nullopt),
      Give<"when">(ends ? std::optional(RunsOut(*forecast.out_of_memory)) : std::nullopt));
}

void WriteInterval(const Interval& interval, std::string_view key, JsonWriter& json) {
  json.Field(key, interval.estimate);
  json.Field(std::string(key) + "_low", interval.low);
  if (std::isfinite(interval.high)) json.Field(std::string(key) + "_high", interval.high);
}

void WriteGrowth(const Growth& growth, std::string_view key, JsonWriter& json) {
  json.Key(key).BeginObject();
  json.Field("certain", growth.certain());
  WriteInterval(growth.per_second, "bytes_per_s", json);
  WriteInterval(growth.per_batch, "bytes_per_batch", json);
  json.Field("grown_bytes", growth.grown).Field("limit_bytes", growth.limit);
  json.Field("settles_batches", growth.settles).EndObject();
}

void WriteForecast(const MemoryForecast& forecast, double batches, JsonWriter& json) {
  json.BeginObject().Field("of", forecast.suggested ? "suggested" : "recorded");
  json.Field("num_workers", forecast.workers).Field("prefetch_factor", forecast.prefetch);
  json.Field("batches", batches);
  WriteInterval(forecast.worker, "worker_bytes", json);
  WriteInterval(forecast.total, "ram_bytes", json);
  json.Field("shared_memory_bytes", forecast.shared);
  json.Field("fits_shared_memory", forecast.fits_shared);
  if (forecast.out_of_memory) WriteInterval(*forecast.out_of_memory, "out_of_memory_s", json);
  json.EndObject();
}

}  // namespace

std::vector<MemoryForecast> MemoryForecasts(const Diagnosis& diagnosis) {
  std::vector<MemoryForecast> forecasts;
  if (!diagnosis.loader || diagnosis.run.loader().config.sample_tasks) return forecasts;
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const auto add = [&](bool suggested, int workers, int prefetch) {
    if (workers <= 0) return;
    MemoryForecast forecast;
    forecast.suggested = suggested;
    forecast.workers = workers;
    forecast.prefetch = prefetch;
    Setting setting;
    setting.workers = workers;
    setting.prefetch = prefetch;
    const double each = WorkerBytes(loader.facts, workers);
    const Interval change = loader.facts.growth.Change(workers);
    forecast.worker = {each, std::max(0.0, each + change.low - change.estimate),
                       each + change.high - change.estimate};
    const auto total = static_cast<double>(RamOf(loader.pipeline, setting, loader.facts));
    const double processes = AllWorkers(loader.pipeline, setting);
    forecast.total = {total, total + processes * (forecast.worker.low - each),
                      total + processes * (forecast.worker.high - each)};
    forecast.shared = SharedMemoryOf(loader.pipeline, setting, loader.facts);
    const double size = loader.memory.shared.size;
    forecast.fits_shared = size <= 0 || forecast.shared <= size;
    forecast.out_of_memory = loader.memory.OutOfMemory(workers);
    forecasts.push_back(forecast);
  };
  const LoaderConfig& config = diagnosis.run.loader().config;
  add(false, config.num_workers, config.prefetch_factor);
  const Suggestion& suggestion = loader.suggestion;
  if (suggestion.changes) add(true, suggestion.workers, suggestion.prefetch);
  return forecasts;
}

void WriteMemoryJson(const Diagnosis& diagnosis, JsonWriter& json) {
  const MemoryModel memory = diagnosis.loader ? diagnosis.loader->memory : MemoryModel{};
  json.BeginObject();
  json.Field("known", memory.known).Field("attributed", memory.attributed);
  json.Field("room_bytes", memory.room).Field("limit_bytes", memory.limit);
  json.Field("limit_of", memory.limit_of);
  json.Field("ranks", memory.ranks);
  json.Field("epoch_batches", memory.growth.epoch);
  json.Field("horizon_batches", memory.growth.horizon);
  WriteGrowth(memory.growth.copied, "copied", json);
  WriteGrowth(memory.growth.fresh, "fresh", json);
  WriteGrowth(memory.cached, "page_cache", json);
  WriteGrowth(memory.trainer, "trainer", json);
  json.Key("workers").BeginArray();
  for (const WorkerMemory& worker : memory.workers) {
    json.BeginObject().Field("worker", worker.worker_id);
    json.Field("walks", static_cast<std::uint64_t>(worker.samples));
    json.Field("batches", worker.batches).Field("private_bytes", worker.private_bytes);
    json.Field("shared_bytes", worker.shared_bytes).Field("page_cache_bytes", worker.cached_bytes);
    WriteGrowth(worker.copied, "copied", json);
    WriteGrowth(worker.fresh, "fresh", json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("forecasts").BeginArray();
  for (const MemoryForecast& forecast : MemoryForecasts(diagnosis)) {
    WriteForecast(forecast, memory.growth.horizon, json);
  }
  json.EndArray();
  json.Key("shared_memory").BeginObject();
  json.Field("size_bytes", memory.shared.size).Field("measured", memory.shared.measured);
  json.Field("before_bytes", memory.shared.before).Field("most_bytes", memory.shared.most);
  json.Field("most_batches", memory.shared.most_batches);
  json.Field("batch_bytes", diagnosis.loader ? diagnosis.loader->facts.batch_bytes : 0.0);
  json.Field("unused", memory.shared.unused).EndObject();
  json.EndObject();
}

std::vector<MemoryNote> MemoryNotes(const Diagnosis& diagnosis) {
  std::vector<MemoryNote> notes;
  if (!diagnosis.loader) return notes;
  const MemoryModel& memory = diagnosis.loader->memory;
  if (memory.known) {
    const GrowingWorkers growing = FindGrowingWorkers(memory);
    const bool grows = growing.copied || growing.fresh;
    notes.push_back({WorkersOf(memory), grows ? Severity::kWarning : Severity::kInfo});
  }
  const std::size_t loaders = 1 + diagnosis.loader->pipeline.beside.size();
  for (const MemoryForecast& forecast : MemoryForecasts(diagnosis)) {
    if (forecast.worker.estimate <= 0 && forecast.shared <= 0) continue;
    const bool short_of = forecast.out_of_memory.has_value() || !forecast.fits_shared;
    notes.push_back({SettingOf(forecast, *diagnosis.loader, loaders),
                     short_of ? Severity::kCritical : Severity::kInfo});
  }
  if (memory.trainer.certain()) {
    const Interval& rate = memory.trainer.per_second;
    notes.push_back({Say<words::kMemoryOfTrainer>(Give<"rate_bytes">(60 * rate.estimate),
                                                  Give<"low_bytes">(60 * rate.low),
                                                  Give<"high_bytes">(60 * rate.high)),
                     Severity::kWarning});
  }
  return notes;
}

std::string MemoryHtml(const Report& report, Language language) {
  std::string text;
  for (MemoryNote& note : MemoryNotes(report.diagnosis)) {
    const Statement clause = Say<words::kClause>(Give<"what">(std::move(note.statement)));
    text += fmt::format("<p>{}</p>\n", Escaped(Render(clause, language)));
  }
  return text;
}

}  // namespace penstock::analyzer
