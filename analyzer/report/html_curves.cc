// SPDX-License-Identifier: Apache-2.0
//
// What other numbers of workers would give and cost, for the HTML report.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

constexpr double kCurvesLeft = 84;
constexpr double kRight = 880;
constexpr double kTop = 26;
constexpr double kBottom = 260;

Scale WorkerScale(const WorkerCurve& curve) {
  const double low = curve.points.front().workers;
  const double high = curve.points.back().workers;
  return {low - 0.6, high + 0.6, kCurvesLeft, kRight};
}

std::vector<Tick> WorkerTicks(const WorkerCurve& curve) {
  std::vector<Tick> ticks;
  const Scale x = WorkerScale(curve);
  double last = -100;
  for (const CurvePoint& point : curve.points) {
    if (x.At(point.workers) - last < 26) continue;
    last = x.At(point.workers);
    ticks.push_back({static_cast<double>(point.workers), fmt::format("{}", point.workers)});
  }
  return ticks;
}

std::string Marks(const CurvePoint& point) {
  std::string text;
  if (point.recorded) text += " (as recorded)";
  if (point.suggested) text += " (suggested)";
  if (!point.fits) text += " (more memory than there is room for)";
  return text;
}

}  // namespace

std::string RateFigure(const WorkerCurve& curve) {
  if (!curve.missing.empty() || curve.points.empty()) {
    return NoFigure(curve.missing.empty() ? "nothing was predicted." : English(curve.missing));
  }
  double most = curve.measured;
  for (const CurvePoint& point : curve.points) most = std::max(most, point.rate.high);
  const std::vector<double> steps = RoundSteps(most, 7);
  Drawing drawing(kPictureWidth, kBottom + 42, "Predicted throughput against workers");
  const Scale x = WorkerScale(curve);
  const Scale y{0, steps.back(), kBottom, kTop};
  std::vector<Tick> ticks;
  for (const double step : steps) ticks.push_back({step, fmt::format("{:.6g}", step)});
  drawing.Left(y, ticks, kCurvesLeft, kRight, fmt::format("throughput ({})", English(curve.unit)));
  drawing.Below(x, WorkerTicks(curve), kBottom, kTop, "number of workers");
  Points band;
  Points line;
  for (const CurvePoint& point : curve.points) {
    band.emplace_back(x.At(point.workers), y.At(point.rate.high));
    line.emplace_back(x.At(point.workers), y.At(point.rate.estimate));
  }
  for (auto point = curve.points.rbegin(); point != curve.points.rend(); ++point) {
    band.emplace_back(x.At(point->workers), y.At(point->rate.low));
  }
  drawing.Area(band, "band");
  drawing.Path(line, "curve");
  if (curve.measured > 0) {
    drawing.Line(kCurvesLeft, y.At(curve.measured), kRight, y.At(curve.measured), "limit");
  }
  for (const CurvePoint& point : curve.points) {
    const double px = x.At(point.workers);
    drawing.Line(px, y.At(point.rate.low), px, y.At(point.rate.high), "whisker");
    drawing.Dot(px, y.At(point.rate.estimate),
                point.suggested ? "dot good" : (point.recorded ? "dot now" : "dot"),
                fmt::format("{}{}: {} {} ({}..{})", CountedText(point.workers, "worker"),
                            Marks(point), ShortNumber(point.rate.estimate), English(curve.unit),
                            ShortNumber(point.rate.low), ShortNumber(point.rate.high)));
  }
  std::vector<std::pair<std::string_view, std::string_view>> legend = {
      {"key-curve", "predicted"},
      {"band", "90 % interval"},
      {"key-limit", "measured in this run"},
      {"now", "workers as recorded"}};
  const bool suggested = std::any_of(curve.points.begin(), curve.points.end(),
                                     [](const CurvePoint& point) { return point.suggested; });
  if (suggested) legend.emplace_back("good", "suggested");
  drawing.Legend(kCurvesLeft, 14, legend);
  std::string caption = fmt::format(
      "From a simulation of the loader on the recorded batches, at a "
      "prefetch depth of {}.",
      curve.prefetch);
  for (const Statement& note : curve.notes) caption += " Note: " + English(note) + ".";
  return Figure(std::move(drawing).Finish(), caption);
}

std::string MemoryFigure(const WorkerCurve& curve) {
  if (!curve.missing.empty() || curve.points.empty()) {
    return NoFigure(curve.missing.empty() ? "nothing was predicted." : English(curve.missing));
  }
  if (!curve.memory_missing.empty()) return NoFigure(curve.memory_missing);
  std::uint64_t most = 1;
  bool own = false;
  for (const CurvePoint& point : curve.points) {
    most = std::max(most, point.ram);
    own = own || point.ram > point.of_batches;
  }
  double unit = 1;
  for (double next = 1000; static_cast<double>(most) >= next; next *= 1000) unit = next;
  const std::string name = BytesText(static_cast<std::uint64_t>(unit)).substr(5);  // "1.00 MB"
  const std::vector<double> steps = RoundSteps(static_cast<double>(most) / unit, 6);
  Drawing drawing(kPictureWidth, kBottom + 42, "Memory against workers");
  const Scale x = WorkerScale(curve);
  const Scale y{0, steps.back() * unit, kBottom, kTop};
  std::vector<Tick> ticks;
  for (const double step : steps) ticks.push_back({step * unit, fmt::format("{:.4g}", step)});
  drawing.Left(y, ticks, kCurvesLeft, kRight, fmt::format("memory ({})", unit > 1 ? name : "B"));
  drawing.Below(x, WorkerTicks(curve), kBottom, kTop, "number of workers");
  const double width = std::min(36.0, 0.7 * (x.At(1) - x.At(0)));
  for (const CurvePoint& point : curve.points) {
    const double left = x.At(point.workers) - width / 2;
    const double middle = y.At(static_cast<double>(point.of_batches));
    const double top = y.At(static_cast<double>(point.ram));
    const std::uint64_t each =
        point.workers > 0 ? point.ram / static_cast<std::uint64_t>(point.workers) : point.ram;
    const std::string tip = fmt::format(
        "{}{}: {} in all, {} of it batches; {} per worker", CountedText(point.workers, "worker"),
        Marks(point), BytesText(point.ram), BytesText(point.of_batches), BytesText(each));
    drawing.Rect(left, middle, width, kBottom - middle, "batches", tip);
    drawing.Rect(left, top, width, middle - top, "processes", tip);
    if (width > 24) {
      const bool room = point.workers > 0 && curve.points.size() <= 10;
      drawing.Text(left + width / 2, top - 5, BytesText(each) + (room ? " each" : ""), "small mid");
    }
  }
  using Entry = std::pair<std::string_view, std::string_view>;
  drawing.Legend(kCurvesLeft, 14,
                 own ? std::vector<Entry>{{"batches", "batches in flight"},
                                          {"processes", "the workers' own memory"}}
                     : std::vector<Entry>{{"batches", "batches in flight"}});
  return Figure(std::move(drawing).Finish(),
                fmt::format("Predicted at a prefetch depth of {}. Above each bar: memory per "
                            "worker.{}",
                            curve.prefetch,
                            own ? " Pages that workers share with the training process are not in "
                                  "it."
                                : " What the workers themselves take was not recorded and is not "
                                  "in it."));
}

}  // namespace penstock::analyzer
