// SPDX-License-Identifier: Apache-2.0
//
// A dialog that opens a file, drawn by us: it works over a forwarded display, where there is no
// native one. One per window.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/widgets/ui.h"

namespace penstock::gui {

class FileChooser {
 public:
  // Opens at the folder of `near`, or the current one.
  void Show(const std::filesystem::path& near, Text title = Text::kChooseFile);
  // Draws it while it is open. Returns the file when one was chosen.
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
  bool all_ = false;  // not traces and sweeps alone
  Text title_ = Text::kChooseFile;
  std::filesystem::path folder_;
  std::vector<Entry> entries_;
};

}  // namespace penstock::gui
