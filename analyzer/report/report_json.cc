// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/json_writer.h"
#include "analyzer/report/memory_report.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/probe_report.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/report/report.h"
#include "analyzer/report/request_report.h"
#include "analyzer/report/slow_batches_report.h"
#include "analyzer/report/stall_report.h"
#include "analyzer/report/statement_json.h"
#include "analyzer/report/suggestion_json.h"

namespace penstock::analyzer {
namespace {

void WriteThroughput(const Report& report, JsonWriter& json) {
  const Diagnosis& diagnosis = report.diagnosis;
  json.Key("throughput").BeginObject();
  json.Field("samples_per_s", diagnosis.samples_rate);
  json.Field("batches_per_s", diagnosis.batch_rate);
  json.Field("steady_state", diagnosis.loader ? diagnosis.loader->steady.lasts()
                                              : diagnosis.feed.to > diagnosis.feed.from);
  json.Field("whole_run_samples_per_s", diagnosis.whole_rate);
  json.Field("base", BaseName(diagnosis.whole_run));
  if (diagnosis.loader) {
    const SteadyState& steady = diagnosis.loader->steady;
    json.Field("low", steady.rate.low).Field("high", steady.rate.high);
    json.Field("batches", static_cast<std::uint64_t>(steady.batches));
    json.Field("pauses", static_cast<std::uint64_t>(steady.pauses.size()));
    json.Field("pauses_s", steady.pauses_time);
    json.Field("samples_known", diagnosis.run.loader().samples_known);
    if (steady.change) {
      json.Key("change").BeginObject();
      json.Field("at_s", Seconds(TimeNs{steady.change->at} - diagnosis.run.begin));
      json.Field("before_samples_per_s", steady.change->before);
      json.Field("after_samples_per_s", steady.change->after);
      json.Key("statement");
      WriteStatement(RateChangeOf(diagnosis), json);
      json.EndObject();
    }
    if (steady.drift) {
      json.Key("drift").BeginObject();
      json.Field("first_third_samples_per_s", steady.drift->first);
      json.Field("last_third_samples_per_s", steady.drift->last);
      json.Field("fills_cache", steady.fills_cache);
      json.Key("statement");
      WriteStatement(RateDriftOf(diagnosis), json);
      json.EndObject();
    }
  }
  json.EndObject();
}

// Writes nothing if there are no overrides, as in most runs.
void WriteOverrides(const Report& report, JsonWriter& json) {
  if (report.overrides.empty()) return;
  json.Key("overrides").BeginArray();
  for (const OverrideNote& note : report.overrides) {
    const char* state = note.state == OverrideState::kHeld   ? "held"
                        : note.state == OverrideState::kLost ? "lost"
                                                             : "unused";
    json.BeginObject().Field("change", note.change).Field("state", state);
    if (!note.found.empty()) json.Field("found", note.found);
    json.EndObject();
  }
  json.EndArray();
}

void WriteLoaderConfig(const LoaderRun& run, JsonWriter& json) {
  const LoaderConfig& config = run.config;
  json.Field("kind", config.kind).Field("made_at", run.name);
  // If the number of workers is not known, num_workers is 0: a script that reads the contract's
  // keys goes on.
  json.Field("num_workers", config.num_workers).Field("workers_known", config.workers_known);
  json.Field("prefetch_factor", config.num_workers > 0 ? config.prefetch_factor : 0);
  json.Field("batch_size", config.batch_size).Field("pin_memory", config.pin_memory);
  json.Field("persistent_workers", config.persistent_workers);
  json.Field("in_order", config.in_order).Field("start_method", config.start_method);
  json.Field("dataset_kind", config.dataset_kind);
  json.Field("dataset_len", config.dataset_length);
  json.Field("batches", static_cast<std::uint64_t>(run.batches.size()));
  json.Field("epochs", static_cast<std::uint64_t>(run.epochs.size()));
  json.Field("inferred", run.inferred);
}

void WriteLoaders(const Diagnosis& diagnosis, JsonWriter& json) {
  const RunModel& run = diagnosis.run;
  json.Key("loader").BeginObject();
  if (run.has_loader()) {
    WriteLoaderConfig(run.loader(), json);
  } else {
    LoaderRun none;
    none.config.workers_known = false;
    none.config.prefetch_factor = 0;
    WriteLoaderConfig(none, json);
  }
  json.EndObject();
  json.Key("other_loaders").BeginArray();
  for (std::size_t i = 1; i < run.loaders.size(); ++i) {
    json.BeginObject();
    WriteLoaderConfig(run.loaders[i], json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("loaders").BeginArray();
  for (std::size_t i = 0; i < run.loaders.size(); ++i) {
    const LoaderRun& loader = run.loaders[i];
    json.BeginObject();
    WriteLoaderConfig(loader, json);
    json.Field("use", loader.use == LoopUse::kInterleaved ? "interleaved"
                      : loader.use == LoopUse::kInTurn    ? "in_turn"
                                                          : "alone");
    json.Field("waited_s", loader.waited).Field("lasted_s", loader.lasted);
    const SteadyState steady = FindSteadyState(loader);
    json.Field("samples_per_s", steady.rate.estimate);
    json.Field("wait_fraction", std::clamp(WaitFraction(run, loader, steady), 0.0, 1.0));
    WriteSuggestionFor(i, diagnosis, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteRow(const StageRow& row, JsonWriter& json) {
  json.BeginObject();
  json.Field("name", row.name).Field("wall_s", row.wall).Field("cpu_s", row.cpu);
  json.Field("cpu_known", row.cpu_known).Field("count", row.count);
  json.Field("p50_s", row.p50).Field("p99_s", row.p99).Field("mixed", row.mixed);
  json.Field("bytes", row.bytes).Field("share", row.share);
  if (row.devices > 1) json.Field("devices", static_cast<std::uint64_t>(row.devices));
  if (!row.children.empty()) {
    json.Key("children").BeginArray();
    double unnamed = 0;
    for (const StageRow& child : row.children) {
      if (child.rest) unnamed = child.wall;
      if (!child.rest) WriteRow(child, json);
    }
    json.EndArray();
    if (unnamed > 0) json.Field("unnamed_s", unnamed);
  }
  json.EndObject();
}

void WriteVerdict(const Diagnosis& diagnosis, JsonWriter& json) {
  json.Key("verdict").BeginObject();
  json.Field("bottleneck", FactorName(diagnosis.bottleneck));
  json.Field("wait_fraction", diagnosis.wait_fraction);
  json.Field("confidence", diagnosis.confidence);
  json.Key("gains").BeginArray();
  for (const Gain& gain : diagnosis.gains) {
    json.BeginObject().Field("factor", FactorName(gain.factor));
    json.Field("speedup_if_free", gain.speedup);
    const bool simulated = diagnosis.loader.has_value();
    json.Field("whole_run_speedup_if_free",
               simulated ? diagnosis.loader->attribution.SpeedupOf(gain.factor) : gain.speedup);
    json.EndObject();
  }
  json.EndArray();
  json.Field("summary", English(diagnosis.summary));
  json.Key("summary_statement");
  WriteStatement(diagnosis.summary, json);
  json.Field("needs", English(diagnosis.needs));
  json.Key("needs_statement");
  WriteStatement(diagnosis.needs, json);
  if (diagnosis.loader) {
    const Attribution& attribution = diagnosis.loader->attribution;
    json.Field("runner_up", FactorName(attribution.runner_up));
    json.Field("speedup_if_data_free", diagnosis.headroom());
    json.Field("samples_per_s_if_data_free", diagnosis.ceiling);
    if (diagnosis.ceiling_is_least()) json.Field("data_free_is_least", true);
  } else if (const Feed& feed = diagnosis.feed; feed.doubt == FeedDoubt::kNone) {
    json.Field("speedup_if_data_free", feed.headroom);
    json.Key("feed").BeginObject();
    json.Field("wait_fraction", feed.wait).Field("own_fraction", feed.own);
    json.Field("other_wait_fraction", feed.other).Field("makers_active_fraction", feed.active);
    json.Field("makers", static_cast<std::uint64_t>(feed.makers));
    json.Field("maker_processes", static_cast<std::uint64_t>(feed.processes));
    json.Field("from_s", feed.from).Field("to_s", feed.to);
    json.EndObject();
  }
  json.EndObject();
}

void WriteSignals(const LoaderDiagnosis& loader, JsonWriter& json) {
  json.Key("signals").BeginObject();
  json.Field("head_of_line", loader.signals.head_of_line);
  json.Field("worker_busy", loader.signals.worker_busy);
  json.Field("worker_idle", loader.signals.worker_idle);
  json.Field("wall_per_cpu", loader.signals.wall_per_cpu);
  json.Field("batch_variation", loader.signals.batch_variation);
  json.Field("startup", loader.signals.startup);
  json.Field("startup_s", loader.signals.startup_time);
  json.Field("usable_cores", loader.cpu.cores);
  json.Field("cpu_saturation", loader.cpu.known ? loader.cpu.saturation() : 0.0);
  json.Field("cpu_known", loader.cpu.known);
  json.Field("cpu_crowded", loader.cpu.crowded);
  json.Field("decode_wall_per_cpu", loader.cpu.decode_slowdown);
  if (loader.cpu.delays_known) json.Field("core_wait", loader.cpu.core_wait);
  json.EndObject();
}

void WriteFinding(const Finding& finding, const Report& report, JsonWriter& json) {
  constexpr std::string_view kSeverities[] = {"info", "warning", "critical"};
  json.BeginObject();
  json.Field("id", finding.id);
  json.Field("severity", kSeverities[static_cast<std::size_t>(finding.severity)]);
  json.Field("title", English(finding.seen));
  json.Key("title_statement");
  WriteStatement(finding.seen, json);
  json.Key("evidence").BeginObject();
  for (const auto& [key, value] : finding.evidence) {
    std::visit([&, &name = key](const auto& shown) { json.Field(name, shown); }, value);
  }
  json.EndObject();
  json.Field("action", English(finding.action));
  json.Key("action_statement");
  WriteStatement(finding.action, json);
  if (finding.predicted) {
    json.Key("predicted").BeginObject();
    WritePrediction(report.diagnosis, *finding.predicted, json);
    if (finding.predicted->ram > 0) json.Field("ram_bytes", finding.predicted->ram);
    json.EndObject();
  }
  json.Key("where").BeginObject();
  json.Field("from_s", finding.from);
  json.Field("to_s", finding.to > 0 ? finding.to : report.duration);
  json.Key("pids").BeginArray();
  for (const std::uint32_t pid : finding.pids) json.Value(static_cast<std::uint64_t>(pid));
  json.EndArray().EndObject().EndObject();
}

void WriteTriedChanges(const Report& report, JsonWriter& json) {
  json.Key("changes").BeginArray();
  for (const TriedChange& one : report.changes) {
    json.BeginObject().Field("option", one.option);
    json.Key("predicted").BeginObject();
    WritePrediction(report.diagnosis, one.predicted, json);
    json.Field("ram_bytes", one.predicted.ram).EndObject();
    WriteStatements("notes", one.notes, json);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string ReportJson(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", "penstock.report/1").Field("trace", report.trace);
  json.Field("command", report.command).Field("duration_s", report.duration);
  // Whole seconds: the writer gives a double nine digits, and this one would need ten.
  json.Field("started_unix_s", static_cast<std::int64_t>(report.started));
  WriteThroughput(report, json);
  WriteLoaders(diagnosis, json);
  json.Key("stages").BeginArray();
  for (const StageRow& row : report.stages) WriteRow(row, json);
  json.EndArray();
  WriteFunctionsJson(report, json);
  WriteSlowBatches(report, json);
  WriteStallsJson(report, json);
  WriteRequestsJson(report, json);
  WriteVerdict(diagnosis, json);
  json.Key("replay").BeginObject();
  const Replay replay = diagnosis.loader ? diagnosis.loader->replay : Replay{};
  json.Field("measured_samples_per_s", replay.measured);
  json.Field("simulated_samples_per_s", replay.simulated);
  json.Field("error", replay.error()).EndObject();
  if (diagnosis.loader) WriteSignals(*diagnosis.loader, json);
  json.Key("workers").BeginArray();
  if (diagnosis.run.has_loader()) {
    for (const WorkerRun& worker : diagnosis.run.loader().workers) {
      json.BeginObject().Field("worker", worker.worker_id);
      json.Field("batches", worker.batches).Field("busy_s", worker.busy);
      json.Field("cpu_s", worker.cpu).Field("idle_s", worker.idle).EndObject();
    }
  }
  json.EndArray();
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) WriteFinding(finding, report, json);
  json.EndArray();
  json.Key("not_checked").BeginArray();
  for (const NotChecked& missing : report.not_checked) {
    json.BeginObject().Key("ids").BeginArray();
    for (const std::string_view id : missing.ids) json.Value(id);
    json.EndArray().Field("needs", English(missing.needs)).Key("needs_statement");
    WriteStatement(missing.needs, json);
    json.EndObject();
  }
  json.EndArray();
  json.Key("plan");
  WritePlan(report.plan, json);
  WriteSuggestion(diagnosis, json);
  WriteTriedChanges(report, json);
  WriteProbes(report.probes, json);
  json.Key("memory");
  WriteMemoryJson(diagnosis, json);
  json.Key("gpu");
  WriteGpuJson(report, json);
  json.Key("ranks");
  WriteRanksJson(report, json);
  WriteOverrides(report, json);
  json.Key("coverage").BeginObject();
  json.Field("bytes_seen", report.coverage.bytes_seen);
  json.Field("bytes_total", report.coverage.bytes_total);
  json.Field("fraction", report.coverage.fraction()).Field("known", report.coverage.known);
  json.Field("bytes_network", report.coverage.network);
  json.Field("bytes_mapped", report.coverage.mapped);
  WriteStatements("blind", report.coverage.blind, json);
  json.EndObject();
  json.Key("losses").BeginObject();
  json.Field("dropped_events", report.losses.dropped_events);
  json.Field("damaged_bytes", report.losses.damaged_bytes);
  json.Field("damaged_records", report.losses.damaged_records);
  json.Field("lost_threads", report.losses.lost_threads);
  json.Field("truncated", report.losses.truncated);
  json.Field("unsealed", report.losses.unsealed);
  json.EndObject().EndObject();
  return json.text();
}

}  // namespace penstock::analyzer
