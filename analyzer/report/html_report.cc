// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/html_report.h"

#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/function_report.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/html_style.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/memory_report.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/probe_report.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/report/request_report.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/format.h"
#include "analyzer/words/functions.h"
#include "analyzer/words/gpu.h"
#include "analyzer/words/page.h"
#include "analyzer/words/page_plots.h"
#include "analyzer/words/plan.h"
#include "analyzer/words/report.h"

namespace penstock::analyzer {
namespace {

// A part of the page. A part with an empty `link` is left out of the row of links.
struct Part {
  std::string_view id;
  Statement title;
  Statement link;
  std::string html;
};

std::string Section(const Part& part, Language language) {
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", part.id, Escaped(Render(part.title, language))) +
         part.html;
}

// Plots that have no data are named together in one line, with the reason.
class NotDrawn {
 public:
  void Add(const Statement& title, const Statement& why) {
    for (auto& [reason, titles] : plots_) {
      if (reason == why) return titles.push_back(title);
    }
    plots_.emplace_back(why, Statements{title});
  }
  [[nodiscard]] std::string Line(Language language) const {
    std::string text;
    for (const auto& [reason, titles] : plots_) {
      if (!text.empty()) text += SentenceGap(language);
      text += Render(Say<words::kNoPlot>(Give<"plots">(titles), Give<"why">(reason)), language);
    }
    return text.empty() ? "" : fmt::format("<p class=\"none\">{}</p>\n", Escaped(text));
  }

 private:
  std::vector<std::pair<Statement, Statements>> plots_;
};

std::string DateText(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (gmtime_r(&whole, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

// The title of the page: the command or, if it was not recorded, the name of the trace file.
std::string RunName(const Report& report) {
  constexpr std::size_t kMost = 100;
  if (!report.command.empty()) return PlainText(report.command, kMost);
  return PlainText(report.trace.substr(report.trace.rfind('/') + 1), kMost);
}

std::string Head(const Report& report, Language language) {
  const std::string date = report.started > 0 ? DateText(report.started) : "";
  const Statement about = Say<words::kRecordedFor>(Give<"trace">(PlainText(report.trace, 200)),
                                                   Give<"duration">(report.duration),
                                                   GiveIf<"date">(!date.empty(), date));
  const std::string run = RunName(report);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\"><head>"
      "<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width\"/>",
      language == Language::kChinese ? "zh" : "en");
  text += fmt::format("<title>Penstock: {}</title><style>{}</style></head><body>\n", Escaped(run),
                      kPageStyle);
  text += fmt::format("<h1><code>{}</code></h1>\n", Escaped(run));
  text += Paragraph("dim", Render(about, language));
  if (!report.command.empty() && PlainText(report.command, 2000) != run) {
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
  const bool steady = diagnosis.loader && diagnosis.loader->steady.lasts();
  if (diagnosis.base_rate() > 0) {
    text += Tile(fmt::format("{} {}", ShortNumber(diagnosis.base_rate()),
                             Render(RateUnit(diagnosis), language)),
                 Render(Say<words::kTileThroughput>(Give<"steady">(steady && !diagnosis.whole_run),
                                                    Give<"whole">(diagnosis.whole_run)),
                        language));
  }
  if (WaitKnown(diagnosis)) {
    text += Tile(
        PercentText(diagnosis.wait_fraction),
        Render(Say<words::kTileWait>(Give<"steady">(steady), Give<"whole">(diagnosis.whole_run)),
               language));
  }
  text += Tile(fmt::format("{:.0f} / 100", 100 * diagnosis.confidence),
               Word<words::kTileConfidence>(language));
  text += "</div>\n";
  const auto line = [&](const Statement& what) { text += Paragraph("", Render(what, language)); };
  line(Say<words::kThroughputIs>(Give<"what">(ThroughputOf(diagnosis))));
  for (Statement& change : Statements{RateChangeOf(diagnosis), RateDriftOf(diagnosis)}) {
    if (!change.empty()) line(Say<words::kThroughputIs>(Give<"what">(std::move(change))));
  }
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
  Statement losses = Lost(report.losses, report.diagnosis.run);
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

std::string Suggested(const Report& report, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  const auto clause = [](Statement what) {
    return Say<words::kClause>(Give<"what">(std::move(what)));
  };
  if (!diagnosis.loader) {
    return Paragraph(
        "", Render(Say<words::kSentence>(Give<"what">(Say<words::kNoLoaderSeen>())), language));
  }
  const Suggestion& suggestion = diagnosis.loader->suggestion;
  if (!suggestion.changes) return Paragraph("", Render(clause(Keep(report)), language));
  const std::string code = SuggestedCode(diagnosis);
  std::string text =
      fmt::format("<pre>{}</pre>\n",
                  Escaped(code.empty() ? Render(SuggestedSetting(suggestion), language) : code));
  const Statement gain = Say<words::kPredictedSuggestion>(
      Give<"prediction">(PredictionOf(suggestion.predicted, diagnosis)),
      GiveIf<"memory">(suggestion.predicted.ram > 0, suggestion.predicted.ram),
      Give<"factor">(FactorName(suggestion.next_bottleneck)));
  text += Paragraph("", Render(gain, language));
  if (!suggestion.note.empty()) text += Paragraph("", Render(clause(suggestion.note), language));
  return text;
}

// The lines to paste for the plan.
std::string Pasted(const Report& report) {
  std::string lines;
  for (const std::string& line : LinesToPaste(report)) {
    lines += (lines.empty() ? "" : "\n") + Escaped(line);
  }
  return lines.empty() ? "" : fmt::format("<pre>{}</pre>\n", lines);
}

// A table of changes beyond the loader's settings: other storage, decoder, data type or device.
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

// The parts of the page that have a heading, in their order.
std::vector<Part> PartsOf(const Report& report, const ReportPlots& plots, Language language) {
  const Diagnosis& diagnosis = report.diagnosis;
  std::vector<Part> parts;
  NotDrawn missing;
  const auto add = [&](std::string_view id, Statement title, Statement link, std::string html) {
    if (!html.empty()) parts.push_back({id, std::move(title), std::move(link), std::move(html)});
  };
  const auto draw = [&](std::string_view id, const Statement& title, Statement link,
                        const Picture& picture, const std::string& before = "",
                        const std::string& after = "") {
    if (!picture.missing.empty()) missing.Add(title, picture.missing);
    add(id, title, std::move(link), before + picture.html + after);
  };
  Plan plan = report.plan;
  plan.missing = ReasonOnce(report.diagnosis, plan.missing);
  add("plan", Say<words::kPlanTitle>(), Say<words::kPlanLink>(),
      PlanHtml(plan, language) + Pasted(report));
  add("findings", Say<words::kTitleFindings>(),
      Say<words::kLinkFindings>(Give<"findings">(report.findings.size())),
      FindingsHtml(report, language));
  if (report.plan.missing.empty()) {
    add("changes", Say<words::kTitleChanges>(), Say<words::kLinkChanges>(),
        ChangesTable(report, language));
  } else {
    add("suggestion", Say<words::kTitleSuggestion>(), Say<words::kLinkSuggestion>(),
        Suggested(report, language) + ChangesTable(report, language));
  }
  add("seen", Say<words::kTitleSeen>(), Say<words::kLinkSeen>(), Losses(report, language));
  draw("stages", Say<words::kTitleStages>(), Say<words::kLinkStages>(),
       StageFigure(report, language), "",
       StageTableHtml(report, language) + RequestsHtml(report, language));
  draw("functions", Say<words::kTitleFunctions>(), Say<words::kLinkFunctions>(),
       FunctionsHtml(report, language));
  draw("gains", Say<words::kTitleGains>(), {}, GainFigure(diagnosis, language));
  draw("gpu", Say<words::kTitleGpu>(), Say<words::kLinkGpu>(), GpuHtml(report, language));
  if (!RanksRecorded(diagnosis).empty()) {
    add("ranks", Say<words::kTitleRanks>(), Say<words::kLinkRanks>(), RanksHtml(report, language));
  }
  draw("timeline", Say<words::kTitleTimeline>(), Say<words::kLinkTimeline>(),
       TimelineFigure(plots.timeline, language));
  draw("workers", Say<words::kTitleWorkers>(), Say<words::kLinkWorkers>(),
       RateFigure(plots.workers, language));
  draw("memory", Say<words::kTitleMemory>(), {}, MemoryFigure(plots.workers, language),
       MemoryHtml(report, language));
  draw("latency", Say<words::kTitleLatency>(), Say<words::kLinkLatency>(),
       LatencyFigure(plots.latencies, language));
  draw("queue", Say<words::kTitleQueue>(), Say<words::kLinkQueue>(),
       QueueFigure(plots.queue, language));
  add("unchecked", Say<words::kTitleUnchecked>(), Say<words::kLinkUnchecked>(),
      missing.Line(language) + UncheckedHtml(report, language));
  return parts;
}

// The row of links at the top.
std::string Links(const std::vector<Part>& parts, Language language) {
  std::string text = "<nav>";
  for (const Part& part : parts) {
    if (part.link.empty()) continue;
    text += fmt::format("<a href=\"#{}\">{}</a>", part.id, Escaped(Render(part.link, language)));
  }
  return text + "</nav>\n";
}

}  // namespace

std::string ReportHtml(const Report& report, const ReportPlots& plots, Language language) {
  const std::vector<Part> parts = PartsOf(report, plots, language);
  std::string page = Head(report, language) + Verdict(report, language) + Links(parts, language);
  for (const Part& part : parts) page += Section(part, language);
  return page + "</body></html>\n";
}

}  // namespace penstock::analyzer
