// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/gpu_phrases.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/words/names.h"
#include "analyzer/words/page.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

std::string LevelWord(Severity severity, Language language) {
  switch (severity) {
    case Severity::kInfo:
      return Word<words::kInfo>(language);
    case Severity::kWarning:
      return Word<words::kWarning>(language);
    case Severity::kCritical:
      break;
  }
  return Word<words::kCritical>(language);
}

std::string FindingText(const Report& report, const Finding& finding, Language language) {
  constexpr std::array<std::string_view, 3> kLevels = {"info", "warning", "critical"};
  const std::string_view level = kLevels[static_cast<std::size_t>(finding.severity)];
  // An English name would only repeat the id.
  const std::string name =
      language == Language::kEnglish ? "" : Escaped(NameIn(finding.id, language)) + " ";
  std::string text = fmt::format(
      "<div class=\"finding {}\"><h3><span class=\"level\">{}</span> {}<code>{}</code></h3>\n",
      level, Escaped(LevelWord(finding.severity, language)), name, Escaped(finding.id));
  text += Paragraph("", Render(finding.seen, language));
  text += fmt::format("<p><b>{}</b> {}</p>\n", Escaped(Word<words::kDo>(language)),
                      Escaped(Render(finding.action, language)));
  if (finding.predicted) {
    const Statement gain = Say<words::kPredictedIs>(
        Give<"prediction">(PredictionOf(*finding.predicted, report.diagnosis)));
    text += Paragraph("", Render(gain, language));
  }
  if (Statement place = PlaceInPlan(report.plan, finding.id); !place.empty()) {
    text += Paragraph("", Render(Say<words::kClause>(Give<"what">(std::move(place))), language));
  }
  text += "<dl>";
  for (const auto& [key, value] : finding.evidence) {
    text += fmt::format("<dt>{}</dt><dd>{}</dd>", Escaped(key), Escaped(EvidenceText(key, value)));
  }
  if (finding.to > 0) {
    const Statement when = Say<words::kFromTo>(Give<"from">(finding.from), Give<"to">(finding.to));
    text += fmt::format("<dt>{}</dt><dd>{}</dd>", Escaped(Word<words::kWhen>(language)),
                        Escaped(Render(when, language)));
  }
  if (!finding.pids.empty()) {
    text += fmt::format("<dt>{}</dt><dd>", Escaped(Word<words::kProcesses>(language)));
    for (std::size_t i = 0; i < finding.pids.size(); ++i) {
      text += fmt::format("{}{}", i > 0 ? ", " : "", finding.pids[i]);
    }
    text += "</dd>";
  }
  return text + "</dl></div>\n";
}

}  // namespace

std::string FindingsHtml(const Report& report, Language language) {
  if (report.findings.empty()) return Paragraph("", Word<words::kNone>(language));
  std::string text;
  for (const Finding& finding : report.findings) text += FindingText(report, finding, language);
  return text;
}

std::string UncheckedHtml(const Report& report, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  Statements items = report.coverage.blind;
  if (!report.coverage.known) items.push_back(Say<words::kCountsUnknown>());
  if (diagnosis.run.stages[traces::StageId::kKernel].count == 0) {
    items.push_back(Say<words::kKernelsUnknown>());
  }
  if (Statement nvml = NvmlReason(report); report.gpus.empty() && !nvml.empty()) {
    items.push_back(std::move(nvml));
  }
  if (diagnosis.run.mapped) items.push_back(Say<words::kMappedUnknown>());
  if (!diagnosis.run.host.known) items.push_back(Say<words::kMachineUnknown>());
  Statement missing = NotEnough(diagnosis);
  if (!diagnosis.loader) {
    items.push_back(Say<words::kLoaderUnchecked>(Give<"why">(std::move(missing))));
  } else {
    if (!diagnosis.loader->cpu.known) items.push_back(Say<words::kCoresUnknown>());
    if (!missing.empty()) {
      items.push_back(Say<words::kSettingsUnchecked>(Give<"why">(std::move(missing))));
    }
    if (!diagnosis.run.loader().samples_known) items.push_back(Say<words::kSamplesUnknown>());
  }
  for (const NotChecked& one : report.not_checked) items.push_back(Unchecked(one));
  if (items.empty()) return Paragraph("", Word<words::kAllChecked>(language));
  std::string text = "<ul>\n";
  for (const Statement& item : items) {
    text += fmt::format("<li>{}</li>\n", Escaped(Render(item, language)));
  }
  return text + "</ul>\n";
}

}  // namespace penstock::analyzer
