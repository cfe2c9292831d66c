// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panels/stage_panels.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::PercentText;

constexpr float kMarks = 3;  // rows of names above the plot

float MarkPitch(const Ui& ui) {
  return FontPixels(ui.small) + ui.Px(2);
}

// The places of the bars.
struct Frame {
  Area plot;
  float width;  // of a bar
  double most;
};

void DrawBars(const Ui& ui, Workspace& workspace, const StageLine& line, const Frame& frame) {
  const StageHistogram& histogram = line.histogram;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area& plot = frame.plot;
  std::optional<StageBin>& chosen = workspace.stages.bin;
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    if (histogram.bins[i] <= 0) continue;
    const float x = plot.min.x + frame.width * static_cast<float>(i);
    const float height =
        std::max(ui.Px(1.5F), static_cast<float>(histogram.bins[i] / frame.most) * plot.height());
    const StageBin number{histogram.per_decade, histogram.first + i};
    const bool dimmed = chosen && *chosen != number;
    list->AddRectFilled({x + ui.Px(0.5F), plot.max.y - height},
                        {x + frame.width - ui.Px(0.5F), plot.max.y},
                        ui.Stage(line.id.stage, dimmed ? 0.4 : 1), ui.Px(2));
    ImGui::SetCursorScreenPos({x, plot.min.y});
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("##bin",
                               {std::max(frame.width, 1.0F), std::max(plot.height(), 1.0F)})) {
      chosen = chosen == number ? std::nullopt : std::optional(number);
    }
    ImGui::PopID();
    if (ImGui::IsItemHovered()) {
      list->AddRectFilled({x, plot.min.y}, {x + frame.width, plot.max.y},
                          Ink(ui.palette().text, 0.07));
    }
    Tip(ui, ui.F(Text::kStageBinTip, DurationText(histogram.EdgeOf(i)),
                 DurationText(histogram.EdgeOf(i + 1)), PercentText(histogram.bins[i])));
  }
}

void DrawFoot(const Ui& ui, const StageHistogram& histogram, const Frame& frame) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area& plot = frame.plot;
  float last = -1e9F;
  for (const double value :
       LogValues(histogram.EdgeOf(0), histogram.EdgeOf(histogram.bins.size()))) {
    const float x = plot.min.x + frame.width * static_cast<float>(histogram.PlaceOf(value));
    const std::string text = DurationText(value);
    list->AddLine({x, plot.max.y}, {x, plot.max.y + ui.Px(4)}, Ink(p.dim));
    const float left = Limited(x - TextWidth(ui.small, text) / 2, plot.min.x,
                               plot.max.x - TextWidth(ui.small, text));
    if (left < last + ui.Px(8)) continue;
    DrawText(list, ui.small, {left, plot.max.y + ui.Px(5)}, Ink(p.dim), text);
    last = left + TextWidth(ui.small, text);
  }
  list->AddLine({plot.min.x, plot.max.y}, plot.max, Ink(p.dim));
}

// Draws a line with a name for each percentile. Each name has its own row; p50 has the highest. A
// line ends at the row of its name, so that it does not cross the names to its left. A name stands
// at the right of its line. If there is no room, it stands at the left, on a background that hides
// the lines behind it. Returns the area of the first name.
Area DrawMarks(const Ui& ui, const StageLine& line, const Frame& frame, float top) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::array marks = {std::pair("p50", line.p50), std::pair("p90", line.p90),
                            std::pair("p99", line.p99)};
  const auto x_of = [&](double seconds) {
    return frame.plot.min.x + static_cast<float>(line.histogram.PlaceOf(seconds)) * frame.width;
  };
  const float pitch = MarkPitch(ui);
  float y = top;
  for (const auto& [name, seconds] : marks) {
    list->AddLine({x_of(seconds), y}, {x_of(seconds), frame.plot.max.y}, Ink(p.text, 0.7),
                  ui.Px(1));
    y += pitch;
  }
  Area first{};
  y = top;
  for (const auto& [name, seconds] : marks) {
    const std::string text = fmt::format("{} {}", name, DurationText(seconds));
    const float width = TextWidth(ui.small, text);
    const float beside = ui.Px(4);
    float left = x_of(seconds) + beside;
    if (left + width > frame.plot.max.x) {
      left = x_of(seconds) - beside - width;
      list->AddRectFilled({left - ui.Px(2), y}, {left + width + ui.Px(2), y + pitch}, Ink(p.panel));
    }
    DrawText(list, ui.small, {left, y}, Ink(p.text), text);
    if (y == top) first = {{left, y}, {left + width, y + pitch}};
    y += pitch;
  }
  return first;
}

}  // namespace

void DrawHistogram(const Ui& ui, Workspace& workspace, const StageLine& line, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (line.histogram.bins.empty()) return;
  const float foot = FontPixels(ui.small) + ui.Px(8);
  Frame frame;
  frame.plot = {{area.min.x + ui.Px(44), area.min.y + kMarks * MarkPitch(ui) + ui.Px(4)},
                {area.max.x, area.max.y - foot}};
  frame.most = std::max(line.histogram.most(), 1e-9);
  frame.width = frame.plot.width() / static_cast<float>(line.histogram.bins.size());
  for (const double share : RoundValues(0, frame.most, 4)) {
    const float y = frame.plot.max.y - static_cast<float>(share / frame.most) * frame.plot.height();
    list->AddLine({frame.plot.min.x, y}, {frame.plot.max.x, y}, Ink(p.line, 0.7));
    DrawTextRight(list, ui.small, frame.plot.min.x - ui.Px(6), y - FontPixels(ui.small) / 2,
                  Ink(p.dim), PercentText(share));
  }
  DrawBars(ui, workspace, line, frame);
  DrawFoot(ui, line.histogram, frame);
  // If the row mixes several kinds of calls, its percentiles say nothing about any one kind.
  const Area first =
      line.mixed ? Area{{area.max.x, 0}, {area.max.x, 0}} : DrawMarks(ui, line, frame, area.min.y);
  // The title of the axis stands beside the first name, on the side that has room.
  const float width = TextWidth(ui.small, ui.T(Text::kShareOfCalls));
  const bool left = area.min.x + width + ui.Px(10) <= first.min.x;
  DrawText(list, ui.small, {left ? area.min.x : area.max.x - width, area.min.y}, Ink(p.dim),
           ui.T(Text::kShareOfCalls));
}

}  // namespace penstock::gui
