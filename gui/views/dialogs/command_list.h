// SPDX-License-Identifier: Apache-2.0
//
// The command palette lists all commands. The user filters them by typing and chooses one with the
// arrow keys or the mouse.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gui/widgets/ui.h"

namespace penstock::gui {

struct Command {
  std::string name;
  std::string keys;  // shortcut of the command, or a hint such as the folder of a file
  std::function<void()> run;
};

class CommandList {
 public:
  void Open();
  void Close() { open_ = false; }
  [[nodiscard]] bool open() const { return open_; }
  [[nodiscard]] bool fresh() const { return open_ && fresh_; }  // not drawn yet
  [[nodiscard]] const std::string& filter() const { return filter_; }
  // Draws the list over everything and runs the chosen command.
  void Draw(const Ui& ui, const std::vector<Command>& commands);

 private:
  bool open_ = false;
  bool fresh_ = false;
  std::string filter_;
  std::size_t chosen_ = 0;
};

}  // namespace penstock::gui
