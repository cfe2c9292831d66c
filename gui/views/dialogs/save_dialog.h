// SPDX-License-Identifier: Apache-2.0
//
// Asks under which name something is to be saved, where there is no native dialog. One per window.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class SaveDialog {
 public:
  void Show(const std::filesystem::path& proposed, std::string title);
  // Draws it while it is open. Returns the name when one was chosen.
  [[nodiscard]] std::optional<std::filesystem::path> Draw(const Ui& ui);
  [[nodiscard]] bool open() const { return open_; }

 private:
  bool open_ = false;
  bool appear_ = false;
  std::string title_;
  std::string name_;
};

}  // namespace penstock::gui
