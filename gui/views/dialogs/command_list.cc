// SPDX-License-Identifier: Apache-2.0
#include "gui/views/dialogs/command_list.h"

#include <imgui_stdlib.h>

#include <algorithm>

#include "gui/model/commands.h"
#include "gui/widgets/draw.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {

void CommandList::Open() {
  open_ = true;
  fresh_ = true;
  filter_.clear();
  chosen_ = 0;
}

void CommandList::Draw(const Ui& ui, const std::vector<Command>& commands) {
  if (!open_) return;
  const Palette& p = ui.palette();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  const std::vector<std::size_t> found = MatchingCommands(names, filter_);
  const float line = ui.Px(26);
  const std::size_t shown = std::clamp<std::size_t>(found.size(), 1, 14);
  const ImVec2 size{std::min(ui.Px(560), screen.x - ui.Px(20)),
                    std::min(ui.Px(68) + line * static_cast<float>(shown), screen.y - ui.Px(80))};
  ImGui::SetNextWindowPos({(screen.x - size.x) / 2, ui.Px(60)});
  ImGui::SetNextWindowSize(size);
  if (fresh_) ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, Tint(p.panel));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.Px(12), ui.Px(12)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.Px(10));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin("##commands", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar);
  ImGui::SetNextItemWidth(size.x - ui.Px(24));
  if (fresh_) ImGui::SetKeyboardFocusHere();
  const std::string before = filter_;
  bool run = ImGui::InputTextWithHint("##filter", ui.T(Text::kCommandHint), &filter_,
                                      ImGuiInputTextFlags_EnterReturnsTrue);
  if (filter_ != before) chosen_ = 0;
  const std::size_t last = found.empty() ? 0 : found.size() - 1;
  bool moved = false;
  if (Pressed(Key::kDown, true)) {
    chosen_ = std::min(chosen_ + 1, last);
    moved = true;
  }
  if (Pressed(Key::kUp, true) && chosen_ > 0) {
    --chosen_;
    moved = true;
  }
  chosen_ = std::min(chosen_, last);
  ImGui::Dummy({1, ui.Px(4)});
  if (found.empty()) Paragraph(ui, ui.body, p.dim, ui.T(Text::kNoCommand), size.x - ui.Px(30));
  ImGui::BeginChild("##list", {0, 0});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Command& command = commands[found[i]];
    ImGui::PushID(static_cast<int>(found[i]));
    if (ImGui::Selectable("##command", i == chosen_, 0, {0, line - ui.Px(4)})) {
      chosen_ = i;
      run = true;
    }
    ImGui::PopID();
    if (i == chosen_ && moved) ImGui::SetScrollHereY();
    const ImVec2 min = ImGui::GetItemRectMin();
    const ImVec2 max = ImGui::GetItemRectMax();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = min.y + (max.y - min.y - FontPixels(ui.body)) / 2;
    const float keys = TextWidth(ui.small, command.keys);
    DrawText(list, ui.body, {min.x + ui.Px(8), y}, Ink(p.text),
             Elided(ui.body, command.name, max.x - min.x - keys - ui.Px(30)));
    DrawTextRight(list, ui.small, max.x - ui.Px(8), y + ui.Px(1.5F), Ink(p.dim), command.keys);
  }
  ImGui::EndChild();
  const bool away = !fresh_ && !ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows);
  ImGui::End();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor();
  fresh_ = false;
  if (Pressed(Key::kEscape) || away) open_ = false;
  if (run && !found.empty()) {
    open_ = false;
    commands[found[std::min(chosen_, last)]].run();
  }
}

}  // namespace penstock::gui
