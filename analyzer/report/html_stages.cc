// SPDX-License-Identifier: Apache-2.0
//
// Stages, gains and latencies of the HTML report.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/slow_batches_report.h"
#include "analyzer/words/format.h"
#include "analyzer/words/gpu.h"
#include "analyzer/words/names.h"
#include "analyzer/words/page.h"
#include "analyzer/words/page_plots.h"

namespace penstock::analyzer {
namespace {

constexpr double kStageRow = 26;

std::vector<Tick> PercentTicks() {
  return {{0, "0"}, {0.25, "25"}, {0.5, "50"}, {0.75, "75"}, {1, "100"}};
}

// Whether a stage is drawn. Stages that contain others (sample, fetch) would show the same time
// twice, and idle is not work.
bool Drawn(const StageRow& row) {
  return row.stage != traces::StageId::kSample && row.stage != traces::StageId::kFetch &&
         row.stage != traces::StageId::kIdle;
}

std::string CpuText(const StageRow& row) {
  return row.cpu_known ? DurationText(row.cpu) : "-";
}

double DrawStages(Drawing& drawing, const std::vector<const StageRow*>& rows, double top,
                  const Scale& x, const std::string& heading, Language language) {
  if (rows.empty()) return top;
  drawing.Text(8, top + 12, heading, "heading");
  double y = top + 24;
  for (const StageRow* row : rows) {
    const double end = x.At(row->share / static_cast<double>(row->devices));
    const auto share = Give<"share">(ShareText(*row, language));
    const auto wall = Give<"wall">(row->wall);
    const auto cpu = GiveIf<"cpu">(row->cpu_known, row->cpu);
    const std::string tip =
        Render(Say<words::kStageTip>(Give<"stage">(StageText(*row, language)), share, wall, cpu),
               language);
    drawing.Text(x.from - 8, y + 13, PlainText(StageText(*row, language), 14), "end");
    drawing.Rect(x.from, y, end - x.from, 17, "wall", tip);
    if (row->cpu_known && row->wall > 0) {
      const double part = std::min(1.0, row->cpu / row->wall);
      drawing.Rect(x.from, y + 5, part * (end - x.from), 7, "cpu", tip);
    }
    drawing.Text(end + 8, y + 13, Render(Say<words::kStageFigures>(share, wall, cpu), language),
                 "tick");
    y += kStageRow;
  }
  return y + 8;
}

}  // namespace

Picture NoFigure(Statement reason) {
  return {"", std::move(reason)};
}

std::string Figure(const std::string& svg, const std::string& caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, Escaped(caption));
}

Picture StageFigure(const Report& report, Language language) {
  std::vector<const StageRow*> workers;
  std::vector<const StageRow*> loop;
  for (const StageRow& row : report.stages) {
    if (Drawn(row)) (row.of_workers ? workers : loop).push_back(&row);
  }
  if (workers.empty() && loop.empty()) return NoFigure(Say<words::kNoStage>());
  const std::size_t groups = (workers.empty() ? 0U : 1U) + (loop.empty() ? 0U : 1U);
  const double bottom = 34 + kStageRow * static_cast<double>(workers.size() + loop.size()) +
                        32 * static_cast<double>(groups);
  Drawing drawing(kPictureWidth, bottom + 42, Word<words::kStagePlot>(language));
  const Scale x{0, 1, 110, 640};
  const auto ticks = PercentTicks();
  drawing.Below(x, ticks, bottom, 26, Word<words::kStageAxis>(language));
  drawing.Legend(110, 16,
                 std::array{LegendEntry{"wall", Word<words::kWallTime>(language)},
                            LegendEntry{"cpu", Word<words::kCpuTime>(language)}});
  const double next =
      DrawStages(drawing, workers, 30, x, Word<words::kMakingBatches>(language), language);
  DrawStages(drawing, loop, next, x, Word<words::kTrainingLoop>(language), language);
  return {Figure(std::move(drawing).Finish(), Word<words::kStageCaption>(language)), {}};
}

std::string StageTableHtml(const Report& report, Language language) {
  if (report.stages.empty()) return "";
  const std::string slow = SlowBatchesSentence(report, language);
  std::string text = slow.empty() ? "" : fmt::format("<p>{}</p>\n", Escaped(slow));
  text +=
      fmt::format("<details><summary>{}</summary>\n", Escaped(Word<words::kStageTable>(language)));
  text += TableHead({StageHead(report, language), Word<words::kColumnShare>(language),
                     Word<words::kColumnWall>(language), Word<words::kColumnCpu>(language),
                     Word<words::kColumnCount>(language), Word<words::kColumnMedian>(language),
                     Word<words::kColumnP99>(language), Word<words::kColumnBytes>(language)});
  const auto add = [&](const StageRow& row, std::string_view css) {
    text += fmt::format(
        "<tr><th class=\"{}\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        css, Escaped(StageText(row, language)), Escaped(ShareText(row, language)),
        DurationText(row.wall), CpuText(row), row.rest ? "-" : fmt::format("{}", row.count),
        row.mixed ? "-" : DurationText(row.p50), row.mixed ? "-" : DurationText(row.p99),
        row.bytes > 0 ? BytesText(row.bytes) : "-");
  };
  for (const StageRow& row : report.stages) {
    add(row, "stage");
    for (const StageRow& child : row.children) add(child, "child");
  }
  return text + "</tbody></table></div></details>\n";
}

Picture GainFigure(const Diagnosis& diagnosis, Language language) {
  if (!Predicts(diagnosis)) return NoFigure(diagnosis.needs);
  std::vector<Gain> gains;
  for (const Gain& gain : diagnosis.gains) {
    if (gain.speedup >= 1.005 && std::isfinite(gain.speedup)) gains.push_back(gain);
  }
  if (gains.empty()) {
    return NoFigure(diagnosis.loader ? Say<words::kNoGain>() : Say<words::kNoLoaderSeen>());
  }
  const double bottom = 10 + kStageRow * static_cast<double>(gains.size());
  Drawing drawing(kPictureWidth, bottom + 42, Word<words::kGainPlot>(language));
  std::vector<double> steps = RoundSteps(gains.front().speedup - 1, 6);
  for (double& step : steps) step += 1;
  const Scale x{1, steps.back(), 110, 780};
  std::vector<Tick> ticks;
  for (const double step : steps) ticks.push_back({step, fmt::format("{:.4g}x", step)});
  drawing.Below(x, ticks, bottom, 4, Word<words::kGainAxis>(language));
  double y = 10;
  for (const Gain& gain : gains) {
    const std::string figure = TimesText(gain.speedup) + "x";
    const std::string name(FactorName(gain.factor));
    drawing.Text(102, y + 13, NameIn(name, language), "end");
    drawing.Rect(
        110, y, x.At(gain.speedup) - 110, 17, "gain",
        Render(Say<words::kGainTip>(Give<"part">(name), Give<"gain">(gain.speedup)), language));
    drawing.Text(x.At(gain.speedup) + 8, y + 13, figure, "tick");
    y += kStageRow;
  }
  return {Figure(std::move(drawing).Finish(), Word<words::kGainCaption>(language)), {}};
}

Picture LatencyFigure(const std::vector<LatencyRow>& rows, Language language) {
  constexpr double kHeight = 70;
  std::size_t first = 1000;
  std::size_t last = 0;
  for (const LatencyRow& row : rows) {
    for (std::size_t i = 0; i < row.bins.size(); ++i) {
      if (row.bins[i] == 0) continue;
      first = std::min(first, i);
      last = std::max(last, i);
    }
  }
  if (rows.empty() || first > last) return NoFigure(Say<words::kNoStage>());
  // Whole decades.
  const std::size_t low = first / kBinsPerDecade;
  const std::size_t high = last / kBinsPerDecade + 1;
  const double bottom = 8 + kHeight * static_cast<double>(rows.size());
  Drawing drawing(kPictureWidth, bottom + 42, Word<words::kLatencyPlot>(language));
  const Scale x{std::pow(10.0, low), std::pow(10.0, high), 150, 660, true};
  std::vector<Tick> ticks;
  for (std::size_t d = low; d <= high; ++d) {
    constexpr std::array<std::string_view, 3> kUnits = {"ns", "us", "ms"};
    ticks.push_back(
        {std::pow(10.0, d), d < 9 ? fmt::format("{:.0f} {}", std::pow(10.0, d % 3), kUnits[d / 3])
                                  : fmt::format("{:.0f} s", std::pow(10.0, d - 9))});
  }
  drawing.Below(x, ticks, bottom, 8, Word<words::kLatencyAxis>(language));
  double top = 8;
  for (const LatencyRow& row : rows) {
    const std::string_view stage = traces::StageName(row.stage);
    const double base = top + kHeight;
    const std::uint64_t most = *std::max_element(row.bins.begin(), row.bins.end());
    const double count = static_cast<double>(std::max<std::uint64_t>(row.count, 1));
    const double peak = static_cast<double>(most) / count;
    for (std::size_t i = first; i <= last && i < row.bins.size(); ++i) {
      if (row.bins[i] == 0) continue;
      const double from = std::pow(10.0, static_cast<double>(i) / kBinsPerDecade);
      const double to = std::pow(10.0, static_cast<double>(i + 1) / kBinsPerDecade);
      const double share = static_cast<double>(row.bins[i]) / count;
      const double height = std::max(1.0, share / peak * (kHeight - 16));
      const Statement tip = Say<words::kLatencyTip>(
          Give<"stage">(stage), Give<"one">(row.count == 1), Give<"calls">(row.bins[i]),
          Give<"all">(row.count), Give<"share">(share), Give<"from">(from * 1e-9),
          Give<"to">(to * 1e-9));
      drawing.Rect(x.At(from) + 0.5, base - height, x.At(to) - x.At(from) - 1, height,
                   fmt::format("s-{}", stage), Render(tip, language));
    }
    drawing.Line(x.from, base, x.to, base, "axis");
    drawing.Line(x.from - 4, base - (kHeight - 16), x.from, base - (kHeight - 16), "axis");
    drawing.Line(x.from, base - (kHeight - 16), x.from, base, "axis");
    drawing.Text(x.from - 7, base - (kHeight - 16) + 4, PercentText(peak), "tick end");
    drawing.Text(x.from - 7, base - 1, "0", "tick end");
    drawing.Text(36, base - kHeight / 2 + 6, NameIn(stage, language));
    drawing.Text(x.to + 12, base - kHeight / 2 - 4,
                 Render(Say<words::kLatencyCalls>(Give<"calls">(row.count)), language), "tick");
    drawing.Text(x.to + 12, base - kHeight / 2 + 12,
                 Render(Say<words::kLatencyFigures>(Give<"mixed">(row.mixed), Give<"p50">(row.p50),
                                                    Give<"p99">(row.p99)),
                        language),
                 "tick");
    top = base;
  }
  const Scale all{0, 1, bottom, 8};
  drawing.Left(all, {}, x.from, x.to, Word<words::kLatencyShares>(language));
  return {Figure(std::move(drawing).Finish(), Word<words::kLatencyCaption>(language)), {}};
}

}  // namespace penstock::analyzer
