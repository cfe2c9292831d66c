// SPDX-License-Identifier: Apache-2.0
//
// The what-if view: the choices on the left (whatif_choices.cc), and on the right their predicted
// effect, which is computed anew after each change.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"
#include "gui/model/forecast.h"
#include "gui/model/overview.h"
#include "gui/model/panels/ranks.h"
#include "gui/model/staircase.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/whatif_parts.h"
#include "gui/widgets/plot.h"

namespace penstock::gui {
namespace {

using analyzer::Configuration;
using analyzer::ShortNumber;

// A text of the analyzer in the window's language, written as a sentence.
std::string Sentence(const Ui& ui, const analyzer::Statement& statement) {
  return Typeset(Render(statement, ui.language));
}

// Draws what was measured as a bar with ends.
void DrawMeasured(const Ui& ui, const PlotFrame& frame, const CurvePoint& point) {
  if (!(point.high > point.low)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = Ink(ui.palette().text);
  const float x = frame.X(point.workers);
  const float end = ui.Px(5);
  list->AddLine({x, frame.Y(point.low)}, {x, frame.Y(point.high)}, ink, ui.Px(1.6F));
  for (const double rate : {point.low, point.high}) {
    list->AddLine({x - end, frame.Y(rate)}, {x + end, frame.Y(rate)}, ink, ui.Px(1.6F));
  }
}

// The text of the recorded setting stands below the band, that of the chosen setting above it, with
// a line to the point.
void Dot(const Ui& ui, const PlotFrame& frame, const PlotBand& band, const CurvePoint& point,
         Rgb colour) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at{frame.X(point.workers), frame.Y(point.rate)};
  const float width = TextWidth(ui.small, point.text);
  const float height = FontPixels(ui.small);
  const float x = Limited(point.recorded ? at.x - ui.Px(6) : at.x - width / 2, frame.area.min.x,
                          frame.area.max.x - width);
  auto [low, high] =
      ReachOf(band, frame.ValueAt(x - ui.Px(3)), frame.ValueAt(x + width + ui.Px(3)));
  if (point.high > point.low) {
    low = std::min(low, point.low);
    high = std::max(high, point.high);
  }
  const float under = std::max(at.y + ui.Px(9), frame.Y(low) + ui.Px(4));
  const float over = std::min(at.y - ui.Px(9), frame.Y(high) - ui.Px(4)) - height;
  const bool below = point.recorded && under + height <= frame.area.max.y;
  const float top = Limited(below ? under : over, frame.area.min.y, frame.area.max.y - height);
  list->AddLine(at, {at.x, below ? top : top + height}, Ink(colour), ui.Px(1));
  DrawMeasured(ui, frame, point);
  list->AddCircleFilled(at, ui.Px(6), Ink(point.recorded ? ui.palette().panel : colour));
  list->AddCircle(at, ui.Px(6), Ink(colour), 0, ui.Px(2.2F));
  // A background hides the lines of the grid, which would make the text hard to read.
  list->AddRectFilled({x - ui.Px(3), top}, {x + width + ui.Px(3), top + height},
                      Ink(ui.palette().panel, 0.9), ui.Px(3));
  DrawText(list, ui.small, {x, top}, Ink(colour), point.text);
}

void DrawCurve(const Ui& ui, const WhatIfAnswer& answer, const WhatIf& recorded, Area area) {
  const Palette& p = ui.palette();
  PlotLine line{ui.T(Text::kPredictedBand), p.accent, {}, false};
  PlotBand band{p.accent, {}, {}, {}};
  double high = std::max(answer.measured, answer.measured_within.high);
  for (const Configuration& one : answer.curve) {
    line.points.push_back({static_cast<double>(one.workers), one.predicted.rate.estimate});
    band.x.push_back(one.workers);
    band.low.push_back(one.predicted.rate.low);
    band.high.push_back(one.predicted.rate.high);
    high = std::max(high, one.predicted.rate.high);
  }
  PlotAxes axes;
  axes.x_low = answer.curve.front().workers;
  axes.x_high = std::max(answer.curve.back().workers, answer.curve.front().workers + 1);
  axes.y_high = high * 1.2;  // room for the text above the chosen setting
  axes.whole_x = true;
  axes.x_title = "num_workers";
  axes.x_text = [](double x) { return fmt::format("{:.0f}", x); };
  axes.y_text = AxisText;
  const PlotFrame frame = BeginPlot(ui, area, axes, {line});
  DrawBand(frame, band);
  DrawLine(ui, frame, line);
  for (const CurvePoint& point : PointsOf(answer, recorded.workers, ui.language)) {
    Dot(ui, frame, band, point, point.recorded ? p.dim : ColourOf(p, answer.effect));
  }
}

void DrawFigures(const Ui& ui, const analyzer::Report& report, const WhatIfAnswer& answer,
                 Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const analyzer::Prediction& predicted = answer.chosen.predicted;
  const analyzer::Interval& rate = answer.recorded ? *answer.recorded : predicted.rate;
  // The first column needs most room.
  constexpr std::array kColumns = {0.0F, 0.42F, 0.7F, 1.0F};
  const auto figure = [&](std::size_t place, const std::string& name, const std::string& value,
                          const std::string& line, Rgb colour) {
    const float x = area.min.x + kColumns[place] * area.width();
    const float column = (kColumns[place + 1] - kColumns[place]) * area.width();
    DrawText(list, ui.small, {x, area.min.y}, Ink(p.dim), name);
    DrawText(list, ui.big, {x, area.min.y + FontPixels(ui.small) + ui.Px(2)}, Ink(colour), value);
    DrawShortened(ui, ui.small,
                  {x, area.min.y + FontPixels(ui.small) + FontPixels(ui.big) + ui.Px(6)},
                  Ink(p.dim), line, column - ui.Px(8));
  };
  const std::string times = GainText(predicted.speedup);
  const std::string gain = answer.whole_run ? ui.F(Text::kRateOfWholeRun, times) : times;
  const std::string interval = IntervalText(rate, ui.language);
  const Text title = answer.recorded ? Text::kMeasured : Text::kPredicted;
  figure(0,
         fmt::format("{}{}{}", TitleOfRank(report, title, ui.language), ui.T(Text::kComma),
                     Render(answer.unit, ui.language)),
         ShortNumber(rate.estimate),
         interval.empty() ? gain : fmt::format("{}  ·  {}", gain, interval),
         ColourOf(p, answer.effect));
  // The plan says which other factor limits the run as it is alike.
  const bool as_planned = answer.recorded && report.plan.limited_by == answer.chosen.bottleneck;
  const analyzer::Factor also = as_planned ? report.plan.also_limits : analyzer::Factor::kNone;
  figure(1, ui.T(Text::kBottleneckTitle), LimitsText(answer.chosen.bottleneck, also, ui.language),
         "", p.text);
  const WhatIfMemory memory = ShownMemory(answer, ui.language);
  figure(2, ui.T(memory.name), memory.value, memory.line, answer.chosen.fits ? p.text : p.bad);
}

void DrawAnswer(const Ui& ui, Workspace& workspace, const WhatIfAnswer& answer, Area area) {
  const Palette& p = ui.palette();
  const analyzer::Report& report = workspace.Shown().analysis->report;
  const WhatIf recorded = Recorded(report.diagnosis);
  const float figures = FontPixels(ui.small) * 2 + FontPixels(ui.big) + ui.Px(16);
  DrawFigures(ui, report, answer, {area.min, {area.max.x, area.min.y + figures}});
  std::vector<std::string> lines;
  for (const analyzer::Statement& note : answer.notes) {
    for (std::string& line : WrapText(ui.small, "· " + Sentence(ui, note), area.width())) {
      lines.push_back(std::move(line));
    }
  }
  const float pitch = FontPixels(ui.small) + ui.Px(3);
  const float notes = lines.empty() ? 0 : pitch * static_cast<float>(lines.size()) + ui.Px(4);
  const float code =
      answer.code.empty() ? 0 : CodeBoxHeight(ui, answer.code, area.width()) + ui.Px(10);
  const float bottom = area.max.y - notes - code;
  DrawText(ImGui::GetWindowDrawList(), ui.strong, {area.min.x, area.min.y + figures + ui.Px(6)},
           Ink(p.text),
           fmt::format("{}{}{}", ui.T(Text::kRateOverWorkers), ui.T(Text::kComma),
                       Render(answer.unit, ui.language)));
  DrawCurve(ui, answer, recorded,
            {{area.min.x, area.min.y + figures + ui.Px(6) + FontPixels(ui.strong) + ui.Px(8)},
             {area.max.x, bottom - ui.Px(10)}});
  float y = bottom;
  if (!answer.code.empty()) {
    ImGui::SetCursorScreenPos({area.min.x, y});
    CodeBox(ui, workspace, answer.code, area.width());
    y += code;
  }
  for (const std::string& line : lines) {
    DrawText(ImGui::GetWindowDrawList(), ui.small, {area.min.x, y}, Ink(p.dim), line);
    y += pitch;
  }
}

}  // namespace

void DrawWhatIf(const Ui& ui, Workspace& workspace, Area area) {
  const analyzer::Diagnosis& diagnosis = workspace.Shown().analysis->report.diagnosis;
  const analyzer::Statement missing = analyzer::NotEnough(diagnosis);
  if (!missing.empty()) return DrawNothingPredicted(ui, workspace, Sentence(ui, missing), area);
  WhatIfState& state = workspace.whatif;
  const WhatIf recorded = Recorded(diagnosis);
  if (state.of != workspace.Shown().analysis) {
    // If the choices were those of the recording before it grew, they become those of the new
    // recording.
    const bool as_recorded = !state.of || state.chosen == Recorded(state.of->report.diagnosis);
    if (as_recorded) state.chosen = recorded;
    state.of = workspace.Shown().analysis;
    state.limits = LimitsOf(diagnosis);
    state.answer.reset();
  }
  const float gap = ui.Px(10);
  const float left = std::min(ui.Px(350), area.width() * 0.38F);
  DrawWhatIfChoices(ui, workspace, Panel(ui, {area.min, {area.min.x + left, area.max.y}}));
  if (!state.answer || state.asked != state.chosen) {
    state.asked = state.chosen;
    state.answer = Ask(diagnosis, state.chosen);
  }
  const Area right = Panel(ui, {{area.min.x + left + gap, area.min.y}, area.max});
  if (*state.answer) {
    DrawAnswer(ui, workspace, **state.answer, right);
  } else {
    DrawEmpty(ui, right, ui.T(Text::kCannotPredictThis), Sentence(ui, state.answer->error().why));
  }
}

}  // namespace penstock::gui
