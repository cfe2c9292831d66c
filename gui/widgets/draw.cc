// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/draw.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

namespace penstock::gui {
namespace {

// The length of the UTF-8 character at the beginning of `text`. Requires: not empty.
std::size_t CharLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(length, text.size());
}

bool IsChinese(std::string_view character) {
  // Ideographs and their punctuation lie from U+2E80 on.
  return character.size() >= 3 && static_cast<unsigned char>(character[0]) >= 0xe2 &&
         character >= "\xe2\xba\x80";
}

// Punctuation that must not begin a line.
bool Closes(std::string_view character) {
  constexpr std::string_view kClosing = "，。；：、）！？…”’》」』】";
  return character.size() >= 3 && kClosing.find(character) != std::string_view::npos;
}

// Punctuation that must not end a line.
bool Opens(std::string_view character) {
  constexpr std::string_view kOpening = "([（“‘《「『【";
  return !character.empty() && kOpening.find(character) != std::string_view::npos;
}

// Whether the space at `at` stands between a number and its unit, which belong to one line.
bool IsBeforeUnit(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 13> kUnits = {"%", "ns", "us", "ms", "s",  "min", "h",
                                                       "B", "kB", "MB", "GB", "TB", "PB"};
  if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9') return false;
  const std::string_view after = text.substr(at + 1);
  if (!after.empty() && IsChinese(after.substr(0, CharLength(after)))) return true;
  const auto letter = [](char c) {
    return c == '%' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto end = std::find_if_not(after.begin(), after.end(), letter);
  const std::string_view word = after.substr(0, static_cast<std::size_t>(end - after.begin()));
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// The pieces between which a line may end. A space belongs to the piece before it.
std::vector<std::string_view> Pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = CharLength(text.substr(at));
    const std::string_view character = text.substr(at, length);
    const std::size_t next = at + length;
    const bool last = next >= text.size();
    const std::string_view following =
        last ? std::string_view() : text.substr(next, CharLength(text.substr(next)));
    const bool ends = (character == " " && !IsBeforeUnit(text, at)) || IsChinese(character) ||
                      (!last && character != " " && IsChinese(following) && !Closes(following));
    if (last || (ends && following != " " && !Closes(following) && !Opens(character))) {
      pieces.push_back(text.substr(begin, next - begin));
      begin = next;
    }
    at = next;
  }
  return pieces;
}

// The text without the spaces at its end: these may reach beyond the end of a line.
std::string_view Bare(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

float TextWidth(ImFont* font, std::string_view text) {
  return font->CalcTextSizeA(FontPixels(font), FLT_MAX, 0, text.data(), text.data() + text.size())
      .x;
}

namespace {

void WrapLine(ImFont* font, std::string_view text, float width, std::vector<std::string>& lines) {
  const std::size_t before = lines.size();
  std::string line;
  for (const std::string_view piece : Pieces(text)) {
    if (!line.empty() && TextWidth(font, line + std::string(Bare(piece))) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += piece;
    // A word wider than a line, such as a path, is cut anywhere.
    while (TextWidth(font, Bare(line)) > width && line.size() > 1) {
      std::size_t cut = 0;
      while (cut < line.size()) {
        const std::size_t next = cut + CharLength(std::string_view(line).substr(cut));
        if (cut > 0 && TextWidth(font, std::string_view(line).substr(0, next)) > width) break;
        cut = next;
      }
      if (cut >= line.size()) break;
      lines.push_back(line.substr(0, cut));
      line.erase(0, cut);
    }
  }
  if (!line.empty() || lines.size() == before) lines.push_back(std::move(line));
}

}  // namespace

std::vector<std::string> WrapText(ImFont* font, std::string_view text, float width) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    WrapLine(font, text.substr(at, end - at), width, lines);
    at = end + 1;
  }
  return lines;
}

Wrapped WrapText(ImFont* font, std::string_view text, float width, std::size_t most) {
  Wrapped wrapped{WrapText(font, text, width)};
  wrapped.cut = most > 0 && wrapped.lines.size() > most;
  if (!wrapped.cut) return wrapped;
  wrapped.lines.resize(most);
  wrapped.lines.back() = Elided(font, std::string(Bare(wrapped.lines.back())) + " …", width);
  return wrapped;
}

std::string Elided(ImFont* font, std::string_view text, float width) {
  if (TextWidth(font, text) <= width) return std::string(text);
  constexpr std::string_view kDots = "…";
  const float room = width - TextWidth(font, kDots);
  std::size_t cut = 0;
  while (cut < text.size()) {
    const std::size_t next = cut + CharLength(text.substr(cut));
    if (TextWidth(font, text.substr(0, next)) > room) break;
    cut = next;
  }
  return std::string(text.substr(0, cut)) + std::string(kDots);
}

void DrawText(ImDrawList* list, ImFont* font, ImVec2 at, ImU32 colour, std::string_view text) {
  list->AddText(font, FontPixels(font), {std::floor(at.x), std::floor(at.y)}, colour, text.data(),
                text.data() + text.size());
}

void DrawTextRight(ImDrawList* list, ImFont* font, float right, float y, ImU32 colour,
                   std::string_view text) {
  DrawText(list, font, {right - TextWidth(font, text), y}, colour, text);
}

void DrawTextCentred(ImDrawList* list, ImFont* font, Area area, ImU32 colour,
                     std::string_view text) {
  const float width = TextWidth(font, text);
  DrawText(
      list, font,
      {(area.min.x + area.max.x - width) / 2, (area.min.y + area.max.y - FontPixels(font)) / 2},
      colour, text);
}

Area Panel(const Ui& ui, Area area) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(area.min, area.max, Ink(ui.palette().panel), ui.Px(8));
  list->AddRect(area.min, area.max, Ink(ui.palette().line, 0.8), ui.Px(8));
  return {{area.min.x + ui.Px(14), area.min.y + ui.Px(11)},
          {area.max.x - ui.Px(14), area.max.y - ui.Px(11)}};
}

Area Headed(const Ui& ui, Area inside, std::string_view title) {
  DrawText(ImGui::GetWindowDrawList(), ui.strong, inside.min, Ink(ui.palette().text), title);
  inside.min.y += FontPixels(ui.strong) + ui.Px(8);
  return inside;
}

float Paragraph(const Ui& ui, ImFont* font, Rgb colour, std::string_view text, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pitch = FontPixels(font) + ui.Px(4);
  const std::vector<std::string> lines = WrapText(font, text, width);
  float y = at.y;
  for (const std::string& line : lines) {
    DrawText(ImGui::GetWindowDrawList(), font, {at.x, y}, Ink(colour), line);
    y += pitch;
  }
  ImGui::Dummy({width, y - at.y - ui.Px(4)});
  return y - at.y;
}

bool PrimaryButton(const Ui& ui, const char* label) {
  const Palette& p = ui.palette();
  ImGui::PushStyleColor(ImGuiCol_Button, Tint(p.accent));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, Tint(Mix(p.accent, p.text, 0.15)));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, Tint(Mix(p.accent, p.text, 0.3)));
  ImGui::PushStyleColor(ImGuiCol_Text, Tint(InkOn(p.accent)));
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor(4);
  return pressed;
}

bool TickBox(const Ui& ui, const char* label, bool* on) {
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, ui.Px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, Tint(ui.palette().dim));
  const bool changed = ImGui::Checkbox(label, on);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  return changed;
}

bool TabButton(const Ui& ui, const char* label, bool active) {
  const Palette& p = ui.palette();
  ImGui::PushStyleColor(ImGuiCol_Button, active ? Tint(p.accent, 0.2) : Tint(p.panel, 0));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, Tint(p.accent, active ? 0.26 : 0.12));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, Tint(p.accent, 0.3));
  ImGui::PushStyleColor(ImGuiCol_Text, active ? Tint(p.text) : Tint(p.dim));
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor(4);
  return pressed;
}

void BeginArea(const char* id, Area area, bool scrolls) {
  ImGui::SetCursorScreenPos(area.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ImVec4(0, 0, 0, 0));
  ImGuiWindowFlags flags = ImGuiWindowFlags_NoBackground;
  if (!scrolls) flags |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  BeginFlatChild(id, {std::max(area.width(), 1.0F), std::max(area.height(), 1.0F)}, flags);
}

void EndArea() {
  GrowToCursor();
  ImGui::EndChild();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

Area BeginScrolled(const char* id, Area area, float least) {
  BeginArea(id, area, area.height() < least);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  return {at, {at.x + ImGui::GetContentRegionAvail().x, at.y + std::max(area.height(), least)}};
}

void EndScrolled(Area drawn) {
  ImGui::SetCursorScreenPos({drawn.min.x, drawn.max.y - 1});
  ImGui::Dummy({1, 1});
  EndArea();
}

void BeginCard(const Ui& ui) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.Px(12), ui.Px(9)));
  ImGui::BeginTooltip();
}

void EndCard() {
  GrowToCursor();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

namespace {

void ShowTip(const Ui& ui, std::string_view text) {
  BeginCard(ui);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    Paragraph(ui, ui.body, ui.palette().text, line,
              std::min(TextWidth(ui.body, line) + 1, ui.Px(420)));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  EndCard();
}

}  // namespace

bool SmallPill(const Ui& ui, const char* label) {
  ImGui::PushFont(ui.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, ui.Px(2)});
  const bool clicked = ImGui::Button(label);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  return clicked;
}

void Tip(const Ui& ui, std::string_view text) {
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) ShowTip(ui, text);
}

void DrawShortened(const Ui& ui, ImFont* font, ImVec2 at, ImU32 colour, std::string_view text,
                   float width, std::string_view brief) {
  const bool fits = brief.empty() || TextWidth(font, text) <= width;
  const std::string shown = Elided(font, fits ? text : brief, width);
  DrawText(ImGui::GetWindowDrawList(), font, at, colour, shown);
  if (shown == text || !ImGui::IsWindowHovered()) return;
  const ImVec2 end{at.x + TextWidth(font, shown), at.y + FontPixels(font)};
  if (ImGui::IsMouseHoveringRect(at, end)) ShowTip(ui, text);
}

void DashedLine(ImDrawList* list, ImVec2 from, float to_x, ImU32 colour, float scale) {
  for (float x = from.x; x < to_x; x += 8 * scale) {
    list->AddLine({x, from.y}, {std::min(x + 4 * scale, to_x), from.y}, colour, scale);
  }
}

}  // namespace penstock::gui
