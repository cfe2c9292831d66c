// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/html_report.h"

#include <array>
#include <ctime>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/gpu_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/memory_report.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

// Okabe and Ito's colours, told apart by people with colour blindness; lighter ones in the dark.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d8dee4;--card:#f6f8fa;
--wall:#a9c7e8;--cpu:#0b5cad;--gain:#0b7a5a;--band:#0b5cad33;--read:#0072b2;--decode:#b8407f;
--augment:#009e73;--sample:#c9c2a3;--collate:#8f7ae0;--put:#6b8e23;--get:#4f9fd1;--pin:#7a5c3e;
--idle:#b4bac1;--wait:#e6861a;--step:#456a80;--fetch:#8fb4dd;--bad:#b3261e;--warn:#8a5a00;
--good:#0b7a5a}
@media(prefers-color-scheme:dark){:root{--bg:#0e1116;--fg:#e6edf3;--dim:#9aa4af;--line:#30363d;
--card:#171c23;--wall:#34506f;--cpu:#5ca9f2;--gain:#35b58f;--band:#5ca9f244;--read:#4aa3df;
--decode:#d97ab0;--augment:#2fbf93;--sample:#6d684f;--collate:#a897ee;--put:#98b84a;--get:#7cc0ea;
--pin:#b08d68;--idle:#4a525b;--wait:#d98a2b;--step:#6f93a9;--fetch:#3f638c;--bad:#ff8a80;
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
.none{background:var(--card);border:1px dashed var(--line);border-radius:6px;padding:12px 14px;
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
.s-sample{fill:var(--sample)}.s-collate{fill:var(--collate)}.s-put{fill:var(--put)}
.s-get{fill:var(--get)}.s-pin{fill:var(--pin)}.s-h2d{fill:var(--pin)}.s-idle{fill:var(--idle)}
.s-kernel{fill:var(--gain)}.s-sync{fill:var(--collate)}
.s-wait{fill:var(--wait)}.s-step{fill:var(--step)}.s-fetch{fill:var(--fetch)}
@media print{details{display:block}body{max-width:none}}
)";

std::string Paragraph(std::string_view css, std::string_view text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css, Escaped(text));
}

std::string Section(std::string_view id, std::string_view title) {
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", id, Escaped(title));
}

std::string DateText(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (gmtime_r(&whole, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string Head(const Report& report) {
  std::string about = "recorded for " + DurationText(report.duration);
  const std::string date = report.started > 0 ? DateText(report.started) : "";
  if (!date.empty()) about += ", from " + date;
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head>"
      "<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width\"/>";
  text += fmt::format("<title>Penstock: {}</title><style>{}</style></head><body>\n",
                      Escaped(PlainText(report.trace, 100)), kStyle);
  text += fmt::format("<h1>{}</h1>\n", Escaped(PlainText(report.trace, 200)));
  text += Paragraph("dim", about);
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

std::string Verdict(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  std::string text = Paragraph("verdict", English(diagnosis.summary));
  text += Paragraph("dim", SurenessText(diagnosis));
  text += "<div class=\"tiles\">\n";
  if (diagnosis.samples_rate > 0) {
    text += Tile(
        fmt::format("{} {}", ShortNumber(diagnosis.samples_rate), UnitText(diagnosis)),
        diagnosis.loader && diagnosis.loader->steady.steady ? "throughput, steady" : "throughput");
  }
  if (WaitKnown(diagnosis)) {
    text += Tile(PercentText(diagnosis.wait_fraction), "of the loop's time is waiting for data");
  }
  text += Tile(PercentText(diagnosis.confidence), "confidence in the verdict");
  text += "</div>\n";
  text += Paragraph("", "Throughput: " + ThroughputText(diagnosis));
  const std::string loader = LoaderText(diagnosis);
  if (!loader.empty()) text += Paragraph("", "Loader: " + loader);
  for (const std::string& other : OtherLoaderTexts(diagnosis)) {
    text += Paragraph("", "And: " + other);
  }
  return text;
}

std::string Losses(const Report& report) {
  std::string text;
  const std::string losses = English(Lost(report.losses));
  const auto add = [&](std::string_view label, const std::string& what) {
    text += fmt::format("<p class=\"loss\"><b>{}</b> {}</p>\n", label, Escaped(what));
  };
  if (!losses.empty()) add("Incomplete:", losses + "; the figures below are of the rest.");
  const std::string blind = English(PartlyBlind(report.coverage));
  if (!blind.empty()) add("Partly blind:", blind + ".");
  if (losses.empty()) text += Paragraph("", "Nothing that was recorded is lost or damaged.");
  if (report.losses.unsealed) {
    text += Paragraph("dim", "The recording was not closed by a collector.");
  }
  return text + Paragraph("", "Seen: " + English(Seen(report.coverage)) + ".");
}

std::string Suggested(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return NoFigure("no loader delivered batches while this was recorded.");
  const Suggestion& suggestion = diagnosis.loader->suggestion;
  if (!suggestion.changes) return Paragraph("", English(Keep(diagnosis)) + ".");
  const std::string code = SuggestedCode(diagnosis);
  std::string text =
      fmt::format("<pre>{}</pre>\n",
                  Escaped(code.empty() ? fmt::format("{}, prefetch {}",
                                                     CountedText(suggestion.workers, "worker"),
                                                     suggestion.prefetch)
                                       : code));
  text += Paragraph(
      "",
      fmt::format("Predicted: {} (90 % interval); memory {}. The next "
                  "bottleneck would be: {}.",
                  PredictionText(suggestion.predicted, UnitText(diagnosis)),
                  suggestion.predicted.ram > 0 ? BytesText(suggestion.predicted.ram) : "not known",
                  FactorName(suggestion.next_bottleneck)));
  if (!suggestion.note.empty()) text += Paragraph("", English(suggestion.note) + ".");
  return text;
}

// Changes of the data or of where a stage runs, besides the loader's settings.
std::string ChangesTable(const Report& report) {
  if (report.changes.empty()) return "";
  std::string text =
      "<p>Other changes, as options of <code>penstock whatif</code>:</p><div "
      "class=\"scroll\"><table>"
      "<thead><tr><th>change</th><th>predicted</th><th>memory</th></tr></thead><tbody>\n";
  for (const TriedChange& one : report.changes) {
    text += fmt::format("<tr><th class=\"stage\"><code>{}</code></th><td>{}</td><td>{}</td></tr>\n",
                        Escaped(one.option),
                        Escaped(PredictionText(one.predicted, UnitText(report.diagnosis))),
                        one.predicted.ram > 0 ? BytesText(one.predicted.ram) : "not known");
  }
  text += "</tbody></table></div>\n<ul>\n";
  for (const TriedChange& one : report.changes) {
    for (const Statement& note : one.notes) {
      text += fmt::format("<li class=\"dim\">{}: {}</li>\n", Escaped(one.option),
                          Escaped(English(note)));
    }
  }
  return text + "</ul>\n";
}

std::string FindingText(const Report& report, const Finding& finding) {
  constexpr std::array<std::string_view, 3> kLevels = {"info", "warning", "critical"};
  const std::string_view level = kLevels[static_cast<std::size_t>(finding.severity)];
  std::string text = fmt::format(
      "<div class=\"finding {}\"><h3><span class=\"level\">{}</span> <code>{}</code></h3>\n", level,
      level, Escaped(finding.id));
  text += Paragraph("", English(finding.seen));
  text += fmt::format("<p><b>Do:</b> {}</p>\n", Escaped(English(finding.action)));
  if (finding.predicted) {
    text +=
        Paragraph("", fmt::format("Predicted: {}.",
                                  PredictionText(*finding.predicted, UnitText(report.diagnosis))));
  }
  text += "<dl>";
  for (const auto& [key, value] : finding.evidence) {
    const auto* number = std::get_if<double>(&value);
    text += fmt::format(
        "<dt>{}</dt><dd>{}</dd>", Escaped(key),
        Escaped(number != nullptr ? fmt::format("{:.6g}", *number) : std::get<std::string>(value)));
  }
  if (finding.to > 0) {
    text += fmt::format("<dt>when</dt><dd>{:.3f} s to {:.3f} s of the recording</dd>", finding.from,
                        finding.to);
  }
  if (!finding.pids.empty()) {
    text += "<dt>processes</dt><dd>";
    for (std::size_t i = 0; i < finding.pids.size(); ++i) {
      text += fmt::format("{}{}", i > 0 ? ", " : "", finding.pids[i]);
    }
    text += "</dd>";
  }
  return text + "</dl></div>\n";
}

std::string FindingsOf(const Report& report) {
  if (report.findings.empty()) return Paragraph("", "None.");
  std::string text;
  for (const Finding& finding : report.findings) text += FindingText(report, finding);
  return text;
}

std::string UncheckedList(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  std::vector<std::string> items;
  for (const Statement& blind : report.coverage.blind) items.push_back(English(blind));
  if (!report.coverage.known) {
    items.emplace_back("whether every read was seen: the kernel's byte counts were not recorded");
  }
  if (diagnosis.run.stages[traces::StageId::kKernel].count == 0) {
    items.emplace_back(
        "what the GPU did: no kernels were recorded, so a step is the time between "
        "two batches in the training loop");
  }
  if (diagnosis.run.mapped) {
    items.emplace_back("reading of mapped files: it happens inside other stages");
  }
  if (!diagnosis.run.host.known) {
    items.emplace_back("limits of the machine: its cores and memory were not recorded");
  }
  if (!diagnosis.loader) {
    items.emplace_back("the loader: " + English(NotEnough(diagnosis)));
  } else {
    if (!diagnosis.loader->cpu.known) {
      items.emplace_back("whether cores are short: no CPU times were recorded");
    }
    const std::string missing = English(NotEnough(diagnosis));
    if (!missing.empty()) items.emplace_back("other settings of the loader: " + missing);
    if (!diagnosis.run.loader().samples_known) {
      items.emplace_back("samples: their number in a batch is not known, rates are of batches");
    }
  }
  for (const NotChecked& missing : report.not_checked) {
    items.push_back(English(Unchecked(missing)));
  }
  if (items.empty()) return Paragraph("", "Nothing that Penstock knows of.");
  std::string text = "<ul>\n";
  for (const std::string& item : items) text += fmt::format("<li>{}</li>\n", Escaped(item));
  return text + "</ul>\n";
}

}  // namespace

std::string ReportHtml(const Report& report, const ReportPlots& plots) {
  const Diagnosis& diagnosis = report.diagnosis;
  std::string page = Head(report) + Verdict(report);
  page += fmt::format(
      "<nav><a href=\"#seen\">losses and coverage</a><a href=\"#suggestion\">suggestion</a>"
      "<a href=\"#stages\">stages</a><a href=\"#gpu\">GPU</a>{}<a href=\"#timeline\">timeline</a>"
      "<a href=\"#workers\">workers</a><a href=\"#latency\">latency</a>"
      "<a href=\"#queue\">queue</a><a href=\"#findings\">findings ({})</a>"
      "<a href=\"#unchecked\">not checked</a></nav>\n",
      RanksLine(diagnosis).empty() ? "" : "<a href=\"#ranks\">ranks</a>", report.findings.size());
  page += Section("seen", "Losses and coverage") + Losses(report);
  page += Section("suggestion", "Suggestion") + Suggested(diagnosis) + ChangesTable(report);
  page += Section("stages", "Stages") + StageFigure(report) + StageTableHtml(report);
  page += Section("gains", "If one part cost nothing") + GainFigure(diagnosis);
  page += Section("gpu", "The GPU") + GpuHtml(report);
  if (!RanksLine(diagnosis).empty()) page += Section("ranks", "Ranks") + RanksHtml(report);
  page += Section("timeline", "A few batches in time") + TimelineFigure(plots.timeline);
  page += Section("workers", "Throughput against workers") + RateFigure(plots.workers);
  page += Section("memory", "Memory against workers") + MemoryHtml(report) +
          MemoryFigure(plots.workers);
  page += Section("latency", "Latency of each stage") + LatencyFigure(plots.latencies);
  page += Section("queue", "Queue depth over time") + QueueFigure(plots.queue);
  page += Section("findings", "Findings") + FindingsOf(report);
  page += Section("unchecked", "What could not be checked") + UncheckedList(report);
  return page + "</body></html>\n";
}

}  // namespace penstock::analyzer
