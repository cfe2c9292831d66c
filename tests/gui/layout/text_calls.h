// SPDX-License-Identifier: Apache-2.0
//
// Notes every text that the views or Dear ImGui's own widgets draw. A program that uses this must
// be linked with the options of gui_layout in tests/gui/CMakeLists.txt. Used on one thread.
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
  ImVec2 min;      // the corners of the whole text, including parts that are cut off
  ImVec2 max;
  ImU32 colour = 0;
  ImVec4 clip;    // the clip rectangle: x0, y0, x1, y1
  int first = 0;  // its vertices in the list: [first, end)
  int end = 0;
};

// Returns the texts that were drawn since the last call, and forgets them. Call it before a frame
// too, to forget older texts.
[[nodiscard]] std::vector<TextCall> TakeTextCalls();

}  // namespace penstock::gui::testing
