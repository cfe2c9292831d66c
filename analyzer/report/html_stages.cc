// SPDX-License-Identifier: Apache-2.0
//
// Stages, gains and latencies of the HTML report.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

constexpr double kStageRow = 26;

std::vector<Tick> PercentTicks() {
  return {{0, "0"}, {0.25, "25"}, {0.5, "50"}, {0.75, "75"}, {1, "100"}};
}

// Stages that hold others (sample, fetch) would show the same time twice; idle is no work.
bool Drawn(const StageRow& row) {
  return row.name != "sample" && row.name != "fetch" && row.name != "idle";
}

std::string CpuText(const StageRow& row) {
  return row.cpu_known ? DurationText(row.cpu) : "-";
}

std::string CpuPhrase(const StageRow& row) {
  return row.cpu_known ? DurationText(row.cpu) + " CPU" : "CPU not recorded";
}

double DrawStages(Drawing& drawing, const std::vector<const StageRow*>& rows, double top,
                  const Scale& x, std::string_view heading) {
  if (rows.empty()) return top;
  drawing.Text(8, top + 12, heading, "heading");
  double y = top + 24;
  for (const StageRow* row : rows) {
    const double end = x.At(row->share);
    const std::string tip =
        fmt::format("{}: {} of the time; {} wall, {}", row->name, PercentText(row->share),
                    DurationText(row->wall), CpuPhrase(*row));
    drawing.Text(x.from - 8, y + 13, PlainText(row->name, 14), "end");
    drawing.Rect(x.from, y, end - x.from, 17, "wall", tip);
    if (row->cpu_known && row->wall > 0) {
      const double part = std::min(1.0, row->cpu / row->wall);
      drawing.Rect(x.from, y + 5, part * (end - x.from), 7, "cpu", tip);
    }
    const std::string figures = fmt::format("{}: {} wall, {}", PercentText(row->share),
                                            DurationText(row->wall), CpuPhrase(*row));
    drawing.Text(end + 8, y + 13, figures, "tick");
    y += kStageRow;
  }
  return y + 8;
}

}  // namespace

std::string NoFigure(const std::string& reason) {
  return fmt::format("<p class=\"none\">No plot: {}</p>\n", Escaped(reason));
}

std::string Figure(const std::string& svg, const std::string& caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, Escaped(caption));
}

std::string StageFigure(const Report& report) {
  std::vector<const StageRow*> workers;
  std::vector<const StageRow*> loop;
  for (const StageRow& row : report.stages) {
    if (Drawn(row)) (row.of_workers ? workers : loop).push_back(&row);
  }
  if (workers.empty() && loop.empty()) return NoFigure("no stage was recorded.");
  const std::size_t groups = (workers.empty() ? 0U : 1U) + (loop.empty() ? 0U : 1U);
  const double bottom = 34 + kStageRow * static_cast<double>(workers.size() + loop.size()) +
                        32 * static_cast<double>(groups);
  Drawing drawing(kPictureWidth, bottom + 42, "Share of each stage, wall time against CPU time");
  const Scale x{0, 1, 110, 640};
  const auto ticks = PercentTicks();
  drawing.Below(x, ticks, bottom, 26, "share of the time of its group (%)");
  drawing.Legend(110, 16,
                 std::array<std::pair<std::string_view, std::string_view>, 2>{
                     {{"wall", "wall time"}, {"cpu", "CPU time within it"}}});
  const double next = DrawStages(drawing, workers, 30, x, "Making batches");
  DrawStages(drawing, loop, next, x, "Training loop");
  return Figure(std::move(drawing).Finish(),
                "Making batches: of the time spent in samples and batches, over all workers. "
                "Training loop: of the loop's time. A bar that is much longer than its CPU part "
                "waits: for storage, a lock, or a core.");
}

std::string StageTableHtml(const Report& report) {
  if (report.stages.empty()) return "";
  std::string text =
      "<details><summary>All stages as a table</summary>\n<div class=\"scroll\"><table><thead><tr>"
      "<th>stage</th><th>share</th><th>wall</th><th>CPU</th><th>count</th><th>median (p50)</th>"
      "<th>99th percentile (p99)</th><th>bytes</th></tr></thead><tbody>\n";
  const auto add = [&](const StageRow& row, std::string_view css) {
    text += fmt::format(
        "<tr><th class=\"{}\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        css, Escaped(row.name), PercentText(row.share), DurationText(row.wall), CpuText(row),
        row.count, DurationText(row.p50), DurationText(row.p99),
        row.bytes > 0 ? BytesText(row.bytes) : "-");
  };
  for (const StageRow& row : report.stages) {
    add(row, "stage");
    for (const StageRow& child : row.children) add(child, "child");
  }
  return text + "</tbody></table></div></details>\n";
}

std::string GainFigure(const Diagnosis& diagnosis) {
  if (!Predicts(diagnosis)) return NoFigure(English(diagnosis.needs));
  std::vector<Gain> gains;
  for (const Gain& gain : diagnosis.gains) {
    if (gain.speedup >= 1.005 && std::isfinite(gain.speedup)) gains.push_back(gain);
  }
  if (gains.empty()) {
    return NoFigure(diagnosis.loader ? "no part of the run gains half a percent by being free."
                                     : "no loader delivered batches while this was recorded.");
  }
  const double bottom = 10 + kStageRow * static_cast<double>(gains.size());
  Drawing drawing(kPictureWidth, bottom + 42, "Speedup of the run if one part cost nothing");
  std::vector<double> steps = RoundSteps(gains.front().speedup - 1, 6);
  for (double& step : steps) step += 1;
  const Scale x{1, steps.back(), 110, 780};
  std::vector<Tick> ticks;
  for (const double step : steps) ticks.push_back({step, fmt::format("{:.4g}x", step)});
  drawing.Below(x, ticks, bottom, 4, "speed of the run, as a multiple of the recorded one (1x)");
  double y = 10;
  for (const Gain& gain : gains) {
    const std::string figure = fmt::format("{:.2f}x", gain.speedup);
    const std::string name(FactorName(gain.factor));
    drawing.Text(102, y + 13, name, "end");
    drawing.Rect(110, y, x.At(gain.speedup) - 110, 17, "gain",
                 fmt::format("{} free: {}", name, figure));
    drawing.Text(x.At(gain.speedup) + 8, y + 13, figure, "tick");
    y += kStageRow;
  }
  return Figure(std::move(drawing).Finish(),
                "Each part is made free in a simulation of the run, one at a time: the most that "
                "work on it can gain. The parts are those of the stages; transfer is handing "
                "batches from workers to the loop, compute is the loop's own step, prefetch is "
                "uneven batches that wait for one another, startup is starting workers.");
}

std::string LatencyFigure(const std::vector<LatencyRow>& rows) {
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
  if (rows.empty() || first > last) return NoFigure("no stage was recorded.");
  // Whole decades.
  const std::size_t low = first / kBinsPerDecade;
  const std::size_t high = last / kBinsPerDecade + 1;
  const double bottom = 8 + kHeight * static_cast<double>(rows.size());
  Drawing drawing(kPictureWidth, bottom + 42, "How long one call of each stage took");
  const Scale x{std::pow(10.0, low), std::pow(10.0, high), 150, 660, true};
  std::vector<Tick> ticks;
  for (std::size_t d = low; d <= high; ++d) {
    constexpr std::array<std::string_view, 3> kUnits = {"ns", "us", "ms"};
    ticks.push_back(
        {std::pow(10.0, d), d < 9 ? fmt::format("{:.0f} {}", std::pow(10.0, d % 3), kUnits[d / 3])
                                  : fmt::format("{:.0f} s", std::pow(10.0, d - 9))});
  }
  drawing.Below(x, ticks, bottom, 8, "duration of one call (log scale)");
  double top = 8;
  for (const LatencyRow& row : rows) {
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
      drawing.Rect(
          x.At(from) + 0.5, base - height, x.At(to) - x.At(from) - 1, height, "s-" + row.name,
          fmt::format("{} {}: {} of {} ({}) in {}..{}", row.name, row.count == 1 ? "call" : "calls",
                      row.bins[i], row.count, PercentText(share), DurationText(from * 1e-9),
                      DurationText(to * 1e-9)));
    }
    drawing.Line(x.from, base, x.to, base, "axis");
    drawing.Line(x.from - 4, base - (kHeight - 16), x.from, base - (kHeight - 16), "axis");
    drawing.Line(x.from, base - (kHeight - 16), x.from, base, "axis");
    drawing.Text(x.from - 7, base - (kHeight - 16) + 4, PercentText(peak), "tick end");
    drawing.Text(x.from - 7, base - 1, "0", "tick end");
    drawing.Text(36, base - kHeight / 2 + 6, row.name);
    drawing.Text(x.to + 12, base - kHeight / 2 - 4, fmt::format("{} calls", row.count), "tick");
    drawing.Text(
        x.to + 12, base - kHeight / 2 + 12,
        fmt::format("median {}, 99 % below {}", DurationText(row.p50), DurationText(row.p99)),
        "tick");
    top = base;
  }
  const Scale all{0, 1, bottom, 8};
  drawing.Left(all, {}, x.from, x.to, "share of the stage's calls (%)");
  return Figure(std::move(drawing).Finish(),
                "One row for each stage, with a scale of its own: its highest bar is as many "
                "percent of its calls as stands at its left. Two humps mean two kinds of calls, "
                "such as cached and uncached files.");
}

}  // namespace penstock::analyzer
