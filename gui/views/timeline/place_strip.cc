// SPDX-License-Identifier: Apache-2.0
#include "gui/views/timeline/range_chip.h"

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {

float DrawRangeChip(const Ui& ui, Workspace& workspace, Area area) {
  const Palette& p = ui.palette();
  const TimeRange range = *workspace.Range();
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  const std::int64_t resolution = range.length() / 100 + 1;
  const std::string text =
      ui.F(Text::kOnlyRange, TimeText(range.from, resolution), TimeText(range.to, resolution),
           analyzer::DurationText(seconds(range.length())),
           analyzer::DurationText(seconds(workspace.document.timeline->length)));
  const float height = ui.Px(26);
  const float cross = ui.Px(22);
  const float width = TextWidth(ui.strong, text) + ui.Px(16) + cross;
  const Area chip{area.min, {area.min.x + width, area.min.y + height}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(chip.min);
  bool clear = ImGui::InvisibleButton("##range", {width, height});
  const bool hovered = ImGui::IsItemHovered();
  list->AddRectFilled(chip.min, chip.max, Ink(p.accent, hovered ? 0.32 : 0.2), height / 2);
  list->AddRect(chip.min, chip.max, Ink(p.accent), height / 2, 0, ui.Px(1));
  DrawText(list, ui.strong,
           {chip.min.x + ui.Px(12), chip.min.y + (height - FontPixels(ui.strong)) / 2}, Ink(p.text),
           text);
  const ImVec2 middle{chip.max.x - cross / 2 - ui.Px(3), (chip.min.y + chip.max.y) / 2};
  const float r = ui.Px(3.5F);
  for (const float way : {-1.0F, 1.0F}) {
    list->AddLine({middle.x - r, middle.y - way * r}, {middle.x + r, middle.y + way * r},
                  Ink(p.text), ui.Px(1.5F));
  }
  Tip(ui, ui.T(Text::kRangeTip));
  ImGui::SetCursorScreenPos(
      {chip.max.x + ui.Px(8), chip.min.y + (height - ImGui::GetFrameHeight()) / 2});
  if (ImGui::Button(ui.T(Text::kShowInTimeline))) {
    workspace.view = ViewId::kTimeline;
    workspace.timeline.view.ShowWithMargin(range);
  }
  const bool popup = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  clear = clear || (!Typing() && !popup && !workspace.covered && Pressed(Key::kEscape));
  if (clear) {
    workspace.timeline.selection.reset();
    workspace.part = nullptr;
  }
  return height + ui.Px(8);
}

}  // namespace penstock::gui
