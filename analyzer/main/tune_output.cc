// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/main/tune.h"
#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"
#include "analyzer/report/statement_json.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

std::string RatioText(const Interval& ratio) {
  if (!std::isfinite(ratio.high)) return fmt::format("{:.2f}x", ratio.estimate);
  return fmt::format("{:.2f}x ({:.2f}..{:.2f})", ratio.estimate, ratio.low, ratio.high);
}

// The predicted speed-up with its interval; nullopt if it is not known.
std::optional<Interval> SpeedupOf(const std::optional<Prediction>& predicted) {
  if (!predicted || !(predicted->rate.estimate > 0)) return std::nullopt;
  const double scale = predicted->speedup / predicted->rate.estimate;
  return Interval{predicted->speedup, predicted->rate.low * scale, predicted->rate.high * scale};
}

std::string PredictedText(const TuneArm& arm) {
  const std::optional<Interval> speedup = SpeedupOf(arm.candidate.predicted);
  if (!speedup) return "-";
  return fmt::format("{:.2f}x ({:.2f}..{:.2f})", speedup->estimate, speedup->low, speedup->high);
}

std::string ArmVerdict(const TuneArm& arm) {
  if (!arm.failed.empty()) return "failed";
  if (arm.left_behind) return "left behind";
  if (arm.pairs == 0) return "not run";
  switch (arm.verdict) {
    case TuneVerdict::kConfirmed:
      return arm.candidate.predicted ? "confirmed" : "faster";
    case TuneVerdict::kPartly:
      return "faster, less than predicted";
    case TuneVerdict::kRefuted:
      return "refuted: no gain of 5 %";
    default:
      return "not decided";
  }
}

std::string Sentence(const TuneResult& result) {
  const TuneArm* taken = result.taken > 0 ? &result.arms[result.taken - 1] : nullptr;
  switch (result.verdict) {
    case TuneVerdict::kNoAction:
      return fmt::format("No action: no other setting is predicted to gain 5 % (bottleneck: {}).",
                         FactorName(result.bottleneck));
    case TuneVerdict::kConfirmed:
      return fmt::format("Confirmed: {} {}, in {} pairs of runs.", RatioText(taken->ratio),
                         taken->candidate.predicted ? "as fast, as predicted" : "as fast",
                         taken->pairs);
    case TuneVerdict::kPartly:
      return fmt::format(
          "Confirmed in part: {} as fast, in {} pairs of runs, but less than predicted.",
          RatioText(taken->ratio), taken->pairs);
    case TuneVerdict::kRefuted:
      return "Refuted: nothing that was tried gains 5 %. Keep the program as it is.";
    case TuneVerdict::kUndecided:
      if (!result.arms.empty() &&
          std::all_of(result.arms.begin(), result.arms.end(),
                      [](const TuneArm& arm) { return !arm.failed.empty(); })) {
        return "Not decided: every setting that was tried failed.";
      }
      return "Not decided: the measurements fit both a gain and no gain. Give it more time or "
             "longer runs, on a quiet machine.";
    case TuneVerdict::kCrowded:
      return "No action: other programs compete for the cores, so the gain of other settings "
             "cannot be predicted. Run it again when the machine is quiet.";
    case TuneVerdict::kNotEnough:
      break;
  }
  return result.why;
}

std::string LossList(const std::vector<double>& losses) {
  std::string text;
  for (std::size_t i = 0; i < losses.size() && i < 3; ++i) {
    text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", losses[i]);
  }
  return text;
}

std::string ParityText(const TuneResult& result) {
  const auto& mine = result.arms[result.taken - 1].losses;
  switch (result.parity) {
    case LossParity::kSame:
      return fmt::format("losses: the same as before ({})", LossList(mine));
    case LossParity::kDiffer:
      return fmt::format(
          "losses: DIFFERENT from before ({} instead of {}), though runs of the program as it is "
          "agree: check what depends on the number of workers, such as random numbers in workers",
          LossList(mine), LossList(result.losses));
    case LossParity::kAlone:
      return fmt::format(
          "losses: different from before ({} instead of {}); whether the program's "
          "own runs agree is not known",
          LossList(mine), LossList(result.losses));
    case LossParity::kVary:
      return "losses: not comparable: they differ between runs of the program as it is, too (fix "
             "its seeds)";
    case LossParity::kNotPrinted:
      break;
  }
  return "losses: not printed, so not compared";
}

void WriteInterval(std::string_view key, const Interval& interval, JsonWriter& json) {
  json.Key(key).BeginObject().Field("estimate", interval.estimate).Field("low", interval.low);
  // JSON has no infinity: without the key, the interval has no upper end.
  if (std::isfinite(interval.high)) json.Field("high", interval.high);
  json.EndObject();
}

void WriteNumbers(std::string_view key, const std::vector<double>& numbers, JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const double number : numbers) {
    if (std::isfinite(number)) {
      json.Value(number);
    } else {
      json.Value(fmt::format("{}", number));  // "nan", because JSON has no such number
    }
  }
  json.EndArray();
}

void WriteArm(const TuneArm& arm, JsonWriter& json) {
  json.BeginObject().Field("override", arm.candidate.setting.Override());
  json.Key("reasons").BeginArray();
  for (const std::string& reason : arm.candidate.reasons) json.Value(reason);
  json.EndArray();
  if (const auto speedup = SpeedupOf(arm.candidate.predicted)) {
    WriteInterval("predicted", *speedup, json);
  }
  if (arm.pairs > 0) WriteInterval("measured", arm.ratio, json);
  json.Field("pairs", static_cast<std::uint64_t>(arm.pairs));
  json.Field("verdict", arm.failed.empty() ? VerdictName(arm.verdict) : "failed");
  json.Field("left_behind", arm.left_behind);
  if (!arm.failed.empty()) json.Field("why", arm.failed);
  WriteNumbers("losses", arm.losses, json);
  json.EndObject();
}

}  // namespace

std::string TuneText(const TuneResult& result, bool colour) {
  const Paint paint(colour);
  std::string text = fmt::format("\n  as it is: {} {}{} (runs from {} to {})\n",
                                 ShortNumber(result.as_is.estimate), result.unit,
                                 result.whole_run ? " of the whole run" : "",
                                 ShortNumber(result.as_is.low), ShortNumber(result.as_is.high));
  if (!result.arms.empty()) {
    text += paint.Dim(fmt::format("  {:<40} {:>20} {:>20} {:>6}  {}", "setting", "predicted",
                                  "measured", "pairs", "verdict")) +
            "\n";
  }
  for (const TuneArm& arm : result.arms) {
    text += fmt::format("  {:<40} {:>20} {:>20} {:>6}  {}\n", arm.candidate.setting.Override(),
                        PredictedText(arm), arm.pairs > 0 ? RatioText(arm.ratio) : "-", arm.pairs,
                        ArmVerdict(arm));
    if (!arm.failed.empty()) text += "    " + Wrapped(arm.failed, 92, "    ") + "\n";
  }
  text += "\n  " + paint.Bold(Wrapped(Sentence(result), 92, "  ")) + "\n";
  if (!result.stopped.empty()) {
    text += "  Stopped before all was decided: " + Wrapped(result.stopped, 92, "  ") + ".\n";
  }
  if (result.taken > 0) {
    const TuneArm& taken = result.arms[result.taken - 1];
    for (const std::string& line : taken.candidate.paste) text += "    " + line + "\n";
    text += "  or, without an edit: penstock record --override " +
            taken.candidate.setting.Override() + " -- CMD\n";
    if (!taken.candidate.note.empty()) {
      text += "  " + Wrapped(English(taken.candidate.note), 92, "  ") + "\n";
    }
    text += "  " + Wrapped(ParityText(result), 92, "  ") + "\n";
  }
  if (!result.next.empty()) text += "  next: " + Wrapped(result.next, 92, "  ") + "\n";
  return text;
}

std::string TuneJson(const TuneResult& result) {
  JsonWriter json;
  json.BeginObject().Field("schema", "penstock.tune/1");
  json.Field("verdict", VerdictName(result.verdict)).Field("text", Sentence(result));
  json.Field("unit", result.unit).Field("bottleneck", FactorName(result.bottleneck));
  json.Field("base", BaseName(result.whole_run));
  WriteInterval("as_is", result.as_is, json);
  json.Key("settings").BeginArray();
  for (const TuneArm& arm : result.arms) WriteArm(arm, json);
  json.EndArray();
  json.Key("runs").BeginArray();
  for (const TuneTrial& trial : result.trials) {
    json.BeginObject().Field("setting", static_cast<std::uint64_t>(trial.arm));
    json.Field("rate", trial.rate).Field("seconds", trial.seconds).EndObject();
  }
  json.EndArray();
  json.Field("taken", static_cast<std::uint64_t>(result.taken));
  if (result.taken > 0) {
    const TuneArm& taken = result.arms[result.taken - 1];
    json.Key("paste").BeginArray();
    for (const std::string& line : taken.candidate.paste) json.Value(line);
    json.EndArray();
    if (!taken.candidate.note.empty()) {
      json.Key("note");
      WriteStatement(taken.candidate.note, json);
    }
  }
  json.Field("losses_compared", ParityName(result.parity));
  WriteNumbers("losses", result.losses, json);
  json.Field("next", result.next).Field("stopped", result.stopped).EndObject();
  return json.text();
}

}  // namespace penstock::analyzer
