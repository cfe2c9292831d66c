// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/memory_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

// "12.1 MB/min (11.8 MB to 12.6 MB)"
std::string RateText(const Growth& growth) {
  const Interval& rate = growth.per_second;
  return fmt::format("{} a minute ({} to {})", BytesText(60 * rate.estimate),
                     BytesText(60 * rate.low), BytesText(60 * rate.high));
}

std::string Grows(const MemoryModel& memory) {
  std::string text;
  const auto add = [&](const Growth& growth, std::string_view what) {
    if (!growth.certain()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", and ", RateText(growth), what);
    if (growth.settles > 0) text += ", less and less";
  };
  if (!memory.attributed) {
    add(memory.growth.copied, "of private memory");
  } else {
    add(memory.growth.copied, "by copy on write of what it shares with its parent");
    add(memory.growth.fresh, "by memory that it takes and keeps");
  }
  return text.empty() ? "none grows" : "each grows by " + text;
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
    forecast.total = {total, total + workers * (forecast.worker.low - each),
                      total + workers * (forecast.worker.high - each)};
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

std::vector<std::string> MemorySentences(const Diagnosis& diagnosis) {
  std::vector<std::string> sentences;
  if (!diagnosis.loader) return sentences;
  const MemoryModel& memory = diagnosis.loader->memory;
  const std::vector<MemoryForecast> forecasts = MemoryForecasts(diagnosis);
  if (memory.known) {
    std::string shared;
    if (memory.shared_bytes > 0) {
      shared = fmt::format(", {} shared with their parent", BytesText(memory.shared_bytes));
    }
    sentences.push_back(fmt::format("{} with {} of their own each{}; {}",
                                    CountedText(memory.worker_count, "worker"),
                                    BytesText(memory.private_bytes), shared, Grows(memory)));
  }
  for (const MemoryForecast& forecast : forecasts) {
    if (forecast.worker.estimate <= 0 && forecast.shared <= 0) continue;
    std::string text = fmt::format("{}{}, prefetch {}: {}", forecast.suggested ? "suggested, " : "",
                                   CountedText(forecast.workers, "worker"), forecast.prefetch,
                                   BytesText(forecast.total.estimate));
    if (forecast.total.high > forecast.total.low) {
      text +=
          fmt::format(" ({} to {})", BytesText(forecast.total.low), BytesText(forecast.total.high));
    }
    text += forecast.worker.estimate > 0 ? " with their batches"
                                         : " of batches; what each takes besides is not known";
    if (memory.growth.horizon > 0 && forecast.total.high > forecast.total.low) {
      text += " " + English(HorizonOf(memory.growth));
    }
    if (forecast.shared > 0) {
      text += fmt::format("; {} of /dev/shm", BytesText(forecast.shared));
      if (memory.shared.size > 0) text += ", which has " + BytesText(memory.shared.size);
    }
    if (forecast.out_of_memory) {
      text += fmt::format("; memory of the {} runs out {}", memory.limit_of,
                          English(RunsOut(*forecast.out_of_memory)));
    }
    sentences.push_back(std::move(text));
  }
  if (memory.trainer.certain()) {
    sentences.push_back("the training process grows by " + RateText(memory.trainer));
  }
  return sentences;
}

std::string MemoryHtml(const Report& report) {
  std::string text;
  for (const std::string& sentence : MemorySentences(report.diagnosis)) {
    text += fmt::format("<p>{}.</p>\n", Escaped(sentence));
  }
  return text;
}

}  // namespace penstock::analyzer
