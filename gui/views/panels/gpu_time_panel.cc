// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/panels/ranks.h"
#include "gui/views/panels/gpu_panels.h"

namespace penstock::gui {
namespace {

using traces::StageId;

struct Part {
  std::string name;
  StageId colour;
  double seconds;
};

StageId ColourOf(IdleCause cause) {
  switch (cause) {
    case IdleCause::kLoader:
      return StageId::kWait;
    case IdleCause::kCopy:
      return StageId::kH2d;
    case IdleCause::kSync:
      return StageId::kSync;
    case IdleCause::kLaunch:
      return StageId::kStep;
    case IdleCause::kUnknown:
      break;
  }
  return StageId::kIdle;
}

std::string PartText(const Ui& ui, const Part& part, double window) {
  const std::string time =
      analyzer::InParentheses(analyzer::DurationText(part.seconds), ui.language);
  return ui.F(Text::kNamed, part.name, analyzer::PercentText(part.seconds / window) + time);
}

}  // namespace

void DrawGpuTime(const Ui& ui, const analyzer::Report& report, const GpuModel& gpu, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside =
      Headed(ui, Panel(ui, area), TitleOfRank(report, Text::kGpuWhereTime, ui.language));
  std::vector<Part> parts = {
      {ui.T(Text::kGpuCauseComputing), StageId::kKernel, gpu.activity.computing}};
  const std::array<double, kIdleCauses> idle = gpu.idle();
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    parts.push_back({ui.F(Text::kGpuIdleFor, ui.T(NameOf(cause))), ColourOf(cause), idle[i]});
  }
  const double window = std::max(gpu.activity.window, 1e-9);
  const float height = ui.Px(24);
  float x = inside.min.x;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const float width = static_cast<float>(part.seconds / window) * inside.width();
    if (width < 0.5F) continue;
    const ImVec2 max{x + std::max(width - ui.Px(1), 1.0F), inside.min.y + height};
    const Rgb colour = StageColour(part.colour, ui.theme);
    list->AddRectFilled({x, inside.min.y}, max, Ink(colour), ui.Px(3));
    const std::string share = analyzer::PercentText(part.seconds / window);
    if (TextWidth(ui.small, share) + ui.Px(8) < width) {
      DrawTextCentred(list, ui.small, {{x, inside.min.y}, max}, Ink(InkOn(colour)), share);
    }
    ImGui::SetCursorScreenPos({x, inside.min.y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton("##part", {std::max(width, 1.0F), height});
    ImGui::PopID();
    Tip(ui, PartText(ui, part, window));
    x += width;
  }
  // The legend wraps, so that every part is named, even one too thin to be seen.
  float left = inside.min.x;
  float y = inside.min.y + height + ui.Px(8);
  for (const Part& part : parts) {
    if (part.seconds <= 0) continue;
    const std::string text = PartText(ui, part, window);
    const float width = TextWidth(ui.small, text) + ui.Px(34);
    if (left + width > inside.max.x + ui.Px(18) && left > inside.min.x) {
      left = inside.min.x;
      y += FontPixels(ui.small) + ui.Px(4);
    }
    list->AddRectFilled({left, y + ui.Px(2)}, {left + ui.Px(10), y + ui.Px(12)},
                        ui.Stage(part.colour), ui.Px(2));
    DrawText(list, ui.small, {left + ui.Px(16), y}, Ink(p.text), text);
    left += width;
  }
}

}  // namespace penstock::gui
