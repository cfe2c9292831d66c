// SPDX-License-Identifier: Apache-2.0
//
// Opens the menu of the timeline's right button, and reads its lines.
#pragma once

#include <imgui_internal.h>

#include <memory>
#include <string>
#include <vector>

#include "gui/views/timeline/timeline_canvas.h"
#include "tests/gui/walk/walk.h"

namespace penstock::gui::testing {

class WalkMenu : public Walk {
 protected:
  void SetUp() override {
    Walk::SetUp();
    ShowRun();
    workspace().view = ViewId::kTimeline;
    Frames(2);
  }

  TimelineState& state() { return workspace().timeline; }
  const Timeline& timeline() { return *workspace().document.timeline; }
  SpanRef SpanOf(traces::StageId stage) {
    return *Longest(timeline(), stage, {0, timeline().length + 1});
  }

  // Shows a span in the middle of the window, and returns its place on the screen.
  ImVec2 PlaceOf(SpanRef span) {
    const std::int64_t length = timeline().end(span) - timeline().start(span);
    state().view.Show({timeline().start(span) - length, timeline().end(span) + length});
    Frames(1);
    const Window window{visible().from, visible().to, 1280 - 28 - 190, 1};
    const auto middle = (timeline().start(span) + timeline().end(span)) / 2;
    const float x = 14 + 190 + static_cast<float>(window.X(middle));
    for (const Row& row :
         LayOutRows(timeline(), workspace().document.analysis->counters, state())) {
      if (row.kind == RowKind::kLevel && row.lane == span.lane && row.level == span.level) {
        return {x, 148 + row.top - state().scroll + row.height / 2};
      }
    }
    ADD_FAILURE() << "the span has no row";
    return {};
  }

  void RightClick(float x, float y) {
    MoveTo(x, y);
    ImGui::GetIO().MouseDown[1] = true;
    Frames(1);
    ImGui::GetIO().MouseDown[1] = false;
    Frames(2);
  }

  static bool MenuIsOpen() { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId); }

  // The parts of the open menu, as the timeline draws them.
  std::vector<MenuPart> Parts() {
    const std::vector<CounterTrack>& counters = workspace().document.analysis->counters;
    canvas_ =
        std::make_unique<TimelineCanvas>(TimelineCanvas{app_->ui(),
                                                        workspace(),
                                                        timeline(),
                                                        {},
                                                        {{14, 148}, {204, 700}},
                                                        {{204, 148}, {1266, 700}},
                                                        {visible().from, visible().to, 1062, 1}});
    canvas_->Place(counters);
    return MenuOf(*canvas_);
  }
  // The keys beside a line of the menu.
  std::string KeysOf(const std::string& label) {
    for (const MenuPart& part : Parts()) {
      for (const MenuLine& line : part.lines) {
        if (line.label == label) return line.keys;
      }
    }
    return "no such line";
  }
  // Runs the line of the menu with this label.
  void Run(const std::string& label) {
    for (const MenuPart& part : Parts()) {
      for (const MenuLine& line : part.lines) {
        if (line.label != label) continue;
        EXPECT_TRUE(line.enabled) << label;
        return line.run();
      }
    }
    ADD_FAILURE() << "no such line: " << label;
  }
  ImGuiWindow* Popup() {
    for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if (window->WasActive && (window->Flags & ImGuiWindowFlags_Popup) != 0) return window;
    }
    return nullptr;
  }

  // The number of drawn vertices that have the colour of the arrows.
  int ArrowCorners() {
    Frames(1);
    const ImU32 colour = Ink(app_->ui().palette().text, 0.95);
    int corners = 0;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int l = 0; l < data.CmdListsCount; ++l) {
      for (const ImDrawVert& corner : data.CmdLists[l]->VtxBuffer) {
        corners += corner.col == colour ? 1 : 0;
      }
    }
    return corners;
  }

  std::unique_ptr<TimelineCanvas> canvas_;
};

}  // namespace penstock::gui::testing
