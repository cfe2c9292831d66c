// SPDX-License-Identifier: Apache-2.0
//
// A dialog that asks for the name of a file to save, if there is no native dialog. One per window.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class SaveDialog {
 public:
  void Show(const std::filesystem::path& proposed, std::string title);
  // Draws the dialog while it is open. Returns the name that was chosen.
  [[nodiscard]] std::optional<std::filesystem::path> Draw(const Ui& ui);
  [[nodiscard]] bool open() const { return open_; }

 private:
  bool open_ = false;
  bool appear_ = false;
  std::string title_;
  std::string name_;
};

}  // namespace penstock::gui
