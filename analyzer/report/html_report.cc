// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/html_report.h"

#include <array>
#include <ctime>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/memory_report.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/probe_report.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/format.h"
#include "analyzer/words/functions.h"
#include "analyzer/words/gpu.h"
#include "analyzer/words/page.h"
#include "analyzer/words/plan.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

// Colours of the page, then those for a dark background. The blue of --read and the green of
// --augment are Okabe and Ito's, which people with colour blindness can tell apart.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d8dee4;--card:#f6f8fa;
--wall:#a9c7e8;--cpu:#0b5cad;--gain:#0b7a5a;--band:#0b5cad33;--read:#0072b2;--decode:#b8407f;
--augment:#009e73;--sample:#c9c2a3;--collate:#8f7ae0;--put:#6b8e23;--get:#4f9fd1;--pin:#7a5c3e;
--tokenize:#d9825f;--idle:#b4bac1;--wait:#e6861a;--step:#456a80;--fetch:#8fb4dd;--bad:#b3261e;--warn:#8a5a00;
--good:#0b7a5a}
@media(prefers-color-scheme:dark){:root{--bg:#0e1116;--fg:#e6edf3;--dim:#9aa4af;--line:#30363d;
--card:#171c23;--wall:#34506f;--cpu:#5ca9f2;--gain:#35b58f;--band:#5ca9f244;--read:#4aa3df;
--decode:#d97ab0;--augment:#2fbf93;--sample:#6d684f;--collate:#a897ee;--put:#98b84a;--get:#7cc0ea;
--pin:#b08d68;--tokenize:#ff9d76;--idle:#4a525b;--wait:#d98a2b;--step:#6f93a9;--fetch:#3f638c;--bad:#ff8a80;
--warn:#f0b64d;--good:#35b58f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1000px;padding:20px;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:20px;margin:0}h2{font-size:17px;margin:34px 0 8px;padding-top:10px;
border-top:1px solid var(--line)}h3{font-size:15px;margin:0 0 4px}
p{margin:6px 0}.dim,figcaption,summary{color:var(--dim);font-size:13.5px}
.verdict{font-size:19px;font-weight:600;line-height:1.4;margin:14px 0 6px}
code,pre{font:13.5px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:10px 12px;
margin:8px 0;white-space:pre-wrap}
.loss{border-left:4px solid var(--bad);background:var(--card);padding:8px 12px;margin:12px 0}
.loss b{color:var(--bad)}.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:12px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:8px 14px;
flex:1 1 180px}.tile b{display:block;font-size:20px}.tile span{color:var(--dim);font-size:13px}
.finding{border:1px solid var(--line);border-left:4px solid var(--dim);border-radius:6px;
padding:10px 14px;margin:10px 0;overflow-wrap:anywhere}.finding.critical{border-left-color:var(--bad)}
.finding.warning{border-left-color:var(--warn)}.critical .level{color:var(--bad)}
.warning .level{color:var(--warn)}.level{font-weight:600}
dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 14px;margin:6px 0;font-size:13.5px}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
nav{font-size:13.5px;margin:8px 0}nav a{margin-right:14px}a{color:var(--cpu)}
figure{margin:8px 0}svg{width:100%;height:auto;display:block}figcaption{margin-top:2px}
text.flame{font-size:11px}.f-program{fill:var(--wait)}.f-library{fill:var(--wall)}.none{background:var(--card);border:1px dashed var(--line);border-radius:6px;padding:12px 14px;
color:var(--dim)}.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13.5px;
width:100%}th,td{padding:3px 8px;text-align:right;border-bottom:1px solid var(--line);
white-space:nowrap}th.stage,th.child,thead th:first-child{text-align:left}th.child{font-weight:400;
padding-left:24px;color:var(--dim)}
text{fill:var(--fg);font:13px system-ui,sans-serif}text.tick{font-size:12px;fill:var(--dim);paint-order:stroke;
stroke:var(--bg);stroke-width:3px}
text.title{font-size:12.5px}text.small{font-size:10px}text.heading{font-weight:600}
.mid{text-anchor:middle}.end{text-anchor:end}.grid{stroke:var(--line)}
.axis{stroke:var(--dim)}.lane{fill:var(--card)}.wall{fill:var(--wall)}.cpu{fill:var(--cpu)}
.gain{fill:var(--gain)}.band{fill:var(--band)}.curve{fill:none;stroke:var(--cpu);stroke-width:1.8}
.key-curve{fill:var(--cpu)}.limit{stroke:var(--wait);stroke-dasharray:5 4;stroke-width:1.5}
.key-limit{fill:var(--wait)}.whisker{stroke:var(--cpu)}.dot{fill:var(--bg);stroke:var(--cpu);
stroke-width:2}.dot.now{fill:var(--fg);stroke:var(--fg)}.dot.good{fill:var(--good);
stroke:var(--good)}.now{fill:var(--fg)}.good{fill:var(--good)}.batches{fill:var(--cpu)}
.processes{fill:var(--wall)}
.s-read{fill:var(--read)}.s-decode{fill:var(--decode)}.s-augment{fill:var(--augment)}
.s-tokenize{fill:var(--tokenize)}.s-sample{fill:var(--sample)}.s-collate{fill:var(--collate)}.s-put{fill:var(--put)}
.s-get{fill:var(--get)}.s-pin{fill:var(--pin)}.s-h2d{fill:var(--pin)}.s-idle{fill:var(--idle)}
.s-kernel{fill:var(--gain)}.s-sync{fill:var(--collate)}
.s-wait{fill:var(--wait)}.s-step{fill:var(--step)}.s-fetch{fill:var(--fetch)}
@media print{details{display:block}body{max-width:none}}
)";

std::string Paragraph(std::string_view css, std::string_view text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css, Escaped(text));
}

template <const Message& Title>
std::string Section(std::string_view id, Language language) {
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", id, Escaped(Word<Title>(language)));
}

std::string DateText(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (gmtime_r(&whole, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string Head(const Report& report, Language language) {
  const std::string date = report.started > 0 ? DateText(report.started) : "";
  const Statement about = Say<words::kRecordedFor>(Give<"duration">(report.duration),
                                                   GiveIf<"date">(!date.empty(), date));
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\"><head>"
      "<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width\"/>",
      language == Language::kChinese ? "zh" : "en");
  text += fmt::format("<title>Penstock: {}</title><style>{}</style></head><body>\n",
                      Escaped(PlainText(report.trace, 100)), kStyle);
  text += fmt::format("<h1>{}</h1>\n", Escaped(PlainText(report.trace, 200)));
  text += Paragraph("dim", Render(about, language));
  if (!report.command.empty()) {
    text += fmt::format("<p class=\"dim\"><code>{}</code></p>\n",
                        Escaped(PlainText(report.command, 2000)));
  }
  return text;
}

std::string Tile(std::string_view figure, std::string_view meaning) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", Escaped(figure),
                     Escaped(meaning));
}

std::string Verdict(const Report& report, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  std::string text = Paragraph("verdict", Render(diagnosis.summary, language));
  text += Paragraph("dim", Render(ConfidenceOf(diagnosis), language));
  text += "<div class=\"tiles\">\n";
  if (diagnosis.base_rate() > 0) {
    const bool steady = diagnosis.loader && diagnosis.loader->steady.steady;
    text += Tile(fmt::format("{} {}", ShortNumber(diagnosis.base_rate()),
                             Render(RateUnit(diagnosis), language)),
                 Render(Say<words::kTileThroughput>(Give<"steady">(steady && !diagnosis.whole_run),
                                                    Give<"whole">(diagnosis.whole_run)),
                        language));
  }
  if (WaitKnown(diagnosis)) {
    text += Tile(PercentText(diagnosis.wait_fraction), Word<words::kTileWait>(language));
  }
  text += Tile(PercentText(diagnosis.confidence), Word<words::kTileConfidence>(language));
  text += "</div>\n";
  const auto line = [&](const Statement& what) { text += Paragraph("", Render(what, language)); };
  line(Say<words::kThroughputIs>(Give<"what">(ThroughputOf(diagnosis))));
  Statement change = RateChangeOf(diagnosis);
  if (!change.empty()) line(Say<words::kThroughputIs>(Give<"what">(std::move(change))));
  Statement loader = LoaderOf(diagnosis);
  if (!loader.empty()) line(Say<words::kLoaderIs>(Give<"what">(std::move(loader))));
  for (Statement& other : OtherLoaders(diagnosis)) {
    line(Say<words::kAndLoader>(Give<"what">(std::move(other))));
  }
  Statement overrides = OverridesSaid(report.overrides);
  if (!overrides.empty()) line(Say<words::kOverridesAre>(Give<"what">(std::move(overrides))));
  for (Statement& said : ProbesSaid(report.probes)) {
    line(Say<words::kClause>(Give<"what">(std::move(said))));
  }
  return text;
}

std::string Losses(const Report& report, Language language) {
  std::string text;
  const auto add = [&](const std::string& label, const Statement& what) {
    text += fmt::format("<p class=\"loss\"><b>{}</b> {}</p>\n", Escaped(label),
                        Escaped(Render(what, language)));
  };
  Statement losses = Lost(report.losses);
  const bool none = losses.empty();
  if (!none) {
    add(Word<words::kIncompleteLabel>(language),
        Say<words::kOfTheRest>(Give<"losses">(std::move(losses))));
  }
  Statement blind = PartlyBlind(report.coverage);
  if (!blind.empty()) {
    add(Word<words::kPartlyBlindLabel>(language),
        Say<words::kClause>(Give<"what">(std::move(blind))));
  }
  if (none) text += Paragraph("", Word<words::kNothingLost>(language));
  if (report.losses.unsealed) {
    const Statement open = Say<words::kSentence>(Give<"what">(Say<words::kNotClosed>()));
    text += Paragraph("dim", Render(open, language));
  }
  const Statement seen = Say<words::kSeenIs>(Give<"what">(Seen(report.coverage)));
  return text + Paragraph("", Render(seen, language));
}

std::string Suggested(const Diagnosis& diagnosis, Language language) {
  const auto clause = [](Statement what) {
    return Say<words::kClause>(Give<"what">(std::move(what)));
  };
  if (!diagnosis.loader) return NoFigure(clause(Say<words::kNoLoaderSeen>()), language);
  const Suggestion& suggestion = diagnosis.loader->suggestion;
  if (!suggestion.changes) return Paragraph("", Render(clause(Keep(diagnosis)), language));
  const std::string code = SuggestedCode(diagnosis);
  std::string text =
      fmt::format("<pre>{}</pre>\n",
                  Escaped(code.empty() ? Render(SuggestedSetting(suggestion), language) : code));
  const Prediction& predicted = suggestion.predicted;
  const Statement gain =
      Say<words::kPredictedSuggestion>(Give<"prediction">(PredictionOf(predicted, diagnosis)),
                                       GiveIf<"memory">(predicted.ram > 0, predicted.ram),
                                       Give<"factor">(FactorName(suggestion.next_bottleneck)));
  text += Paragraph("", Render(gain, language));
  if (!suggestion.note.empty()) text += Paragraph("", Render(clause(suggestion.note), language));
  return text;
}

// A table of changes that are no settings of the loader: other data, or stages on the GPU.
std::string ChangesTable(const Report& report, Language language) {
  if (report.changes.empty()) return "";
  std::string text = Paragraph("", Word<words::kOtherChanges>(language));
  text += TableHead({Word<words::kColumnChange>(language), Word<words::kColumnPredicted>(language),
                     Word<words::kColumnMemory>(language)});
  for (const TriedChange& one : report.changes) {
    const Statement gain = PredictionOf(one.predicted, report.diagnosis);
    text += fmt::format(
        "<tr><th class=\"stage\"><code>{}</code></th><td>{}</td><td>{}</td></tr>\n",
        Escaped(one.option), Escaped(Render(gain, language)),
        one.predicted.ram > 0 ? BytesText(one.predicted.ram) : Word<words::kNotKnown>(language));
  }
  text += "</tbody></table></div>\n<ul>\n";
  for (const TriedChange& one : report.changes) {
    for (const Statement& note : one.notes) {
      const Statement line =
          Say<words::kNoteOfChange>(Give<"change">(one.option), Give<"note">(note));
      text += fmt::format("<li class=\"dim\">{}</li>\n", Escaped(Render(line, language)));
    }
  }
  return text + "</ul>\n";
}

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
  std::string text = fmt::format(
      "<div class=\"finding {}\"><h3><span class=\"level\">{}</span> <code>{}</code></h3>\n", level,
      Escaped(LevelWord(finding.severity, language)), Escaped(finding.id));
  text += Paragraph("", Render(finding.seen, language));
  text += fmt::format("<p><b>{}</b> {}</p>\n", Escaped(Word<words::kDo>(language)),
                      Escaped(Render(finding.action, language)));
  if (finding.predicted) {
    const Statement gain = Say<words::kPredictedIs>(
        Give<"prediction">(PredictionOf(*finding.predicted, report.diagnosis)));
    text += Paragraph("", Render(gain, language));
  }
  text += "<dl>";
  for (const auto& [key, value] : finding.evidence) {
    const auto* number = std::get_if<double>(&value);
    text += fmt::format(
        "<dt>{}</dt><dd>{}</dd>", Escaped(key),
        Escaped(number != nullptr ? fmt::format("{:.6g}", *number) : std::get<std::string>(value)));
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

std::string FindingsOf(const Report& report, Language language) {
  if (report.findings.empty()) return Paragraph("", Word<words::kNone>(language));
  std::string text;
  for (const Finding& finding : report.findings) text += FindingText(report, finding, language);
  return text;
}

std::string UncheckedList(const Report& report, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  Statements items = report.coverage.blind;
  if (!report.coverage.known) items.push_back(Say<words::kCountsUnknown>());
  if (diagnosis.run.stages[traces::StageId::kKernel].count == 0) {
    items.push_back(Say<words::kKernelsUnknown>());
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

// The row of links at the top.
std::string Links(const Report& report, bool ranks, Language language) {
  std::string text = "<nav>";
  const auto link = [&](std::string_view id, const std::string& name) {
    text += fmt::format("<a href=\"#{}\">{}</a>", id, Escaped(name));
  };
  link("plan", Word<words::kPlanLink>(language));
  link("seen", Word<words::kLinkSeen>(language));
  link("suggestion", Word<words::kLinkSuggestion>(language));
  link("stages", Word<words::kLinkStages>(language));
  link("functions", Word<words::kLinkFunctions>(language));
  link("gpu", Word<words::kLinkGpu>(language));
  if (ranks) link("ranks", Word<words::kLinkRanks>(language));
  link("timeline", Word<words::kLinkTimeline>(language));
  link("workers", Word<words::kLinkWorkers>(language));
  link("latency", Word<words::kLinkLatency>(language));
  link("queue", Word<words::kLinkQueue>(language));
  link("findings",
       Render(Say<words::kLinkFindings>(Give<"findings">(report.findings.size())), language));
  link("unchecked", Word<words::kLinkUnchecked>(language));
  return text + "</nav>\n";
}

}  // namespace

std::string ReportHtml(const Report& report, const ReportPlots& plots, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  const bool ranks = !RanksRecorded(diagnosis).empty();
  std::string page = Head(report, language) + Verdict(report, language);
  page += Links(report, ranks, language);
  page += Section<words::kPlanTitle>("plan", language) + PlanHtml(report.plan, language);
  page += Section<words::kTitleSeen>("seen", language) + Losses(report, language);
  page += Section<words::kTitleSuggestion>("suggestion", language) +
          Suggested(diagnosis, language) + ChangesTable(report, language);
  page += Section<words::kTitleStages>("stages", language) + StageFigure(report, language) +
          StageTableHtml(report, language);
  page += Section<words::kTitleFunctions>("functions", language) + FunctionsHtml(report, language);
  page += Section<words::kTitleGains>("gains", language) + GainFigure(diagnosis, language);
  page += Section<words::kTitleGpu>("gpu", language) + GpuHtml(report, language);
  if (ranks) page += Section<words::kTitleRanks>("ranks", language) + RanksHtml(report, language);
  page += Section<words::kTitleTimeline>("timeline", language) +
          TimelineFigure(plots.timeline, language);
  page += Section<words::kTitleWorkers>("workers", language) + RateFigure(plots.workers, language);
  page += Section<words::kTitleMemory>("memory", language) + MemoryHtml(report, language) +
          MemoryFigure(plots.workers, language);
  page +=
      Section<words::kTitleLatency>("latency", language) + LatencyFigure(plots.latencies, language);
  page += Section<words::kTitleQueue>("queue", language) + QueueFigure(plots.queue, language);
  page += Section<words::kTitleFindings>("findings", language) + FindingsOf(report, language);
  page += Section<words::kTitleUnchecked>("unchecked", language) + UncheckedList(report, language);
  return page + "</body></html>\n";
}

}  // namespace penstock::analyzer
