// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/grid_report.h"

#include <algorithm>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/json_writer.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/statement_json.h"
#include "analyzer/words/format.h"
#include "analyzer/words/needs.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {

std::string GridText(const Grid& grid, Colour colour) {
  const Paint paint(colour == Colour::kOn);
  const bool machines = std::any_of(grid.configurations.begin(), grid.configurations.end(),
                                    [](const Configuration& one) { return one.cores > 0; });
  const auto cores_of = [&](const std::string& cores) {
    return machines ? fmt::format("{:>5} ", cores) : std::string();
  };
  std::string text =
      paint.Dim(fmt::format("  {}{:>7} {:>8} {:>5} {:>9} {:>14} {:>8} {:<10} {:>8}",
                            cores_of("cores"), "workers", "prefetch", "batch", English(grid.unit),
                            "90 % interval", "speedup", "bottleneck", "RAM")) +
      "\n";
  double best = 0;
  for (const Configuration& one : grid.configurations) {
    if (one.fits) best = std::max(best, one.predicted.rate.estimate);
  }
  bool recorded = false;
  bool unfit = false;
  for (const Configuration& one : grid.configurations) {
    const Interval& rate = one.predicted.rate;
    const std::string interval =
        fmt::format("{}..{}", ShortNumber(rate.low), ShortNumber(rate.high));
    const std::string line = fmt::format(
        "{} {}{:>7} {:>8} {:>5} {:>9} {:>14} {:>7.2f}x {:<10} {:>8}{}", one.recorded ? '*' : ' ',
        cores_of(fmt::format("{:g}", one.cores)), one.workers, one.prefetch, one.batch,
        ShortNumber(rate.estimate), interval, one.predicted.speedup, FactorName(one.bottleneck),
        one.predicted.ram > 0 ? BytesText(one.predicted.ram) : "-", one.fits ? "" : " !");
    recorded = recorded || one.recorded;
    unfit = unfit || !one.fits;
    const bool good = one.fits && rate.estimate >= 0.98 * best;
    text += (good ? paint.Bold(line) : one.fits ? line : paint.Dim(line)) + "\n";
  }
  if (recorded) text += "  * as recorded\n";
  const Statement base = Say<words::kGridBase>(
      Give<"whole">(grid.whole_run), Give<"rate">(grid.recorded), Give<"unit">(grid.unit));
  text += "  " + English(base) + "\n";
  if (unfit) text += "  ! " + English(Say<words::kNoRoom>()) + "\n";
  for (const LeftOut& one : grid.left_out) {
    const Statement row = Say<words::kRowLeftOut>(
        GiveIf<"cores">(one.cores > 0, one.cores), Give<"workers">(one.workers),
        Give<"prefetch">(one.prefetch), Give<"why">(one.why));
    text += "  " + Wrapped(English(row), kColumns - 4, "    ") + "\n";
  }
  const double error = grid.replay.error();
  const Statement repeats =
      Say<words::kRepeats>(Give<"exact">(RepeatsClosely(error)), Give<"error">(error));
  text += "  " + English(repeats) + "\n";
  for (const Statement& note : grid.notes) {
    text += "  note: " + Wrapped(English(note), kColumns - 8, "        ") + "\n";
  }
  return text;
}

std::string GridJson(const Grid& grid) {
  JsonWriter json;
  json.BeginObject().Key("configurations").BeginArray();
  for (const Configuration& one : grid.configurations) {
    json.BeginObject();
    if (one.cores > 0) json.Field("cores", one.cores);
    json.Field("num_workers", one.workers).Field("prefetch_factor", one.prefetch);
    json.Field("batch_size", one.batch);
    json.Key("move_to_gpu").BeginArray();
    if (grid.changes.gpu_decode) json.Value("decode");
    if (grid.changes.gpu_augment) json.Value("augment");
    json.EndArray();
    json.Field("samples_per_s", one.predicted.rate.estimate);
    json.Field("low", one.predicted.rate.low).Field("high", one.predicted.rate.high);
    json.Field("bottleneck", FactorName(one.bottleneck));
    json.Field("ram_bytes", one.predicted.ram);
    json.Field("speedup", one.predicted.speedup).Field("fits", one.fits).EndObject();
  }
  json.EndArray();
  json.Key("left_out").BeginArray();
  for (const LeftOut& one : grid.left_out) {
    json.BeginObject();
    if (one.cores > 0) json.Field("cores", one.cores);
    json.Field("num_workers", one.workers).Field("prefetch_factor", one.prefetch);
    json.Field("batch_size", one.batch);
    json.Field("why", English(one.why)).Key("why_statement");
    WriteStatement(one.why, json);
    json.EndObject();
  }
  json.EndArray();
  const Changes& changes = grid.changes;
  json.Key("changes").BeginObject();
  json.Field("transfer", changes.transfer).Field("decoder", changes.decoder);
  json.Field("ram_cache", changes.ram_cache).Field("pack", changes.pack);
  json.Field("offline_resize", changes.resize).Field("disk_bytes_per_s", changes.disk);
  if (!grid.several_machines) json.Field("cores", changes.cores);  // else each has its own
  json.Field("core_speed", changes.core_speed);
  json.Field("alone", changes.alone).Field("gpu_overlap", changes.gpu_overlap).EndObject();
  if (!grid.several_machines) {
    json.Key("ceiling").BeginObject();
    json.Field("samples_per_s", grid.ceiling);
    json.Field("source", grid.ceiling_measured ? "fixed-batch" : "simulated").EndObject();
  }
  json.Field("base", BaseName(grid.whole_run));
  json.Field("recorded_samples_per_s", grid.recorded);
  WriteStatements("notes", grid.notes, json);
  json.EndObject();
  return json.text();
}

}  // namespace penstock::analyzer
