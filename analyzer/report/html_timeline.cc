// SPDX-License-Identifier: Apache-2.0
//
// What happens over time, for the HTML report: timeline excerpt and queue depth.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

// Seconds since some start as ticks, in the unit that suits the length.
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

void DrawRow(Drawing& drawing, const TimelineRow& row, const Scale& x, double y) {
  constexpr double kFetch = 10;
  constexpr double kHeight = 30;
  // Where pixels run out, neighbours of one kind become one shape.
  struct Pen {
    double from = 0, to = -1;
    StageId stage = StageId::kNone;
  } pen;
  const auto flush = [&] {
    if (pen.to > pen.from)
      drawing.Rect(pen.from, y + kFetch + 1, pen.to - pen.from, kHeight - kFetch - 1,
                   CssOf(pen.stage));
    pen.to = -1;
  };
  drawing.Rect(x.from, y, x.to - x.from, kHeight, "lane");
  for (const TimelineSpan& span : row.spans) {
    const double from = x.At(span.from);
    const double to = x.At(span.to);
    const std::string tip =
        fmt::format("{}{}: {}", traces::StageName(span.stage),
                    span.batch == wire::kNoBatch ? "" : fmt::format(", batch {}", span.batch),
                    DurationText(span.to - span.from));
    const bool loop = span.stage == StageId::kWait || span.stage == StageId::kStep;
    if (loop || span.stage == StageId::kIdle) {
      flush();
      drawing.Rect(from, y, std::max(to - from, 0.3), kHeight, CssOf(span.stage), tip);
    } else if (span.stage == StageId::kFetch) {
      flush();
      drawing.Rect(from, y, std::max(to - from - 0.5, 0.3), kFetch, CssOf(span.stage), tip);
      if (to - from > 50) {
        drawing.Text(from + 4, y + 8.5, fmt::format("batch {}", span.batch), "small");
      }
    } else if (to - from >= 1.5) {
      flush();
      drawing.Rect(from, y + kFetch + 1, to - from, kHeight - kFetch - 1, CssOf(span.stage), tip);
    } else {
      if (pen.to < pen.from || pen.stage != span.stage || from > pen.to + 0.4) {
        flush();
        pen = {from, from, span.stage};
      }
      pen.to = std::max(pen.to, std::max(to, from + 0.3));
    }
    if (loop && to - from > 50) {
      drawing.Text(
          from + 4, y + 19,
          fmt::format("{} {}", traces::StageName(span.stage), DurationText(span.to - span.from)),
          "small");
    }
  }
  flush();
  drawing.Text(x.from - 8, y + 20, PlainText(row.label, 18), "end");
}

}  // namespace

std::string TimelineFigure(const TimelineExcerpt& excerpt) {
  if (!excerpt.missing.empty()) return NoFigure(English(excerpt.missing));
  constexpr double kPitch = 38;
  const double bottom = 34 + kPitch * static_cast<double>(excerpt.rows.size());
  Drawing drawing(kPictureWidth, bottom + 42, "What each worker and the training loop did");
  const Scale x{excerpt.from, excerpt.to, 140, 880};
  std::string_view unit;
  const std::vector<Tick> ticks = TimeTicks(excerpt.to - excerpt.from, excerpt.from, unit);
  drawing.Below(x, ticks, bottom, 30,
                fmt::format("time since {} of the recording ({})",
                            fmt::format("{:.3f} s", excerpt.from), unit));
  constexpr std::array kKinds = {
      StageId::kFetch,   StageId::kRead, StageId::kDecode, StageId::kAugment, StageId::kSample,
      StageId::kCollate, StageId::kPut,  StageId::kIdle,   StageId::kWait,    StageId::kStep};
  std::vector<std::string> css;
  css.reserve(kKinds.size());
  std::vector<std::pair<std::string_view, std::string_view>> legend;
  for (const StageId kind : kKinds) {
    const bool used =
        std::any_of(excerpt.rows.begin(), excerpt.rows.end(), [&](const TimelineRow& row) {
          return std::any_of(row.spans.begin(), row.spans.end(),
                             [&](const TimelineSpan& span) { return span.stage == kind; });
        });
    if (!used) continue;
    css.push_back(CssOf(kind));
    legend.emplace_back(css.back(), kind == StageId::kFetch    ? "fetch (batch)"
                                    : kind == StageId::kSample ? "rest of a sample"
                                                               : traces::StageName(kind));
  }
  drawing.Legend(140, 16, legend);
  double y = 34;
  for (const TimelineRow& row : excerpt.rows) {
    DrawRow(drawing, row, x, y);
    y += kPitch;
  }
  std::string caption = fmt::format(
      "{} batch{} from the middle of the run. Orange in the training loop is waiting for "
      "data; grey in a worker is waiting for something to do.",
      excerpt.batches, excerpt.batches == 1 ? "" : "es");
  if (excerpt.left_out > 0)
    caption += fmt::format(" {} more workers are not shown.", excerpt.left_out);
  if (excerpt.thinned)
    caption += " A row has more details than can be drawn: its last ones are left out.";
  return Figure(std::move(drawing).Finish(), caption);
}

std::string QueueFigure(const QueueDepth& queue) {
  if (!queue.missing.empty() || queue.bins.empty()) {
    return NoFigure(queue.missing.empty() ? "no batch was seen." : English(queue.missing));
  }
  double most = std::max(1, queue.most);
  for (const QueueBin& bin : queue.bins) most = std::max(most, bin.high);
  Drawing drawing(kPictureWidth, 262, "Finished batches waiting for the training loop");
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
  drawing.Left(y, rows, 70, 880, "finished batches waiting");
  std::string_view unit;
  const std::vector<Tick> ticks = TimeTicks(to - from, from, unit);
  drawing.Below(x, ticks, 220, 22, fmt::format("time since the first finished batch ({})", unit));
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
                 std::array<std::pair<std::string_view, std::string_view>, 3>{
                     {{"key-curve", "mean"},
                      {"band", "lowest to highest"},
                      {"key-limit", "most that can be in flight"}}});
  return Figure(
      std::move(drawing).Finish(),
      fmt::format("Each point covers {}. Empty most of the time: the workers are too slow. Full "
                  "most of the time: the loop is. At most {} batches are in flight.",
                  DurationText(queue.width), queue.most));
}

}  // namespace penstock::analyzer
