// SPDX-License-Identifier: Apache-2.0
//
// penstock report T [--json | --text | --brief] [--fail-on METRIC=LIMIT]...
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/report/fail_on.h"
#include "analyzer/report/report.h"

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
  if (const auto status = Parse(app, arguments)) return *status;
  std::vector<Threshold> thresholds;
  for (const std::string& word : fail_on) {
    const auto threshold = ParseThreshold(word);
    if (!threshold) {
      return Complain("report", threshold.error());
    }
    thresholds.push_back(*threshold);
  }
  int status = 0;
  const auto trace = OpenOrComplain("report", path, status);
  if (trace == nullptr) return status;
  const Report report = BuildReport(*trace, path);
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
