// SPDX-License-Identifier: Apache-2.0
//
// The files that the window exports: the view as a picture, tables as CSV, the report as HTML.
// Every file appears whole or not at all, and the window says whether it was written. Part of the
// App.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gui/model/files/tables.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// Whether there is something of this kind to export now.
[[nodiscard]] bool CanExport(const Workspace& workspace, ExportKind kind);
// The proposed file. It lies beside the trace or sweep.
[[nodiscard]] std::filesystem::path ProposedExport(const Workspace& workspace, ExportKind kind);
// The shortcut of the export as menus write it; nullptr if it has none.
[[nodiscard]] const char* ExportKeys(ExportKind kind);
// The text of a table or of the report. Like the view, it covers only the selected interval if the
// view obeys the selection.
// Requires: CanExport(), and a kind other than kPicture.
// Errors: kInput if the what-if predicts nothing.
[[nodiscard]] Result<std::string> ExportText(const Workspace& workspace, ExportKind kind,
                                             Language language);

// A message at the foot of the window. A success disappears by itself, a failure after a click.
class Notice {
 public:
  void Say(std::string text, bool failed);
  void Draw(const Ui& ui);
  [[nodiscard]] bool shown() const { return !text_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  void Clear() { text_.clear(); }

 private:
  std::string text_;
  bool failed_ = false;
  double since_ = 0;  // ImGui's clock
};

// A picture that was asked for. It is taken when the menus have left the screen.
class PictureWish {
 public:
  void Want(std::filesystem::path path);
  [[nodiscard]] bool pending() const { return frames_ > 0; }
  // Counts one drawn frame. Returns the path if this frame is the one to keep.
  [[nodiscard]] std::optional<std::filesystem::path> FrameDrawn();

 private:
  std::filesystem::path path_;
  int frames_ = 0;  // left until the picture
};

}  // namespace penstock::gui
