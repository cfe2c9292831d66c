// SPDX-License-Identifier: Apache-2.0
//
// The flame graph: the unit on top, below it the functions that it calls. The zoomed frame and its
// callers are as wide as the panel, so a click on a caller leads back.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/stage_panels.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

constexpr float kFlamePitch = 22;
constexpr float kFlameGap = 2;

std::string FlameShare(const UnitProfile& profile, double part) {
  return analyzer::PercentText(part * profile.scale());
}

// The longest form of a name that fits: the name with its file and line, the name alone, or the
// last part of the name. If none fits, the beginning of the name; "" if there is hardly any room.
std::string FittingName(const Ui& ui, const FunctionId& id, float width) {
  const std::string name = ShortNameOf(id);
  for (const std::string& text : {TitleOf(id), name, name.substr(name.rfind('.') + 1)}) {
    if (TextWidth(ui.small, text) <= width) return text;
  }
  return width < ui.Px(34) ? "" : Elided(ui.small, name, width);
}

struct CardLine {
  ImFont* font;
  Rgb colour;
  std::string text;
};

void DrawCardLines(const Ui& ui, const std::vector<CardLine>& lines) {
  float width = 0;
  for (const CardLine& line : lines) width = std::max(width, TextWidth(line.font, line.text) + 1);
  width = std::min(width, ui.Px(460));
  BeginCard(ui);
  for (const CardLine& line : lines) {
    if (line.font == ui.mono) {
      Paragraph(ui, line.font, line.colour, Elided(line.font, line.text, width), width);
    } else {
      Paragraph(ui, line.font, line.colour, line.text, width);
    }
  }
  EndCard();
}

void DrawFrameCard(const Ui& ui, const UnitProfile& profile, const FlameFrame& frame) {
  constexpr std::size_t kHottestLines = 3;
  const Palette& p = ui.palette();
  const auto lasting = [&](double part) {
    return analyzer::DurationText(part * profile.unit_time);
  };
  std::vector<CardLine> card;
  card.push_back({ui.strong, p.text, TitleOf(frame.id)});
  if (!frame.id.file.empty()) {
    card.push_back({ui.small, p.dim, PathElided(ui.small, frame.id.file, ui.Px(440))});
  }
  card.push_back({ui.body, p.text,
                  ui.F(Text::kFlameTotal, lasting(frame.width), FlameShare(profile, frame.width))});
  card.push_back(
      {ui.body, p.text, ui.F(Text::kFlameOwn, lasting(frame.own), FlameShare(profile, frame.own))});
  card.push_back(
      {ui.body, p.text,
       ui.F(Text::kFlameCalls, analyzer::ShortNumber(frame.count), PerUnit(ui, profile.stage))});
  const FunctionLine* function = profile.Find(frame.id);
  if (function != nullptr && function->lined) {
    std::vector<const SourceLine*> hottest;
    for (const SourceLine& line : function->source) {
      if (line.share > 0) hottest.push_back(&line);
    }
    std::stable_sort(hottest.begin(), hottest.end(),
                     [](const SourceLine* a, const SourceLine* b) { return a->share > b->share; });
    hottest.resize(std::min(hottest.size(), kHottestLines));
    if (!hottest.empty()) card.push_back({ui.small, p.dim, ui.T(Text::kFlameLines)});
    for (const SourceLine* line : hottest) {
      const std::size_t begin = std::min(line->text.find_first_not_of(' '), line->text.size());
      card.push_back({ui.mono, p.text,
                      fmt::format("{:>4} {:>5}  {}", line->number, FlameShare(profile, line->share),
                                  line->text.substr(begin))});
    }
  }
  card.push_back({ui.small, p.dim, ui.T(Text::kFlameHint)});
  DrawCardLines(ui, card);
}

class FlameDrawing {
 public:
  FlameDrawing(const Ui& ui, const FlameView& view, FunctionsState& state, Area area)
      : ui_(ui), view_(view), state_(state), area_(area), list_(ImGui::GetWindowDrawList()) {}

  // The bar of the unit: a click on it shows all.
  void DrawWhole() {
    const Area bar = Row(0, 0, 1);
    const std::string text = ui_.F(Text::kNamed, UnitName(ui_, view_.profile.stage),
                                   analyzer::DurationText(view_.profile.unit_time));
    ImGui::SetCursorScreenPos(bar.min);
    if (ImGui::InvisibleButton("##whole", {bar.width(), bar.height()})) state_.zoomed.clear();
    const Palette& p = ui_.palette();
    Fill(bar, ImGui::IsItemHovered() ? Mix(p.raised, p.accent, 0.2) : p.raised);
    Label(bar, p.text, text, FlameShare(view_.profile, 1));
    Tip(ui_, ui_.T(Text::kFlameHint));
  }

  void Draw(const FlameRect& rect) {
    const FlameFrame& frame = view_.profile.frames[rect.frame];
    const Area bar = Row(frame.depth + 1, rect.left, rect.width);
    if (bar.width() < 1) return;
    ImGui::SetCursorScreenPos(bar.min);
    ImGui::PushID(static_cast<int>(rect.frame));
    if (ImGui::InvisibleButton("##frame", {bar.width(), bar.height()})) {
      state_.chosen = frame.id;
      state_.frame = state_.zoomed = FramePathOf(view_.profile, rect.frame);
    }
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    const Palette& p = ui_.palette();
    Rgb colour = FunctionColour(ui_, frame.id);
    if (rect.above) colour = Mix(colour, p.panel, 0.45);
    if (hovered) colour = Mix(colour, p.text, 0.15);
    Fill(bar, colour);
    const std::string share = FlameShare(view_.profile, frame.width);
    const float room = bar.width() - ui_.Px(10);
    const std::string name = FittingName(ui_, frame.id, room);
    if (!name.empty()) Label(bar, InkOn(colour), name, share);
    if (frame.id == view_.chosen) {
      const bool here = view_.frame == rect.frame;
      list_->AddRect(bar.min, bar.max, Ink(p.text, here ? 1.0 : 0.45), ui_.Px(2), 0,
                     ui_.Px(here ? 2.0F : 1.0F));
    }
    if (hovered) DrawFrameCard(ui_, view_.profile, frame);
  }

  // Says what the empty place beside the functions is that a frame calls.
  void DrawOwn(const FlameRect& rect) {
    const Area place = Row(view_.profile.frames[rect.frame].depth + 2, rect.left, rect.width);
    const float room = place.width() - ui_.Px(10);
    if (room < ui_.Px(90)) return;
    const std::string text = ui_.T(Text::kFlameGap);
    DrawShortened(
        ui_, ui_.small,
        {place.min.x + ui_.Px(5), place.min.y + (place.height() - FontPixels(ui_.small)) / 2},
        Ink(ui_.palette().dim), text, room);
  }

 private:
  [[nodiscard]] Area Row(std::size_t row, double left, double width) const {
    const float x = area_.min.x + area_.width() * static_cast<float>(left);
    const float y = area_.min.y + ui_.Px(kFlamePitch) * static_cast<float>(row);
    return {{x, y},
            {x + area_.width() * static_cast<float>(width), y + ui_.Px(kFlamePitch - kFlameGap)}};
  }
  void Fill(Area bar, Rgb colour) {
    const float gap = std::min(ui_.Px(1), bar.width() / 4);
    list_->AddRectFilled(bar.min, {bar.max.x - gap, bar.max.y}, Ink(colour), ui_.Px(2));
  }
  // Draws the name, and the share at the right if both fit.
  void Label(Area bar, Rgb ink, const std::string& name, const std::string& share) {
    const float y = bar.min.y + (bar.height() - FontPixels(ui_.small)) / 2;
    const float pad = ui_.Px(5);
    DrawText(list_, ui_.small, {bar.min.x + pad, y}, Ink(ink), name);
    const float used = TextWidth(ui_.small, name) + TextWidth(ui_.small, share) + ui_.Px(12);
    if (used + 2 * pad > bar.width()) return;
    DrawTextRight(list_, ui_.small, bar.max.x - pad, y, Ink(ink, 0.85), share);
  }

  const Ui& ui_;
  const FlameView& view_;
  FunctionsState& state_;
  Area area_;
  ImDrawList* list_;
};

void MoveFrame(const FlameView& view, FlameWay way, FunctionsState& state) {
  const UnitProfile& profile = view.profile;
  const auto next =
      view.frame ? NextFrame(profile, *view.frame, way) : std::optional<std::size_t>();
  if (!next) return;
  state.chosen = profile.frames[*next].id;
  state.frame = FramePathOf(profile, *next);
  state.reveal = true;
  const auto seen = FlameRects(profile, view.zoomed);
  const bool shown = std::any_of(seen.begin(), seen.end(),
                                 [&](const FlameRect& rect) { return rect.frame == *next; });
  if (!shown) state.zoomed.clear();
}

void FlameKeys(const FlameView& view, FunctionsState& state) {
  constexpr std::array kWays = {
      std::pair(Key::kUp, FlameWay::kUp), std::pair(Key::kDown, FlameWay::kDown),
      std::pair(Key::kLeft, FlameWay::kLeft), std::pair(Key::kRight, FlameWay::kRight)};
  for (const auto& [key, way] : kWays) {
    if (Pressed(key, true)) return MoveFrame(view, way, state);
  }
  if (Pressed(Key::kHome)) state.zoomed.clear();
  if (Pressed(Key::kEnter) && view.frame) {
    const bool is_zoomed = view.zoomed == view.frame;
    state.zoomed = is_zoomed ? FramePath() : FramePathOf(view.profile, *view.frame);
  }
}

}  // namespace

float FlameHeight(const Ui& ui, const UnitProfile& profile) {
  std::size_t deepest = 0;
  for (const FlameFrame& frame : profile.frames) deepest = std::max(deepest, frame.depth);
  return ui.Px(kFlamePitch) * static_cast<float>(deepest + 2) - ui.Px(kFlameGap);
}

void DrawFlame(const Ui& ui, Workspace& workspace, const FlameView& view, Area area) {
  FunctionsState& state = workspace.stages.functions;
  if (workspace.TakesKeys()) FlameKeys(view, state);
  const float height = FlameHeight(ui, view.profile);
  const bool scrolls = height > area.height() + 1;
  BeginArea("flame", area, scrolls);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  if (std::exchange(state.reveal, false) && scrolls && view.frame) {
    const auto row = static_cast<float>(view.profile.frames[*view.frame].depth + 1);
    ImGui::SetScrollY(std::max(0.0F, row * ui.Px(kFlamePitch) - area.height() / 2));
  }
  FlameDrawing drawing(ui, view, state, {at, {at.x + width, at.y + height}});
  drawing.DrawWhole();
  for (const FlameRect& rect : FlameRects(view.profile, view.zoomed)) drawing.Draw(rect);
  for (const FlameRect& rect : OwnRects(view.profile, view.zoomed)) drawing.DrawOwn(rect);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({1, height});
  EndArea();
}

}  // namespace penstock::gui
