// SPDX-License-Identifier: Apache-2.0
//
// Small parts that views are built from. All of them draw into the current ImGui window.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "gui/widgets/ui.h"

namespace penstock::gui {

struct Area {
  ImVec2 min;
  ImVec2 max;
  [[nodiscard]] float width() const { return max.x - min.x; }
  [[nodiscard]] float height() const { return max.y - min.y; }
  [[nodiscard]] Area Inset(float by) const {
    return {{min.x + by, min.y + by}, {max.x - by, max.y - by}};
  }
};

// Breaks text into lines no wider than `width`, at spaces and between Chinese characters.
[[nodiscard]] std::vector<std::string> WrapText(ImFont* font, std::string_view text, float width);
// Wrapped text of at most `most` lines (0: any number), with an ellipsis if there were more.
struct Wrapped {
  std::vector<std::string> lines;
  bool cut = false;
};
[[nodiscard]] Wrapped WrapText(ImFont* font, std::string_view text, float width, std::size_t most);
[[nodiscard]] float TextWidth(ImFont* font, std::string_view text);
// `text`, shortened with an ellipsis if it is wider than `width`.
[[nodiscard]] std::string Elided(ImFont* font, std::string_view text, float width);

// `at`, limited to [low, high]. If `low` is above `high`, as in a window that is too small for a
// text, the result is `low`; std::clamp() forbids this case.
[[nodiscard]] inline float Limited(float at, float low, float high) {
  return std::max(std::min(at, high), low);
}

void DrawText(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 colour, std::string_view text);
// Draws text that ends at `right`.
void DrawTextRight(ImDrawList* list, ImFont* font, float right, float y, ImU32 colour,
                   std::string_view text);
void DrawTextCentred(ImDrawList* list, ImFont* font, Area area, ImU32 colour,
                     std::string_view text);

// Draws a panel with background and border. Returns the area inside its padding.
Area Panel(const Ui& ui, Area area);
// Draws the heading of a panel. Returns the area below it.
Area Headed(const Ui& ui, Area inside, std::string_view title);

// Adds wrapped text as an item at the cursor. Returns its height.
float Paragraph(const Ui& ui, ImFont* font, Rgb colour, std::string_view text, float width);

// A button in the accent colour.
bool PrimaryButton(const Ui& ui, const char* label);
// A check box with an outline, so that it is seen while it is empty.
bool TickBox(const Ui& ui, const char* label, bool* on);
// A flat button, marked when `active`.
bool TabButton(const Ui& ui, const char* label, bool active);

// Begins a child window of exactly `area`, transparent and without padding. Always call EndArea().
void BeginArea(const char* id, Area area, bool scrolls);
void EndArea();
// Begins a child window for a view that needs a height of `least`. If `area` is lower, the window
// scrolls. Returns where to draw. Always call EndScrolled().
[[nodiscard]] Area BeginScrolled(const char* id, Area area, float least);
void EndScrolled(Area drawn);

// Begins a card with padding beside the pointer. Always call EndCard().
void BeginCard(const Ui& ui);
void EndCard();

// Draws a button with small letters, which is no higher than a line of a table. Returns whether it
// was clicked.
bool SmallPill(const Ui& ui, const char* label);

// Shows a tooltip of one or more lines if the last item is hovered.
void Tip(const Ui& ui, std::string_view text);
// Draws text at `at` in the current window. If the text is wider than `width`, it ends with an
// ellipsis, and a tip shows the whole text.
// `brief`, if there is one, takes its place before it is cut.
void DrawShortened(const Ui& ui, ImFont* font, ImVec2 at, ImU32 colour, std::string_view text,
                   float width, std::string_view brief = {});

// Draws a dashed horizontal line.
void DashedLine(ImDrawList* list, ImVec2 from, float to_x, ImU32 colour, float scale);

}  // namespace penstock::gui
