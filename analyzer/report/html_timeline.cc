// SPDX-License-Identifier: Apache-2.0
//
// Plots over time of the HTML report: timeline excerpt and queue depth.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"
#include "analyzer/words/names.h"
#include "analyzer/words/page_plots.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

// Ticks on an axis of `length` seconds that begins at `offset`, in a unit that suits the length.
std::vector<Tick> TimeTicks(double length, double offset, std::string_view& unit) {
  const double scale = length < 2e-3 ? 1e6 : (length < 2 ? 1e3 : 1);
  unit = scale > 1e5 ? "us" : (scale > 1 ? "ms" : "s");
  std::vector<Tick> ticks;
  for (const double step : RoundSteps(length * scale, 9)) {
    if (step > length * scale * 1.0001) break;
    ticks.push_back({offset + step / scale, fmt::format("{:.6g}", step)});
  }
  return ticks;
}

std::string CssOf(StageId stage) {
  return "s-" + std::string(traces::StageName(stage));
}

void DrawRow(Drawing& drawing, const TimelineRow& row, const Scale& x, double y,
             Language language) {
  constexpr double kHeight = 30;
  constexpr double kFetchHeight = 10;  // upper part of a row; the stages of a fetch lie below it
  constexpr double kInside = kFetchHeight + 1;
  // Joins neighbours of one kind into one shape if there are too few pixels for both.
  struct Pen {
    double from = 0, to = -1;
    StageId stage = StageId::kNone;
  } pen;
  const auto flush = [&] {
    if (pen.to > pen.from)
      drawing.Rect(pen.from, y + kInside, pen.to - pen.from, kHeight - kInside, CssOf(pen.stage));
    pen.to = -1;
  };
  drawing.Rect(x.from, y, x.to - x.from, kHeight, "lane");
  for (const TimelineSpan& span : row.spans) {
    const double from = x.At(span.from);
    const double to = x.At(span.to);
    const std::string tip =
        Render(Say<words::kSpanTip>(Give<"stage">(traces::StageName(span.stage)),
                                    GiveIf<"batch">(span.batch != wire::kNoBatch, span.batch),
                                    Give<"time">(span.to - span.from)),
               language);
    const bool loop = span.stage == StageId::kWait || span.stage == StageId::kStep;
    if (loop || span.stage == StageId::kIdle) {
      flush();
      drawing.Rect(from, y, std::max(to - from, 0.3), kHeight, CssOf(span.stage), tip);
    } else if (span.stage == StageId::kFetch) {
      flush();
      drawing.Rect(from, y, std::max(to - from - 0.5, 0.3), kFetchHeight, CssOf(span.stage), tip);
      if (to - from > 50 && span.batch != wire::kNoBatch) {
        drawing.Text(from + 4, y + 8.5,
                     Render(Say<words::kBatchNumber>(Give<"batch">(span.batch)), language),
                     "small");
      }
    } else if (to - from >= 1.5) {
      flush();
      drawing.Rect(from, y + kInside, to - from, kHeight - kInside, CssOf(span.stage), tip);
    } else {
      if (pen.to < pen.from || pen.stage != span.stage || from > pen.to + 0.4) {
        flush();
        pen = {from, from, span.stage};
      }
      pen.to = std::max(pen.to, std::max(to, from + 0.3));
    }
    if (loop && to - from > 50) {
      drawing.Text(from + 4, y + 19,
                   fmt::format("{} {}", NameIn(traces::StageName(span.stage), language),
                               DurationText(span.to - span.from)),
                   "small");
    }
  }
  flush();
  drawing.Text(x.from - 8, y + 20, PlainText(Render(row.label, language), 18), "end");
}

}  // namespace

Picture TimelineFigure(const TimelineExcerpt& excerpt, Language language) {
  if (!excerpt.missing.empty()) return NoFigure(excerpt.missing);
  constexpr double kPitch = 38;
  const double bottom = 34 + kPitch * static_cast<double>(excerpt.rows.size());
  Drawing drawing(kPictureWidth, bottom + 42, Word<words::kTimelinePlot>(language));
  const Scale x{excerpt.from, excerpt.to, 140, 880};
  std::string_view unit;
  const std::vector<Tick> ticks = TimeTicks(excerpt.to - excerpt.from, excerpt.from, unit);
  drawing.Below(
      x, ticks, bottom, 30,
      Render(Say<words::kTimelineAxis>(Give<"from">(excerpt.from), Give<"unit">(unit)), language));
  constexpr std::array kKinds = {StageId::kFetch,   StageId::kRead,     StageId::kDecode,
                                 StageId::kAugment, StageId::kTokenize, StageId::kSample,
                                 StageId::kCollate, StageId::kPut,      StageId::kIdle,
                                 StageId::kWait,    StageId::kStep};
  std::vector<std::string> css;
  css.reserve(kKinds.size());
  std::vector<LegendEntry> legend;
  for (const StageId kind : kKinds) {
    const bool used =
        std::any_of(excerpt.rows.begin(), excerpt.rows.end(), [&](const TimelineRow& row) {
          return std::any_of(row.spans.begin(), row.spans.end(),
                             [&](const TimelineSpan& span) { return span.stage == kind; });
        });
    if (!used) continue;
    css.push_back(CssOf(kind));
    legend.emplace_back(css.back(), kind == StageId::kFetch ? Word<words::kFetchLegend>(language)
                                    : kind == StageId::kSample
                                        ? Word<words::kSampleLegend>(language)
                                        : std::string(NameIn(traces::StageName(kind), language)));
  }
  drawing.Legend(8, 16, legend);  // eleven kinds need the whole width
  double y = 34;
  for (const TimelineRow& row : excerpt.rows) {
    DrawRow(drawing, row, x, y, language);
    y += kPitch;
  }
  const Statement caption = Say<words::kTimelineCaption>(
      Give<"one">(excerpt.batches == 1), Give<"batches">(excerpt.batches),
      GiveIf<"left_out">(excerpt.left_out > 0, excerpt.left_out), Give<"thinned">(excerpt.thinned));
  return {Figure(std::move(drawing).Finish(), Render(caption, language)), {}};
}

Picture QueueFigure(const QueueDepth& queue, Language language) {
  if (!queue.missing.empty() || queue.bins.empty()) {
    return NoFigure(queue.missing.empty() ? Say<words::kNoBatchSeen>() : queue.missing);
  }
  double most = std::max(1, queue.most);
  for (const QueueBin& bin : queue.bins) most = std::max(most, bin.high);
  Drawing drawing(kPictureWidth, 262, Word<words::kQueuePlot>(language));
  const std::vector<double> steps = RoundSteps(most, 6);
  std::vector<Tick> rows;
  for (const double step : steps) {
    if (step == static_cast<double>(static_cast<int>(step))) {
      rows.push_back({step, fmt::format("{:.0f}", step)});
    }
  }
  const Scale y{0, steps.back(), 220, 22};
  const double from = queue.bins.front().at - queue.width / 2;
  const double to = queue.bins.back().at + queue.width / 2;
  const Scale x{from, to, 70, 880};
  drawing.Left(y, rows, 70, 880, Word<words::kQueueAxis>(language));
  std::string_view unit;
  const std::vector<Tick> ticks = TimeTicks(to - from, from, unit);
  drawing.Below(x, ticks, 220, 22, Render(Say<words::kQueueTime>(Give<"unit">(unit)), language));
  Points band;
  Points mean;
  for (const QueueBin& bin : queue.bins) {
    band.emplace_back(x.At(bin.at - queue.width / 2), y.At(bin.high));
    band.emplace_back(x.At(bin.at + queue.width / 2), y.At(bin.high));
    mean.emplace_back(x.At(bin.at), y.At(bin.mean));
  }
  for (auto bin = queue.bins.rbegin(); bin != queue.bins.rend(); ++bin) {
    band.emplace_back(x.At(bin->at + queue.width / 2), y.At(bin->low));
    band.emplace_back(x.At(bin->at - queue.width / 2), y.At(bin->low));
  }
  drawing.Area(band, "band");
  drawing.Path(mean, "curve");
  if (queue.most > 0) drawing.Line(70, y.At(queue.most), 880, y.At(queue.most), "limit");
  drawing.Legend(70, 14,
                 std::array{LegendEntry{"key-curve", Word<words::kMean>(language)},
                            LegendEntry{"band", Word<words::kLowestToHighest>(language)},
                            LegendEntry{"key-limit", Word<words::kMostInFlight>(language)}});
  const Statement caption =
      Say<words::kQueueCaption>(Give<"width">(queue.width), Give<"most">(queue.most));
  return {Figure(std::move(drawing).Finish(), Render(caption, language)), {}};
}

}  // namespace penstock::analyzer
