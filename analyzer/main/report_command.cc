// SPDX-License-Identifier: Apache-2.0
//
// penstock report T... [--json | --text | --verbose | --brief | --html F [--lang en|zh]]
//                      [--align HOW] [--fail-on METRIC=LIMIT]...
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/main/arguments.h"
#include "analyzer/main/commands.h"
#include "analyzer/ranks/merge_run.h"
#include "analyzer/report/fail_on.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/report.h"
#include "analyzer/report/source_lines.h"
#include "traces/base/file.h"

namespace penstock::analyzer {
namespace {

// Whether this file is a trace. If somebody writes "--html A B" by mistake, A is the page, and the
// page would replace the trace.
bool IsTrace(const std::string& path) {
  std::error_code none;  // usually nothing has the name yet
  return std::filesystem::is_regular_file(path, none) && traces::OpenTrace(path).has_value();
}

// Returns the exit status.
int WritePage(const std::string& path, const std::string& page) {
  if (path == "-") return Print(page);
  const Result<void> written = WriteWhole(path, std::as_bytes(std::span(page)));
  return written ? 0 : Complain("report", written.error());
}

std::unique_ptr<traces::Trace> OpenAll(const std::vector<std::string>& paths, AlignMethod method,
                                       int& status) {
  if (paths.size() == 1) return OpenOrComplain("report", paths.front(), status);
  auto merged = OpenMerged(paths, method);
  if (merged) return std::move(*merged);
  status = Complain("report", merged.error());
  return nullptr;
}

std::string Joined(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : " ") + path;
  return text;
}

}  // namespace

int ReportCommand(const std::vector<std::string>& arguments) {
  traces::CommandLine line(
      "Says what holds a recorded run back, how sure that is, and what to change.",
      "penstock report");
  std::vector<std::string> paths;
  std::string align = "auto";
  std::string html;
  std::string language = "en";
  bool json = false;
  bool text = false;
  bool brief = false;
  bool verbose = false;
  std::vector<std::string> fail_on;
  line.Add("trace", paths,
           "Trace written by penstock record or by the agent alone; several are those of the "
           "ranks or hosts of one run")
      .Required();
  line.Add("--align", align, "With several traces: how to align their clocks (see penstock merge)")
      .ShowValueAs("HOW");
  auto json_flag = line.AddFlag("--json", json, "One object of schema penstock.report/1");
  auto text_flag = line.AddFlag("--text", text, "Text for a terminal (the default)");
  auto verbose_flag = line.AddFlag("--verbose", verbose,
                                   "Text with all details: each worker, memory, other changes that "
                                   "were tried, more functions, rules that could not be checked");
  auto brief_flag = line.AddFlag("--brief", brief, "Five lines");
  auto html_option =
      line.Add("--html", html, "Write one page with plots to F; - is standard output")
          .ShowValueAs("F");
  line.Add("--lang", language, "Language of the page (--html): en or zh")
      .ShowValueAs("L")
      .OneOf({"en", "zh"})
      .Needs(html_option);
  html_option.Excludes(json_flag).Excludes(text_flag).Excludes(brief_flag);
  json_flag.Excludes(text_flag).Excludes(brief_flag);
  text_flag.Excludes(brief_flag);
  verbose_flag.Excludes(html_option).Excludes(json_flag).Excludes(brief_flag);
  line.Add("--fail-on", fail_on,
           "Exit with 1 if METRIC is worse than LIMIT: wait_fraction=0.2, losses=0, "
           "coverage=0.95 (repeatable)")
      .ShowValueAs("METRIC=LIMIT")
      .OneValueEach();
  if (const auto status = Parse(line, arguments)) return *status;
  if (html_option.given() && html.empty()) {
    return Complain("report", Error{ErrorKind::kUsage, "--html needs the name of a file, or -"});
  }
  if (html != "-" && IsTrace(html)) {
    return Complain("report", Error{ErrorKind::kUsage,
                                    fmt::format("--html {}: is a trace; name the page", html)});
  }
  std::vector<Threshold> thresholds;
  for (const std::string& word : fail_on) {
    const auto threshold = ParseThreshold(word);
    if (!threshold) {
      return Complain("report", threshold.error());
    }
    thresholds.push_back(*threshold);
  }
  int status = 0;
  const Result<AlignMethod> method = ParseAlignMethod(align);
  if (!method) return Complain("report", method.error());
  const std::string path = Joined(paths);
  const auto trace = OpenAll(paths, *method, status);
  if (trace == nullptr) return status;
  Report report = BuildReport(*trace, path);
  ShowSources(SourceLines(report.started), report);
  const Colour colour = WantsColour() ? Colour::kOn : Colour::kOff;
  const Detail detail = verbose ? Detail::kAll : Detail::kUsual;
  const Language page_language = language == "zh" ? Language::kChinese : Language::kEnglish;
  const int printed =
      !html.empty() ? WritePage(html, ReportHtml(report, BuildPlots(*trace, report), page_language))
                    : Print(json    ? ReportJson(report)
                            : brief ? ReportBrief(report, colour)
                                    : ReportText(report, colour, detail));
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
