// SPDX-License-Identifier: Apache-2.0
//
// A dialog that opens a file, drawn by this program. It also works on a forwarded display, where
// the desktop's own dialog is missing. One per window.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class FileChooser {
 public:
  // Opens in the folder of `near`, or in the current folder.
  void Show(const std::filesystem::path& near, Text title = Text::kChooseFile);
  // Draws the dialog while it is open. Returns the file that was chosen.
  [[nodiscard]] std::optional<std::filesystem::path> Draw(const Ui& ui);
  [[nodiscard]] bool open() const { return open_; }

 private:
  struct Entry {
    std::string name;
    bool folder = false;
    std::uintmax_t size = 0;
  };
  void Enter(const std::filesystem::path& folder);
  void DrawEntries(const Ui& ui, std::optional<std::filesystem::path>& chosen);

  bool open_ = false;
  bool appear_ = false;
  bool all_ = false;  // all files, not only traces and sweeps
  Text title_ = Text::kChooseFile;
  std::filesystem::path folder_;
  std::vector<Entry> entries_;
};

}  // namespace penstock::gui
