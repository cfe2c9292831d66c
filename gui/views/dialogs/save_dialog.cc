// SPDX-License-Identifier: Apache-2.0
#include "gui/views/dialogs/save_dialog.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "gui/widgets/draw.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {

namespace fs = std::filesystem;

void SaveDialog::Show(const fs::path& proposed, std::string title) {
  open_ = true;
  appear_ = true;
  title_ = std::move(title);
  std::error_code error;
  const fs::path whole = fs::absolute(proposed, error);
  name_ = (error ? proposed : whole).string();
}

std::optional<fs::path> SaveDialog::Draw(const Ui& ui) {
  if (!open_) return std::nullopt;
  const char* id = "##save";
  if (appear_) ImGui::OpenPopup(id);
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.Px(640), screen.x - ui.Px(40));
  ImGui::SetNextWindowPos({(screen.x - width) / 2, screen.y * 0.3F});
  ImGui::SetNextWindowSize({width, ui.Px(158)});
  std::optional<fs::path> chosen;
  if (!ImGui::BeginPopupModal(id, nullptr,
                              ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                  ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    open_ = false;
    return std::nullopt;
  }
  const Palette& p = ui.palette();
  const float room = ImGui::GetContentRegionAvail().x;
  Paragraph(ui, ui.title, p.text, Elided(ui.title, title_, room), room);
  ImGui::SetNextItemWidth(room);
  if (appear_) ImGui::SetKeyboardFocusHere();
  appear_ = false;
  const bool enter = ImGui::InputText("##name", &name_, ImGuiInputTextFlags_EnterReturnsTrue);
  std::error_code error;
  const fs::path path(name_);
  const bool folder =
      path.has_filename() &&
      fs::is_directory(path.parent_path().empty() ? fs::path(".") : path.parent_path(), error);
  const bool exists = folder && fs::exists(path, error);
  const char* note = !folder ? ui.T(Text::kNoSuchFolder) : exists ? ui.T(Text::kReplaces) : "";
  Paragraph(ui, ui.body, folder ? p.warn : p.bad, note, room);
  ImGui::BeginDisabled(!folder);
  const bool save = PrimaryButton(ui, ui.T(Text::kSave)) || (enter && folder);
  ImGui::EndDisabled();
  ImGui::SameLine();
  const bool cancel = ImGui::Button(ui.T(Text::kCancel)) || Pressed(Key::kEscape);
  if (save) chosen = path;
  if (save || cancel) {
    open_ = false;
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
  return chosen;
}

}  // namespace penstock::gui
