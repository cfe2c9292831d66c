// SPDX-License-Identifier: Apache-2.0
//
// Every text that Dear ImGui is asked to draw, by whom ever: by our views or by its own widgets. A
// program that uses this is linked with what CMakeLists.txt says there, so that the calls come by.
// One thread.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace penstock::gui::testing {

struct TextCall {
  const ImDrawList* list = nullptr;
  std::string text;
  const ImFont* font = nullptr;
  float size = 0;  // height of a line
  ImVec2 min;      // where it stands as it was laid out, whatever is cut off
  ImVec2 max;
  ImU32 colour = 0;
  ImVec4 clip;    // what cuts it off: x0, y0, x1, y1
  int first = 0;  // its vertices in the list
  int end = 0;
};

// What was drawn since the last call. Throws away what came before the frame that is wanted.
[[nodiscard]] std::vector<TextCall> TakeTextCalls();

}  // namespace penstock::gui::testing
