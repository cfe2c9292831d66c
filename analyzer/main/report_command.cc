// SPDX-License-Identifier: Apache-2.0
//
// penstock report T [--json | --text | --brief] [--fail-on METRIC=LIMIT]...
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "analyzer/main/commands.h"
#include "analyzer/report/fail_on.h"
#include "analyzer/report/report.h"
#include "traces/trace.h"

namespace penstock::analyzer {

int ReportCommand(const std::vector<std::string>& arguments) {
  CLI::App app("Says what holds a recorded run back, how sure that is, and what to change.",
               "penstock report");
  std::string path;
  bool json = false;
  bool text = false;
  bool brief = false;
  std::vector<std::string> fail_on;
  app.add_option("trace", path, "Trace written by penstock record or by the agent alone")
      ->required();
  auto* json_flag = app.add_flag("--json", json, "One object of schema penstock.report/1");
  auto* text_flag = app.add_flag("--text", text, "For people (the default)");
  auto* brief_flag = app.add_flag("--brief", brief, "Five lines");
  json_flag->excludes(text_flag)->excludes(brief_flag);
  text_flag->excludes(brief_flag);
  app.add_option("--fail-on", fail_on,
                 "Exit with 1 if METRIC is worse than LIMIT: wait_fraction=0.2, losses=0, "
                 "coverage=0.95 (repeatable)")
      ->type_name("METRIC=LIMIT")
      ->allow_extra_args(false);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "penstock report: {}; see: penstock report --help\n", error.what());
    return 2;
  }
  std::vector<Threshold> thresholds;
  for (const std::string& word : fail_on) {
    const auto threshold = ParseThreshold(word);
    if (!threshold) {
      fmt::print(stderr, "penstock report: {}\n", threshold.error().message);
      return ExitStatus(threshold.error().kind);
    }
    thresholds.push_back(*threshold);
  }
  const auto trace = traces::OpenTrace(path);
  if (!trace) {
    std::error_code ignored;
    const bool part =
        !std::filesystem::exists(path, ignored) && std::filesystem::exists(path + ".part", ignored);
    fmt::print(stderr, "penstock report: {}{}\n", trace.error().message,
               part ? fmt::format("; {0}.part is there: penstock recover {0}", path) : "");
    return ExitStatus(trace.error().kind);
  }
  const Report report = BuildReport(**trace, path);
  const Colour colour = WantsColour() ? Colour::kOn : Colour::kOff;
  const int printed = Print(json    ? ReportJson(report)
                            : brief ? ReportBrief(report, colour)
                                    : ReportText(report, colour));
  if (printed != 0) return printed;
  for (const Threshold& threshold : thresholds) {
    if (!Exceeded(threshold, report)) continue;
    fmt::print(stderr, "penstock report: {}\n", ExceededText(threshold, report));
    return 1;
  }
  for (const Threshold& threshold : thresholds) {
    if (Known(threshold, report)) continue;
    fmt::print(stderr,
               "penstock report: {}: not enough for --fail-on wait_fraction: no loader delivered "
               "batches while it was recorded\n",
               path);
    return ExitStatus(ErrorKind::kInput);
  }
  return 0;
}

}  // namespace penstock::analyzer
