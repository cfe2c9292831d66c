// SPDX-License-Identifier: Apache-2.0
//
// Draws the heat map of a sweep: two axes, a colour and a figure for each cell, a frame around the
// best one.
#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"
#include "gui/views/files/sweep_parts.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

using analyzer::PlainText;

Rgb HeatColour(const Palette& p, double part) {
  return Mix(Mix(p.panel, p.accent, 0.14), p.accent, part);
}

// Draws diagonal lines where there is no figure.
void Hatch(const Ui& ui, Area area) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(area.min, area.max, true);
  for (float x = area.min.x - area.height(); x < area.max.x; x += ui.Px(9)) {
    list->AddLine({x, area.max.y}, {x + area.height(), area.min.y}, Ink(ui.palette().line), 1);
  }
  list->PopClipRect();
  list->AddRect(area.min, area.max, Ink(ui.palette().line), ui.Px(4));
}

// Marks a cell with a frame and a word, so that it is seen without colours too.
void DrawMark(const Ui& ui, Area box, Rgb colour, const char* word) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = ui.Px(2.5F);
  list->AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1}, Ink(colour),
                ui.Px(5), 0, width);
  const float text = TextWidth(ui.small, word) + ui.Px(10);
  const float height = FontPixels(ui.small) + ui.Px(2);
  if (text > box.width() || height * 2.2F > box.height()) return;
  const float x = (box.min.x + box.max.x - text) / 2;
  const float y = box.max.y - height - ui.Px(3);
  list->AddRectFilled({x, y}, {x + text, y + height}, Ink(colour), ui.Px(4));
  DrawText(list, ui.small, {x + ui.Px(5), y + ui.Px(1)}, Ink(InkOn(colour)), word);
}

void DrawFigure(const Ui& ui, const Sweep& sweep, const SweepCell& cell, Area box, Rgb ground,
                bool marked) {
  const std::string text = CellText(sweep, cell, SweepColumn::kRate, ui.language);
  ImFont* font = TextWidth(ui.strong, text) + ui.Px(6) <= box.width() ? ui.strong : ui.small;
  if (TextWidth(font, text) + ui.Px(4) > box.width() || FontPixels(font) > box.height()) return;
  const float word = FontPixels(ui.small) + ui.Px(2);
  if (marked && word * 2.2F <= box.height()) box.max.y -= word;
  DrawTextCentred(ImGui::GetWindowDrawList(), font, box, Ink(InkOn(ground)), text);
}

void DrawCard(const Ui& ui, const Sweep& sweep, const SweepCell& cell) {
  const Palette& p = ui.palette();
  BeginCard(ui);
  const float width = ui.Px(320);
  Paragraph(ui, ui.strong, p.text, DescribeCell(sweep, cell, ui.language), width);
  if (cell.rate) {
    Paragraph(ui, ui.body, p.text,
              RateText(cell.rate->median, ui.language) + "   (" +
                  CellText(sweep, cell, SweepColumn::kSpread, ui.language) + ")",
              width);
  }
  const std::string note = CellText(sweep, cell, SweepColumn::kNote, ui.language);
  if (!note.empty()) Paragraph(ui, ui.body, p.dim, note, width);
  EndCard();
}

// Draws the colours and what they mean.
void DrawScale(const Ui& ui, const HeatMap& map, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string low = RateText(map.low, ui.language);
  const std::string high = RateText(map.high, ui.language);
  const float bar = ui.Px(110);
  const float y = area.min.y;
  float x = area.max.x - TextWidth(ui.small, high);
  DrawText(list, ui.small, {x, y}, Ink(p.dim), high);
  x -= ui.Px(8) + bar;
  constexpr int kSteps = 22;
  const float step = bar / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const float left = x + step * static_cast<float>(i);
    list->AddRectFilled({left, y + ui.Px(2)}, {left + step + 0.5F, y + ui.Px(12)},
                        Ink(HeatColour(p, (i + 0.5) / kSteps)));
  }
  x -= ui.Px(8) + TextWidth(ui.small, low);
  DrawText(list, ui.small, {x, y}, Ink(p.dim), low);
  const char* hint = ui.T(Text::kCellHint);
  if (area.min.x + TextWidth(ui.small, hint) + ui.Px(14) > x) return;
  DrawText(list, ui.small, area.min, Ink(p.dim), hint);
}

struct MapFrame {
  Area cells;
  float width = 0;  // of a cell
  float height = 0;
};

// Draws the names of rows and columns; returns where the cells go.
MapFrame DrawLabels(const Ui& ui, const Sweep& sweep, const SweepLook& look, const HeatMap& map,
                    Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const SweepAxis& across = sweep.axes[*look.across];
  const SweepAxis* down = look.down ? &sweep.axes[*look.down] : nullptr;
  const float most = area.width() * 0.3F;
  const std::string side = down == nullptr ? "" : AxisName(down->name, ui.language) + " ↓";
  float left = down == nullptr ? 0 : TextWidth(ui.small, side);
  if (down != nullptr) {
    for (const std::string& value : down->values) {
      left = std::max(left, TextWidth(ui.body, PlainText(value, 24)));
    }
  }
  left = std::min(left + (down == nullptr ? 0 : ui.Px(10)), most);
  const float line = FontPixels(ui.small) + ui.Px(4);
  MapFrame frame;
  frame.cells = {{area.min.x + left, area.min.y + 2 * line}, area.max};
  frame.width = frame.cells.width() / static_cast<float>(map.columns);
  frame.height = std::min(frame.cells.height() / static_cast<float>(map.rows), ui.Px(120));
  DrawText(list, ui.small, {frame.cells.min.x, area.min.y}, Ink(p.dim),
           AxisName(across.name, ui.language) + " →");
  DrawText(list, ui.small, {area.min.x, area.min.y + line}, Ink(p.dim),
           Elided(ui.small, side, left));
  float last = -1e9F;
  for (std::size_t c = 0; c < map.columns; ++c) {
    const std::string text = Elided(ui.body, PlainText(across.values[c], 24), frame.width);
    const float width = TextWidth(ui.body, text);
    const float x = frame.cells.min.x + frame.width * (static_cast<float>(c) + 0.5F) - width / 2;
    if (x < last) continue;
    DrawText(list, ui.body, {x, area.min.y + line - ui.Px(2)}, Ink(p.text), text);
    last = x + width + ui.Px(4);
  }
  last = -1e9F;
  for (std::size_t r = 0; down != nullptr && r < map.rows; ++r) {
    const float y =
        frame.cells.min.y + frame.height * (static_cast<float>(r) + 0.5F) - FontPixels(ui.body) / 2;
    if (y < last) continue;
    DrawTextRight(list, ui.body, frame.cells.min.x - ui.Px(8), y, Ink(p.text),
                  Elided(ui.body, PlainText(down->values[r], 24), left - ui.Px(10)));
    last = y + FontPixels(ui.body);
  }
  return frame;
}

// Moves the choice with the arrow keys from cell to cell, beginning at the best one.
void MoveByKeys(const Sweep& sweep, const HeatMap& map, SweepViewState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  // While the arrow keys move from item to item, they do not move inside the map, which is one
  // item.
  const bool walking = (io.ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard) != 0;
  if (Typing() || io.KeyCtrl || io.KeyAlt || walking ||
      ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) {
    return;
  }
  const auto signed_of = [](std::size_t value) { return static_cast<std::ptrdiff_t>(value); };
  const std::ptrdiff_t columns = signed_of(map.columns);
  const std::ptrdiff_t step_x = Pressed(Key::kRight, true) - Pressed(Key::kLeft, true);
  const std::ptrdiff_t step_y = Pressed(Key::kDown, true) - Pressed(Key::kUp, true);
  if (step_x == 0 && step_y == 0) return;
  const std::optional<std::size_t> from = state.chosen ? state.chosen : sweep.best;
  const auto found = std::find(map.cells.begin(), map.cells.end(), from);
  std::ptrdiff_t place = from && found != map.cells.end() ? found - map.cells.begin() : 0;
  // Skips places without a cell, and further places of the present cell: one cell may stand at
  // several places.
  while (true) {
    const std::ptrdiff_t x = place % columns + step_x;
    const std::ptrdiff_t y = place / columns + step_y;
    if (x < 0 || x >= columns || y < 0 || y >= signed_of(map.rows)) return;
    place = y * columns + x;
    const auto cell = map.cells[static_cast<std::size_t>(place)];
    if (!cell || cell == from) continue;
    state.chosen = cell;
    return;
  }
}

}  // namespace

std::optional<std::size_t> DrawSweepMap(const Ui& ui, SweepViewState& state, Area area) {
  const Sweep& sweep = *state.file;
  const Palette& p = ui.palette();
  const HeatMap map = MapOf(sweep, *state.grid, state.look);
  MoveByKeys(sweep, map, state);
  const float foot = FontPixels(ui.small) + ui.Px(8);
  const MapFrame frame =
      DrawLabels(ui, sweep, state.look, map, {area.min, {area.max.x, area.max.y - foot}});
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float gap = std::min(ui.Px(2), frame.width / 6);
  const auto box = [&](std::size_t index) {
    const float x = frame.cells.min.x + frame.width * static_cast<float>(index % map.columns);
    const float y = frame.cells.min.y + frame.height * static_cast<float>(index / map.columns);
    return Area{{x + gap, y + gap}, {x + frame.width - gap, y + frame.height - gap}};
  };
  // The whole map is one item, because it may have thousands of cells.
  ImGui::SetCursorScreenPos(frame.cells.min);
  const float height = frame.height * static_cast<float>(map.rows);
  ImGui::InvisibleButton("##map", {std::max(1.0F, frame.cells.width()), std::max(1.0F, height)});
  std::optional<std::size_t> hot;
  if (ImGui::IsItemHovered()) {
    const ImVec2 at = ImGui::GetIO().MousePos;
    const auto column = static_cast<std::size_t>((at.x - frame.cells.min.x) / frame.width);
    const auto row = static_cast<std::size_t>((at.y - frame.cells.min.y) / frame.height);
    if (column < map.columns && row < map.rows) hot = map.cells[row * map.columns + column];
    if (hot && ImGui::IsMouseClicked(0)) state.chosen = hot;
  }
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const Area at = box(i);
    if (!map.cells[i] || !sweep.cells[*map.cells[i]].rate) {
      Hatch(ui, at);
      continue;
    }
    const SweepCell& cell = sweep.cells[*map.cells[i]];
    const Rgb ground = HeatColour(p, map.Part(cell.rate->median));
    list->AddRectFilled(at.min, at.max, Ink(ground), ui.Px(4));
    const bool marked = map.cells[i] == sweep.best || map.cells[i] == sweep.suggested;
    DrawFigure(ui, sweep, cell, at, ground, marked);
  }
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    if (!map.cells[i]) continue;
    if (map.cells[i] == sweep.suggested && sweep.suggested != sweep.best) {
      DrawMark(ui, box(i), p.warn, ui.T(Text::kCellSuggested));
    }
    if (map.cells[i] == sweep.best) DrawMark(ui, box(i), p.good, ui.T(Text::kCellBest));
    if (map.cells[i] == state.chosen || (hot && map.cells[i] == hot)) {
      const Area at = box(i);
      list->AddRect({at.min.x + ui.Px(2), at.min.y + ui.Px(2)},
                    {at.max.x - ui.Px(2), at.max.y - ui.Px(2)}, Ink(p.text), ui.Px(3), 0,
                    ui.Px(1.5F));
    }
  }
  DrawScale(ui, map, {{area.min.x, area.max.y - FontPixels(ui.small)}, area.max});
  if (hot) DrawCard(ui, sweep, sweep.cells[*hot]);
  return hot;
}

}  // namespace penstock::gui
