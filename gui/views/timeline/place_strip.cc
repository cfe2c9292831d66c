// SPDX-License-Identifier: Apache-2.0
#include "gui/views/timeline/place_strip.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/timeline/timeline_canvas.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

std::string ChipLength(std::int64_t ns) {
  return analyzer::DurationText(static_cast<double>(ns) * 1e-9);
}

std::string ChipOfRange(const Ui& ui, const Workspace& workspace, TimeRange range) {
  const std::int64_t resolution = range.length() / 100 + 1;
  return ui.F(Text::kOnlyRange, TimeText(range.from, resolution), TimeText(range.to, resolution),
              ChipLength(range.length()), ChipLength(workspace.document.timeline->length));
}

// "decode  PIL.open · batch 12 of epoch 3 · worker 2 · 12.3 ms"
std::string ChipOfSpan(const Ui& ui, const Workspace& workspace, SpanRef span) {
  const Timeline& timeline = *workspace.document.timeline;
  const SpanDetail& detail = timeline.detail(span);
  std::string text = SpanTitle(ui, workspace, span);
  const auto add = [&text](const std::string& part) { text += "  ·  " + part; };
  if (detail.key().valid()) {
    add(std::string(ui.T(Text::kSpanBatch)) + " " + workspace.BatchNameOf(detail, ui.language));
  }
  if (detail.sample != SpanDetail::kNoSample) add(ui.F(Text::kSamplesOf, detail.sample));
  const Group* group = timeline.GroupOf(span.lane);
  if (group != nullptr && group->kind == GroupKind::kWorker) {
    add(GroupLabel(ui, workspace, *group));
  }
  add(ChipLength(timeline.end(span) - timeline.start(span)));
  return text;
}

// Draws a chip with a cross, cut to `room` pixels. Returns its right edge; `pressed`: whether it
// was clicked.
float DrawPlaceChip(const Ui& ui, const char* id, ImVec2 at, const std::string& text, Text tip,
                    float room, bool* pressed) {
  const Palette& p = ui.palette();
  const float height = ui.Px(26);
  const float cross = ui.Px(22);
  const std::string shown = Elided(ui.strong, text, room - ui.Px(16) - cross);
  const float width = TextWidth(ui.strong, shown) + ui.Px(16) + cross;
  const Area chip{at, {at.x + width, at.y + height}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(chip.min);
  *pressed = ImGui::InvisibleButton(id, {width, height});
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  list->AddRectFilled(chip.min, chip.max, Ink(p.accent, hovered ? 0.32 : 0.2), height / 2);
  list->AddRect(chip.min, chip.max, Ink(p.accent), height / 2, 0, ui.Px(1));
  DrawText(list, ui.strong,
           {chip.min.x + ui.Px(12), chip.min.y + (height - FontPixels(ui.strong)) / 2}, Ink(p.text),
           shown);
  const ImVec2 middle{chip.max.x - cross / 2 - ui.Px(3), (chip.min.y + chip.max.y) / 2};
  const float r = ui.Px(3.5F);
  for (const float way : {-1.0F, 1.0F}) {
    list->AddLine({middle.x - r, middle.y - way * r}, {middle.x + r, middle.y + way * r},
                  Ink(p.text), ui.Px(1.5F));
  }
  const std::string whole = shown == text ? "" : text + "\n";
  Tip(ui, whole + ui.T(tip));
  return chip.max.x;
}

// Draws the choice of a loader. Returns its right edge.
float DrawLoaders(const Ui& ui, Workspace& workspace, const std::vector<std::string>& names,
                  ImVec2 at) {
  const Palette& p = ui.palette();
  const char* title = ui.T(Text::kSettingKind);
  DrawText(ImGui::GetWindowDrawList(), ui.body,
           {at.x, at.y + (ui.Px(26) - FontPixels(ui.body)) / 2}, Ink(p.dim), title);
  const float left = at.x + TextWidth(ui.body, title) + ui.Px(8);
  const std::string& shown = workspace.loader.empty() ? names.front() : workspace.loader;
  float width = 0;
  for (const std::string& name : names) width = std::max(width, TextWidth(ui.body, name));
  width =
      std::min(width, ui.Px(320)) + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetCursorScreenPos({left, at.y + (ui.Px(26) - ImGui::GetFrameHeight()) / 2});
  ImGui::SetNextItemWidth(width);
  if (ImGui::BeginCombo("##loader", shown.c_str())) {
    for (const std::string& name : names) {
      const bool chosen = name == shown;
      if (ImGui::Selectable(name.c_str(), chosen)) workspace.ChooseLoader(name);
      if (chosen) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndCombo();
  } else {
    Tip(ui, ui.T(Text::kLoaderTip));
  }
  return left + width;
}

// Says that the view adds up all loaders. Returns the right edge of the text.
float DrawAllLoaders(const Ui& ui, ImVec2 at) {
  const char* text = ui.T(Text::kAllLoaders);
  const float width = TextWidth(ui.body, text);
  DrawText(ImGui::GetWindowDrawList(), ui.body,
           {at.x, at.y + (ui.Px(26) - FontPixels(ui.body)) / 2}, Ink(ui.palette().dim), text);
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("##allloaders", {width, ui.Px(26)});
  Tip(ui, ui.T(Text::kAllLoadersTip));
  return at.x + width;
}

}  // namespace

float DrawPlaceStrip(const Ui& ui, Workspace& workspace, Area area) {
  const auto range = ObeysRange(workspace.view) ? workspace.Range() : std::nullopt;
  const auto span = ShowsChosen(workspace.view) ? workspace.ChosenSpan() : std::nullopt;
  const bool one_loader = ObeysLoader(workspace.view);
  const std::vector<std::string> loaders =
      one_loader || ObeysRange(workspace.view) ? workspace.Loaders() : std::vector<std::string>();
  if (!range && !span && loaders.empty()) return 0;
  TimelineState& state = workspace.timeline;
  const float gap = ui.Px(8);
  const float link = ImGui::CalcTextSize(ui.T(Text::kShowInTimeline)).x +
                     2 * ImGui::GetStyle().FramePadding.x + gap;
  const float end = area.max.x - link;
  float x = area.min.x;
  if (!loaders.empty()) {
    x = (one_loader ? DrawLoaders(ui, workspace, loaders, area.min)
                    : DrawAllLoaders(ui, area.min)) +
        ui.Px(16);
  }
  if (!range && !span) return ui.Px(34);
  bool clear_range = false;
  bool clear_span = false;
  if (range) {
    const float room = span ? (end - x) * 0.6F : end - x;
    x = DrawPlaceChip(ui, "##range", {x, area.min.y}, ChipOfRange(ui, workspace, *range),
                      Text::kRangeTip, room, &clear_range) +
        gap;
  }
  if (span) {
    x = DrawPlaceChip(ui, "##chosen", {x, area.min.y}, ChipOfSpan(ui, workspace, *span),
                      Text::kChosenTip, end - x, &clear_span) +
        gap;
  }
  ImGui::SetCursorScreenPos({x, area.min.y + (ui.Px(26) - ImGui::GetFrameHeight()) / 2});
  if (ImGui::Button(ui.T(Text::kShowInTimeline))) {
    workspace.view = ViewId::kTimeline;
    if (span) {
      workspace.ShowSpan(*span);
    } else {
      state.view.ShowWithMargin(*range);
    }
  }
  const bool popup = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  const bool escape =
      !Typing() && !popup && !workspace.covered && !workspace.walking && Pressed(Key::kEscape);
  // The first Esc removes the selected interval, the next Esc the chosen span.
  if (clear_range || (escape && range)) {
    state.selection.reset();
    workspace.part = nullptr;
  } else if (clear_span || escape) {
    state.span.reset();
  }
  return ui.Px(34);
}

}  // namespace penstock::gui
