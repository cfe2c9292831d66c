// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/stall_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/core.h>

#include "analyzer/model/functions.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"
#include "analyzer/words/stalls.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kShown = 3;

Statement SaidOf(const Report& report, const Stalls& stalls) {
  const bool inside = !stalls.waits_in.empty();
  return Say<words::kStoodStill>(
      GiveIf<"worker">(stalls.worker >= 0, stalls.worker), Give<"longest">(stalls.longest),
      Give<"function">(stalls.name), Give<"place">(PlaceOf(stalls.file, stalls.line)),
      GiveIf<"waits_in">(inside, stalls.waits_in),
      GiveIf<"waits_place">(inside, PlaceOf(stalls.waits_file, stalls.waits_line)),
      GiveIf<"sample">(IsIndexed(stalls, report.diagnosis.run), stalls.sample),
      Give<"after_epoch">(stalls.after_epoch), GiveIf<"count">(stalls.count > 1, stalls.count),
      GiveIf<"time">(stalls.count > 1, stalls.time));
}

// What a person reads: the first places, and how many more there are.
Statements SaidOfStalls(const Report& report) {
  Statements said;
  const std::size_t places = report.stalls.size();
  for (std::size_t i = 0; i < std::min(kShown, places); ++i) {
    said.push_back(SaidOf(report, report.stalls[i]));
  }
  if (places > kShown) said.push_back(Say<words::kMorePlaces>(Give<"more">(places - kShown)));
  return said;
}

}  // namespace

std::string StallsText(const Report& report) {
  std::string text;
  for (const Statement& said : SaidOfStalls(report)) {
    text += Labelled(text.empty() ? "stood still" : "", English(said));
  }
  return text;
}

void WriteStallsJson(const Report& report, JsonWriter& json) {
  json.Key("stalls").BeginArray();
  for (const Stalls& stalls : report.stalls) {
    json.BeginObject().Field("stage", traces::StageName(stalls.stage));
    json.Field("function", stalls.name).Field("file", stalls.file);
    json.Field("line", static_cast<std::uint64_t>(stalls.line));
    json.Field("after_epoch", stalls.after_epoch);
    if (!stalls.waits_in.empty()) {
      json.Field("inside", stalls.waits_in).Field("inside_file", stalls.waits_file);
      json.Field("inside_line", static_cast<std::uint64_t>(stalls.waits_line));
    }
    json.Field("count", static_cast<std::uint64_t>(stalls.count)).Field("seconds", stalls.time);
    json.Field("longest_s", stalls.longest);
    json.Field("longest_at_s", static_cast<double>(stalls.at.value) * 1e-9);
    if (stalls.worker >= 0) json.Field("worker", static_cast<std::uint64_t>(stalls.worker));
    if (stalls.sample >= 0) json.Field("sample", static_cast<std::uint64_t>(stalls.sample));
    json.Field("text", English(SaidOf(report, stalls))).EndObject();
  }
  json.EndArray();
}

std::string StallsHtml(const Report& report, Language language) {
  std::string text;
  for (const Statement& said : SaidOfStalls(report)) {
    text += fmt::format("<li>{}</li>\n", Escaped(Render(said, language)));
  }
  return text.empty() ? "" : "<ul>\n" + text + "</ul>\n";
}

}  // namespace penstock::analyzer
