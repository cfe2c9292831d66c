// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/function_report.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/functions.h"

namespace penstock::analyzer {
namespace {

constexpr double kLeastShown = 0.03;  // share of the time of the workers, or of the loop

// The text of a line without its indentation; "" if it is not known.
std::string SourceOf(const Report& report, const std::string& file, std::uint32_t line) {
  const auto found = report.sources.find({file, line});
  if (found == report.sources.end()) return "";
  const std::size_t begin = found->second.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : found->second.substr(begin);
}

// Removes "<locals>." from "Photos.__getitem__.<locals>.<listcomp>".
std::string ShortName(std::string name) {
  constexpr std::string_view kLocals = "<locals>.";
  for (std::size_t at = name.find(kLocals); at != std::string::npos; at = name.find(kLocals)) {
    name.erase(at, kLocals.size());
  }
  return name;
}

constexpr std::size_t kNameWidth = kColumns - 9;  // "  NAME  100 %"

std::string Row(const std::string& name, double share) {
  return fmt::format("  {:<{}} {:>6}\n", PlainText(name, kNameWidth), kNameWidth,
                     PercentText(share));
}

// The library functions and functions of C that a function, or one of its lines, calls.
void AddCalled(const FunctionProfile& profile, const std::vector<CalledTime>& all,
               std::string_view indent, const Paint& paint, std::vector<std::string>& rows) {
  constexpr std::size_t kCalled = 2;
  for (std::size_t i = 0; i < std::min(kCalled, all.size()); ++i) {
    const double share = all[i].share * profile.scale();
    if (share < kLeastShown) break;
    rows.push_back(paint.Dim(Row(fmt::format("{}{}()", indent, all[i].name), share)));
  }
}

void WriteCalled(const FunctionProfile& profile, const std::vector<CalledTime>& all,
                 JsonWriter& json) {
  json.Key("calls").BeginArray();
  for (const CalledTime& called : all) {
    json.BeginObject().Field("name", called.name).Field("file", called.file);
    json.Field("share", called.share * profile.scale()).Field("calls_each", called.count);
    json.EndObject();
  }
  json.EndArray();
}

// A function with its most expensive lines, and the library functions that these lines call. If its
// lines were not recorded, the library functions that the function calls.
std::vector<std::string> FunctionRows(const Report& report, const FunctionProfile& profile,
                                      const FunctionTime& function, const Paint& paint) {
  constexpr std::size_t kLines = 3;
  const std::string place =
      function.file.empty() ? "" : PlaceOf(function.file, function.line) + " ";
  std::vector<std::string> rows = {
      Row("  " + place + ShortName(function.name), function.share * profile.scale())};
  for (std::size_t i = 0; i < std::min(kLines, function.lines.size()); ++i) {
    const LineTime& line = function.lines[i];
    if (line.share * profile.scale() < kLeastShown) break;
    const std::string source = SourceOf(report, function.file, line.line);
    rows.push_back(
        paint.Dim(Row(fmt::format("    line {}{}{}", line.line, source.empty() ? "" : ": ", source),
                      line.share * profile.scale())));
    AddCalled(profile, line.called, "      ", paint, rows);
  }
  if (function.lines.empty()) AddCalled(profile, function.called, "    ", paint, rows);
  return rows;
}

void WriteFunction(const Report& report, const FunctionProfile& profile,
                   const FunctionTime& function, JsonWriter& json) {
  json.BeginObject().Field("stage", traces::StageName(profile.stage));
  json.Field("name", function.name).Field("file", function.file);
  json.Field("first_line", static_cast<std::uint64_t>(function.line));
  json.Field("library", function.is_library);
  json.Field("share", function.share * profile.scale());
  json.Field("interpreter_share", function.own * profile.scale());
  json.Field("total_share", function.total * profile.scale());
  json.Field("calls_each", function.count);
  json.Key("lines").BeginArray();
  for (const LineTime& line : function.lines) {
    json.BeginObject().Field("line", static_cast<std::uint64_t>(line.line));
    json.Field("share", line.share * profile.scale());
    json.Field("interpreter_share", line.own * profile.scale());
    json.Field("count_each", line.count);
    const std::string source = SourceOf(report, function.file, line.line);
    if (!source.empty()) json.Field("source", source);
    WriteCalled(profile, line.called, json);
    json.EndObject();
  }
  json.EndArray();
  WriteCalled(profile, function.called, json);
  json.EndObject();
}

}  // namespace

Statement NameOf(const FunctionProfile& profile) {
  switch (profile.stage) {
    case traces::StageId::kCollate:
      return Say<words::kInCollate>();
    case traces::StageId::kStep:
      return Say<words::kInStep>();
    default:
      return Say<words::kInSamples>();
  }
}

Statement SlowerThanUsual(const FunctionProfile& profile) {
  if (!profile.IsUnusual()) return {};
  return Say<words::kSlowerThanUsual>(Give<"unit">(profile.unit_time),
                                      Give<"mean">(profile.mean_time));
}

void ShowSources(const LineReader& read, Report& report) {
  for (const FunctionProfile& profile : report.diagnosis.functions) {
    for (const FunctionTime& function : profile.functions) {
      for (const LineTime& line : function.lines) {
        const auto text = read(function.file, line.line);
        if (text) report.sources.emplace(std::pair(function.file, line.line), *text);
      }
    }
  }
}

void WriteFunctionsJson(const Report& report, JsonWriter& json) {
  json.Key("functions").BeginArray();
  for (const FunctionProfile& profile : report.diagnosis.functions) {
    for (const FunctionTime& function : profile.functions) {
      WriteFunction(report, profile, function, json);
    }
  }
  json.EndArray().Key("function_sampling").BeginArray();
  for (const FunctionProfile& profile : report.diagnosis.functions) {
    json.BeginObject().Field("stage", traces::StageName(profile.stage));
    json.Field("units", static_cast<std::uint64_t>(profile.units));
    json.Field("unit_s", profile.unit_time).Field("uncertain_fraction", profile.spread);
    if (profile.mean_time > 0) json.Field("mean_s", profile.mean_time);
    json.Field("unusual", profile.IsUnusual());
    json.Field("share_of_stage", profile.of_stage).EndObject();
  }
  json.EndArray();
  if (report.following_cost) json.Field("function_sampling_cost", *report.following_cost);
}

std::string FunctionsText(const Report& report, const Paint& paint, std::size_t most,
                          bool* left_out) {
  constexpr std::size_t kFunctions = 5;
  std::string text;
  for (const FunctionProfile& profile : report.diagnosis.functions) {
    std::string rows;
    std::size_t shown = 0;
    for (const FunctionTime& function : profile.functions) {
      if (function.share * profile.scale() < kLeastShown || shown++ == kFunctions) break;
      for (const std::string& row : FunctionRows(report, profile, function, paint)) {
        if (most == 0) {
          if (left_out != nullptr) *left_out = true;
          break;
        }
        --most;
        rows += row;
      }
    }
    if (rows.empty()) continue;
    const Statement followed = Say<words::kFollowed>(Give<"units">(profile.units));
    const std::string name = fmt::format("{} ({})", English(NameOf(profile)), English(followed));
    text += paint.Dim(fmt::format("  {:<{}} {:>6}", name, kNameWidth, "share")) + "\n";
    const Statement slower = SlowerThanUsual(profile);
    if (!slower.empty()) text += "    " + English(slower) + "\n";
    text += rows;
  }
  if (text.empty()) return "";
  if (report.following_cost) {
    const Statement cost = Say<words::kFollowingCost>(Give<"cost">(*report.following_cost));
    text += paint.Dim("  " + English(cost)) + "\n";
  }
  return text + "\n";
}

}  // namespace penstock::analyzer
