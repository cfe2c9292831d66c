// SPDX-License-Identifier: Apache-2.0
//
// What leaves the window as a file: the view as a picture, tables as CSV, the report as HTML. Every
// file appears whole or not at all, and what came of it is said in the window. Part of the App.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gui/model/files/tables.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// Whether there is anything of this kind to export now.
[[nodiscard]] bool CanExport(const Workspace& workspace, ExportKind kind);
// The proposed file, beside what it is made from.
[[nodiscard]] std::filesystem::path ProposedExport(const Workspace& workspace, ExportKind kind);
// The keys that ask for it, as they are written in menus; nullptr: none.
[[nodiscard]] const char* ExportKeys(ExportKind kind);
// The text of a table or the report. What is about a trace is about the stretch that is selected
// where the view is, as on the screen. Requires: CanExport(), and not kPicture.
// Errors: kInput where the what-if predicts nothing.
[[nodiscard]] Result<std::string> ExportText(const Workspace& workspace, ExportKind kind,
                                             Language language);

// A line at the foot of the window: a success goes by itself, a failure by a click.
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

// A picture that is wanted: taken when the menus are gone from the screen.
class PictureWish {
 public:
  void Want(std::filesystem::path path);
  [[nodiscard]] bool pending() const { return frames_ > 0; }
  // Counts a frame that was drawn; the path when it is the one to keep.
  [[nodiscard]] std::optional<std::filesystem::path> FrameDrawn();

 private:
  std::filesystem::path path_;
  int frames_ = 0;  // until then
};

}  // namespace penstock::gui
