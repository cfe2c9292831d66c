// SPDX-License-Identifier: Apache-2.0
//
// Rate and memory with other numbers of workers, for the HTML report.
#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"
#include "analyzer/words/page_plots.h"

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

Statement WhyNone(const WorkerCurve& curve) {
  return curve.missing.empty() ? Say<words::kNothingPredicted>() : curve.missing;
}

}  // namespace

Picture RateFigure(const WorkerCurve& curve, Language language) {
  if (!curve.missing.empty() || curve.points.empty()) return NoFigure(WhyNone(curve));
  double most = curve.measured;
  for (const CurvePoint& point : curve.points) most = std::max(most, point.rate.high);
  const std::vector<double> steps = RoundSteps(most, 7);
  Drawing drawing(kPictureWidth, kBottom + 42, Word<words::kRatePlot>(language));
  const Scale x = WorkerScale(curve);
  const Scale y{0, steps.back(), kBottom, kTop};
  std::vector<Tick> ticks;
  for (const double step : steps) ticks.push_back({step, fmt::format("{:.6g}", step)});
  drawing.Left(y, ticks, kCurvesLeft, kRight,
               Render(Say<words::kRateAxis>(Give<"unit">(curve.unit)), language));
  drawing.Below(x, WorkerTicks(curve), kBottom, kTop, Word<words::kWorkersAxis>(language));
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
    const Statement tip =
        Say<words::kRateTip>(Give<"workers">(point.workers), Give<"recorded">(point.recorded),
                             Give<"suggested">(point.suggested), Give<"fits">(point.fits),
                             Give<"rate">(point.rate.estimate), Give<"unit">(curve.unit),
                             Give<"low">(point.rate.low), Give<"high">(point.rate.high));
    drawing.Dot(px, y.At(point.rate.estimate),
                point.suggested ? "dot good" : (point.recorded ? "dot now" : "dot"),
                Render(tip, language));
  }
  std::vector<LegendEntry> legend = {{"key-curve", Word<words::kPredictedLegend>(language)},
                                     {"band", Word<words::kIntervalLegend>(language)},
                                     {"key-limit", Word<words::kMeasuredLegend>(language)},
                                     {"now", Word<words::kRecordedLegend>(language)}};
  const bool suggested = std::any_of(curve.points.begin(), curve.points.end(),
                                     [](const CurvePoint& point) { return point.suggested; });
  if (suggested) legend.emplace_back("good", Word<words::kSuggestedLegend>(language));
  drawing.Legend(kCurvesLeft, 14, legend);
  std::string caption =
      Render(Say<words::kRateCaption>(Give<"prefetch">(curve.prefetch)), language);
  for (const Statement& note : curve.notes) {
    caption += Render(Say<words::kRateNote>(Give<"note">(note)), language);
  }
  return {Figure(std::move(drawing).Finish(), caption), {}};
}

Picture MemoryFigure(const WorkerCurve& curve, Language language) {
  if (!curve.missing.empty() || curve.points.empty()) return NoFigure(WhyNone(curve));
  if (!curve.memory_missing.empty()) return NoFigure(curve.memory_missing);
  std::uint64_t most = 1;
  bool own = false;
  for (const CurvePoint& point : curve.points) {
    most = std::max(most, point.ram);
    own = own || point.ram > point.of_batches;
  }
  double unit = 1;
  for (double next = 1000; static_cast<double>(most) >= next; next *= 1000) unit = next;
  // The unit's name is what follows the number, as in "1.00 MB".
  const std::string name = unit > 1 ? BytesText(unit).substr(5) : "B";
  const std::vector<double> steps = RoundSteps(static_cast<double>(most) / unit, 6);
  Drawing drawing(kPictureWidth, kBottom + 42, Word<words::kMemoryPlot>(language));
  const Scale x = WorkerScale(curve);
  const Scale y{0, steps.back() * unit, kBottom, kTop};
  std::vector<Tick> ticks;
  for (const double step : steps) ticks.push_back({step * unit, fmt::format("{:.4g}", step)});
  drawing.Left(y, ticks, kCurvesLeft, kRight,
               Render(Say<words::kMemoryAxis>(Give<"unit">(name)), language));
  drawing.Below(x, WorkerTicks(curve), kBottom, kTop, Word<words::kWorkersAxis>(language));
  // x.At(1) - x.At(0) would be wrong: At() moves values into the scale, which may begin above 0.
  const double width = std::min(36.0, 0.7 * (x.to - x.from) / (x.high - x.low));
  for (const CurvePoint& point : curve.points) {
    const double left = x.At(point.workers) - width / 2;
    const double middle = y.At(static_cast<double>(point.of_batches));
    const double top = y.At(static_cast<double>(point.ram));
    const std::uint64_t each =
        point.workers > 0 ? point.ram / static_cast<std::uint64_t>(point.workers) : point.ram;
    const std::string tip =
        Render(Say<words::kMemoryTip>(
                   Give<"workers">(point.workers), Give<"recorded">(point.recorded),
                   Give<"suggested">(point.suggested), Give<"fits">(point.fits),
                   Give<"all">(point.ram), Give<"batches">(point.of_batches), Give<"each">(each)),
               language);
    drawing.Rect(left, middle, width, kBottom - middle, "batches", tip);
    drawing.Rect(left, top, width, middle - top, "processes", tip);
    if (width > 24) {
      const bool room = point.workers > 0 && curve.points.size() <= 10;
      drawing.Text(left + width / 2, top - 5,
                   Render(Say<words::kEach>(Give<"bytes">(each), Give<"each">(room)), language),
                   "small mid");
    }
  }
  std::vector<LegendEntry> legend = {{"batches", Word<words::kBatchesLegend>(language)}};
  if (own) legend.emplace_back("processes", Word<words::kProcessesLegend>(language));
  drawing.Legend(kCurvesLeft, 14, legend);
  const Statement caption =
      Say<words::kMemoryCaption>(Give<"prefetch">(curve.prefetch), Give<"own">(own));
  return {Figure(std::move(drawing).Finish(), Render(caption, language)), {}};
}

}  // namespace penstock::analyzer
