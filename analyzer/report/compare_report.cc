// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/compare.h"
#include "analyzer/report/json_writer.h"
#include "analyzer/words/format.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

std::string MakersText(const LoaderConfig& config) {
  const std::string maker = config.sample_tasks ? "thread" : "worker";
  if (!config.workers_known) return fmt::format("number of {}s not known", maker);
  return CountedText(config.num_workers, maker);
}

std::string SideText(char letter, const SideFacts& side) {
  std::string text = fmt::format("  {}  {}: {}, {}", letter, PlainText(side.name, 60),
                                 side.config.kind, MakersText(side.config));
  if (side.config.num_workers > 0)
    text += fmt::format(", prefetch {}", side.config.prefetch_factor);
  if (side.config.batch_size > 0) text += fmt::format(", batch {}", side.config.batch_size);
  if (side.config.pins) text += ", pinned";
  return text + fmt::format("; {} steady batches\n", side.batches);
}

Statement Headline(const Comparison& comparison) {
  const Interval& ratio = comparison.throughput.ratio;
  const auto before = Give<"before">(comparison.throughput.before);
  const auto after = Give<"after">(comparison.throughput.after);
  const auto unit = Give<"unit">(comparison.unit);
  if (!comparison.enough) return Say<words::kTooFewToCompare>(before, after, unit);
  if (comparison.of_two_programs()) {
    return Say<words::kTwoPrograms>(Give<"program">(PlainText(comparison.before.program, 40)),
                                    Give<"other">(PlainText(comparison.after.program, 40)), before,
                                    after, unit);
  }
  return Say<words::kCompared>(Give<"significant">(comparison.throughput.significant),
                               Give<"ratio">(ratio.estimate), Give<"low">(ratio.low),
                               Give<"high">(ratio.high), before, after, unit);
}

std::string PercentChange(double ratio) {
  return fmt::format("{:+.0f} %", 100 * (ratio - 1));
}

// `enough`: whether the batches suffice for an interval.
std::string StageLine(const Change& change, bool enough, const Paint& paint) {
  const auto shown = [](double seconds) { return seconds > 0 ? DurationText(seconds) : "-"; };
  std::string line =
      fmt::format("  {:<12} {:>10} {:>10}", change.name, shown(change.before), shown(change.after));
  if (change.before > 0 && change.after > 0) {
    line += fmt::format(" {:>8}", PercentChange(change.ratio.estimate));
    if (enough) {
      line += fmt::format(" {:>18}", fmt::format("{}..{}", PercentChange(change.ratio.low),
                                                 PercentChange(change.ratio.high)));
    }
  }
  if (!change.significant) return paint.Dim(line) + "\n";
  return line + (change.after > change.before ? "  more" : "  less") + "\n";
}

void WriteSide(std::string_view key, const SideFacts& side, const Change& throughput, bool after,
               const Change& wait, JsonWriter& json) {
  json.Key(key).BeginObject();
  json.Field("trace", side.name).Field("kind", side.config.kind);
  json.Field("num_workers", side.config.num_workers);
  json.Field("workers_known", side.config.workers_known);
  json.Field("prefetch_factor", side.config.num_workers > 0 ? side.config.prefetch_factor : 0);
  json.Field("batch_size", side.config.batch_size).Field("pin_memory", side.config.pin_memory);
  json.Field("persistent_workers", side.config.persistent_workers);
  json.Field("steady_batches", static_cast<std::uint64_t>(side.batches));
  json.Field("samples_per_s", after ? throughput.after : throughput.before);
  json.Field("wait_fraction", after ? wait.after : wait.before);
  json.Field("bottleneck", FactorName(side.bottleneck)).EndObject();
}

void WriteInterval(std::string_view estimate, const Change& change, JsonWriter& json) {
  json.Field(estimate, change.ratio.estimate);
  json.Field("low", change.ratio.low).Field("high", change.ratio.high);
  json.Field("significant", change.significant);
}

}  // namespace

bool Comparison::of_two_datasets() const {
  // The number of samples is not known if a dataset makes batches of unknown length. If it makes
  // batches at all, the last one may be short.
  const auto known = [](const LoaderConfig& c) { return c.batch_size > 0 || c.batch_length > 0; };
  const auto unsure = [](const LoaderConfig& c) { return c.batch_size > 0 ? 0 : c.batch_length; };
  if (of_two_programs() || !known(before.config) || !known(after.config)) return false;
  const double a = before.config.dataset_samples();
  const double b = after.config.dataset_samples();
  const double slack = std::max<double>(unsure(before.config), unsure(after.config));
  return a > 0 && b > 0 && std::abs(a - b) > slack;
}

Statement TwoDataSets(const Comparison& comparison) {
  const auto samples = [](const LoaderConfig& config) {
    return static_cast<std::int64_t>(config.dataset_samples());
  };
  return Say<words::kTwoDataSets>(Give<"before">(samples(comparison.before.config)),
                                  Give<"after">(samples(comparison.after.config)));
}

std::string CompareText(const Comparison& comparison, Colour colour) {
  const Paint paint(colour == Colour::kOn);
  std::string text = SideText('A', comparison.before) + SideText('B', comparison.after) + "\n";
  text += "  " + paint.Bold(English(Headline(comparison))) + "\n";
  if (comparison.of_two_datasets()) text += "  " + English(TwoDataSets(comparison)) + "\n";
  const Change& wait = comparison.wait;
  const Statement waited = Say<words::kWaitCompared>(
      Give<"before">(wait.before), Give<"after">(wait.after), Give<"points">(ShownPoints(wait)),
      Give<"low">(100 * wait.ratio.low), Give<"high">(100 * wait.ratio.high),
      Give<"significant">(wait.significant), Give<"enough">(comparison.enough));
  text += "  " + English(waited) + "\n";
  const Factor before = comparison.before.bottleneck;
  const Factor after = comparison.after.bottleneck;
  text += before == after
              ? fmt::format("  bottleneck {} in both\n\n", FactorName(before))
              : fmt::format("  bottleneck {} -> {}\n\n", FactorName(before), FactorName(after));
  const bool samples = comparison.unit == RateUnit(true);
  std::string head = fmt::format("  {:<12} {:>10} {:>10} {:>8}",
                                 samples ? "per sample" : "per batch", "A", "B", "change");
  if (comparison.enough) head += fmt::format(" {:>18}", "95 % interval");
  text += paint.Dim(head) + "\n";
  for (const Change& change : comparison.stages) {
    text += StageLine(change, comparison.enough, paint);
  }
  if (!comparison.enough) return text;
  text += paint.Dim("  " + English(Say<words::kMoreOrLess>()) + "\n");
  return text;
}

std::string CompareJson(const Comparison& comparison) {
  JsonWriter json;
  json.BeginObject().Field("schema", "penstock.compare/1");
  WriteSide("before", comparison.before, comparison.throughput, false, comparison.wait, json);
  WriteSide("after", comparison.after, comparison.throughput, true, comparison.wait, json);
  json.Field("enough", comparison.enough).Field("two_programs", comparison.of_two_programs());
  json.Field("two_datasets", comparison.of_two_datasets());
  json.Key("throughput").BeginObject();
  WriteInterval("ratio", comparison.throughput, json);
  json.EndObject().Key("wait").BeginObject();
  WriteInterval("difference", comparison.wait, json);
  json.EndObject().Key("stages").BeginArray();
  for (const Change& change : comparison.stages) {
    json.BeginObject().Field("name", change.name);
    json.Field("before_s", change.before).Field("after_s", change.after);
    if (change.before > 0) {
      WriteInterval("ratio", change, json);
    } else {  // only B has the stage, so there is no ratio
      json.Field("significant", change.significant);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace penstock::analyzer
