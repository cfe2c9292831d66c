// SPDX-License-Identifier: Apache-2.0
//
// The frame around the views: the bar above them, warnings, and the page shown without a trace.
#include <algorithm>
#include <cmath>

#include "gui/main/app.h"
#include "gui/model/overview.h"
#include "gui/model/penstock_command.h"
#include "gui/views/panel_parts.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

// Draws the program's sign: two arcs of water and a pipe.
void DrawSign(const Ui& ui, ImVec2 at, float size) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Rgb accent = ui.palette().accent;
  const float w = size / 5;
  list->AddLine({at.x, at.y + w / 2}, {at.x + size * 0.45F, at.y + w / 2}, Ink(accent), w);
  list->AddLine({at.x + size * 0.42F, at.y + w / 2}, {at.x + size, at.y + size - w / 2},
                Ink(accent), w * 1.15F);
  for (const float x : {0.05F, 0.35F}) {
    list->AddCircleFilled({at.x + size * x + w / 2, at.y + size - w * 0.7F}, w * 0.6F,
                          Ink(accent, 0.6));
  }
}

// Draws a disc, half of it filled.
void DrawHalfMoon(const Ui& ui, ImVec2 min, ImVec2 max) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 centre{(min.x + max.x) / 2, (min.y + max.y) / 2};
  const float radius = ui.Px(5.5F);
  constexpr float kQuarter = 1.5707963F;
  list->AddCircle(centre, radius, Ink(ui.palette().text), 0, ui.Px(1.5F));
  list->PathArcTo(centre, radius, -kQuarter, kQuarter);
  list->PathFillConvex(Ink(ui.palette().text));
}

}  // namespace

// Draws a tab for each view, from the cursor to `end`. A list after the last tab holds the views
// whose tabs do not fit. Returns where the tabs end.
float App::DrawTabs(float end) {
  const float gap = ui_.Px(2);
  const auto width = [&](const char* label) {
    return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
  };
  float whole = 0;
  for (const ViewInfo& view : kViews) whole += width(ui_.T(view.title)) + gap;
  constexpr const char* kMore = "…";
  float x = ImGui::GetCursorScreenPos().x;
  // The tab of the open view always stays visible.
  float kept = 0;
  for (const ViewInfo& view : kViews) {
    if (view.id == workspace_.view) kept = width(ui_.T(view.title)) + gap;
  }
  const bool all = x + whole <= end;
  std::vector<const ViewInfo*> hidden;
  for (const ViewInfo& view : kViews) {
    const bool active = workspace_.view == view.id;
    const float own = width(ui_.T(view.title));
    if (!all && !active && x + own + gap + kept + width(kMore) > end) {
      hidden.push_back(&view);
      continue;
    }
    if (TabButton(ui_, ui_.T(view.title), active && !jobs_.error)) GoTo(view.id);
    ImGui::SameLine(0, gap);
    x += own + gap;
    if (active) kept = 0;
  }
  if (hidden.empty()) return ImGui::GetCursorScreenPos().x;
  if (TabButton(ui_, kMore, false)) ImGui::OpenPopup("views");
  Tip(ui_, ui_.T(Text::kMoreViews));
  const float right = ImGui::GetItemRectMax().x;
  if (ImGui::BeginPopup("views")) {
    if (Pressed(Key::kEscape)) ImGui::CloseCurrentPopup();
    for (const ViewInfo* view : hidden) {
      if (ImGui::MenuItem(ui_.T(view->title))) GoTo(view->id);
    }
    ImGui::EndPopup();
  }
  return right;
}

void App::DrawTopBar(Area area) {
  const Palette& p = ui_.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(area.min, area.max, Ink(p.panel));
  list->AddLine({area.min.x, area.max.y}, area.max, Ink(p.line));
  const float frame = ImGui::GetFrameHeight();
  const float y = area.min.y + (area.height() - frame) / 2;
  DrawSign(ui_, {area.min.x + ui_.Px(16), area.min.y + (area.height() - ui_.Px(17)) / 2},
           ui_.Px(17));
  ImGui::SetCursorScreenPos({area.min.x + ui_.Px(44), y});
  const Document& document = workspace_.document;
  const bool second = workspace_.view == ViewId::kSweep || workspace_.view == ViewId::kCompare;
  const char* theme = "    ##theme";
  static const bool kChinese = HasChineseFont();
  // All labels have one id. With another id the button would lose the keyboard focus when a key
  // presses it.
  const char* language = settings_.language == Language::kChinese ? "EN###lang"
                         : kChinese                               ? "中文###lang"
                                                                  : "ZH###lang";
  const auto width = [&](const char* label) {
    return ImGui::CalcTextSize(label, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
  };
  const float gap = ui_.Px(6);
  float x = area.max.x - ui_.Px(14) - width("?") - gap - width(language) - gap - width(theme) -
            gap - width(ui_.T(Text::kExport)) - gap - ImGui::GetFrameHeight() -
            width(ui_.T(Text::kOpen)) - ui_.Px(1);
  const ImVec2 tabs = ImGui::GetCursorScreenPos();
  const float right = DrawJobBadge(area, x - ui_.Px(12));
  ImGui::SetCursorScreenPos(tabs);
  float left = area.min.x + ui_.Px(54);
  if (document.open() || workspace_.sweep.file || second) {
    left = DrawTabs(right + ui_.Px(4)) + ui_.Px(10);
  } else {
    DrawText(list, ui_.strong,
             {area.min.x + ui_.Px(46), area.min.y + (area.height() - FontPixels(ui_.strong)) / 2},
             Ink(p.text), "Penstock");
  }
  ImGui::SetCursorScreenPos({x, y});
  DrawFileMenus();
  ImGui::SameLine(0, gap);
  if (ImGui::Button(theme)) {
    settings_.theme = settings_.theme == Theme::kDark ? Theme::kLight : Theme::kDark;
    style_.stale = true;
  }
  Tip(ui_, ui_.T(Text::kThemeTip));
  DrawHalfMoon(ui_, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  ImGui::SameLine(0, gap);
  if (ImGui::Button(language)) SwitchLanguage();
  Tip(ui_, ui_.T(kChinese ? Text::kLanguageTip : Text::kNoChineseFont));
  ImGui::SameLine(0, gap);
  if (ImGui::Button("?")) workspace_.help = !workspace_.help;
  Tip(ui_, ui_.T(Text::kHelpTip));

  const bool sweep = workspace_.view == ViewId::kSweep && workspace_.sweep.file;
  const std::filesystem::path& shown = sweep ? workspace_.sweep.file->path : document.path;
  if ((sweep || document.open()) && right > left + ui_.Px(24)) {
    const float text_y = area.min.y + (area.height() - FontPixels(ui_.small)) / 2;
    const std::string name = Elided(ui_.small, shown.filename().string(), right - left);
    DrawTextRight(list, ui_.small, right, text_y, Ink(p.dim), name);
    ImGui::SetCursorScreenPos({right - TextWidth(ui_.small, name), text_y});
    ImGui::InvisibleButton("##name", {std::max(1.0F, TextWidth(ui_.small, name)), frame / 2});
    Tip(ui_, shown.string());
  }
  const LoadJob* job = Reading();
  if (job != nullptr &&
      document.open()) {  // another file, or the rest of this one, is being loaded
    const float part = std::clamp(job->progress(), 0.02F, 1.0F);
    list->AddRectFilled({area.min.x, area.max.y - ui_.Px(2)},
                        {area.min.x + part * area.width(), area.max.y}, Ink(p.accent));
  }
}

float App::DrawWarnings(Area area) {
  const Document& document = workspace_.document;
  if (!document.analysis || jobs_.error) return 0;
  // A sweep belongs to no trace, and the comparison shows the warnings at each of its sides.
  if (workspace_.view == ViewId::kSweep || workspace_.view == ViewId::kCompare) return 0;
  const auto lines = Warnings(document.analysis->report, ui_.language);
  if (lines.empty()) return 0;
  const Palette& p = ui_.palette();
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "  ") + line;
  const Wrapped wrapped = WrapText(ui_.body, text, area.width() - ui_.Px(24), 2);
  const float pitch = FontPixels(ui_.body) + ui_.Px(3);
  const float height = pitch * static_cast<float>(wrapped.lines.size()) + ui_.Px(11);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(area.min, {area.max.x, area.min.y + height}, Ink(p.bad, 0.16), ui_.Px(6));
  list->AddRect(area.min, {area.max.x, area.min.y + height}, Ink(p.bad, 0.6), ui_.Px(6));
  float y = area.min.y + ui_.Px(7);
  for (const std::string& one : wrapped.lines) {
    DrawText(list, ui_.body, {area.min.x + ui_.Px(12), y}, Ink(p.text), one);
    y += pitch;
  }
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##warnings", {area.width(), height});
  if (wrapped.cut) Tip(ui_, text);
  return height + ui_.Px(10);
}

void App::DrawLoading(Area area) {
  const Palette& p = ui_.palette();
  const float width = std::min(ui_.Px(440), area.width());
  const ImVec2 at{area.min.x + (area.width() - width) / 2, area.min.y + area.height() * 0.36F};
  ImGui::SetCursorScreenPos(at);
  const std::string name =
      Elided(ui_.title, ui_.F(Text::kLoading, jobs_.own->path().filename().string()), width);
  DrawText(ImGui::GetWindowDrawList(), ui_.title, at, Ink(p.text), name);
  const float y = at.y + FontPixels(ui_.title) + ui_.Px(14);
  const float part = jobs_.own->progress();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({at.x, y}, {at.x + width, y + ui_.Px(8)}, Ink(p.raised), ui_.Px(4));
  list->AddRectFilled({at.x, y}, {at.x + std::max(part, 0.02F) * width, y + ui_.Px(8)},
                      Ink(p.accent), ui_.Px(4));
  const std::string word = part < 1 ? ui_.F(Text::kReadingSpans, std::lround(100 * part))
                                    : std::string(ui_.T(Text::kAnalysing));
  DrawText(list, ui_.body, {at.x, y + ui_.Px(20)}, Ink(p.dim), word);
  ImGui::SetCursorScreenPos(
      {at.x + width - ImGui::CalcTextSize(ui_.T(Text::kCancel)).x - ui_.Px(20), y + ui_.Px(16)});
  if (ImGui::Button(ui_.T(Text::kCancel))) {
    CancelLoading();
  }
}

void App::DrawError(Area area) {
  const Palette& p = ui_.palette();
  const float width = BeginColumn(ui_, area, 620, 0.3F);
  Paragraph(ui_, ui_.title, p.bad, ui_.T(Text::kCannotOpen), width);
  Paragraph(ui_, ui_.body, p.text, jobs_.error->message, width);
  ImGui::Dummy({1, ui_.Px(6)});
  if (PrimaryButton(ui_, ui_.T(Text::kOpen))) Choose(false);
  ImGui::SameLine();
  if (ImGui::Button(ui_.T(Text::kClose))) jobs_.error.reset();
  ImGui::EndGroup();
}

void App::DrawWelcome(Area area) {
  const Palette& p = ui_.palette();
  const float width = std::min(ui_.Px(560), area.width());
  const float x = area.min.x + (area.width() - width) / 2;
  DrawSign(ui_, {x, area.min.y + area.height() * 0.14F}, ui_.Px(44));
  ImGui::SetCursorScreenPos({x, area.min.y + area.height() * 0.14F + ui_.Px(66)});
  ImGui::BeginGroup();
  Paragraph(ui_, ui_.big, p.text, ui_.T(Text::kWelcome), width);
  ImGui::Dummy({1, ui_.Px(2)});
  if (const auto& sweep = workspace_.sweep.file) {
    const std::string name = sweep->path.filename().string();
    Paragraph(ui_, ui_.body, p.text, ui_.F(Text::kSweepIsOpen, name), width);
    if (ImGui::Button(ui_.T(Text::kShowSweep))) workspace_.view = ViewId::kSweep;
    ImGui::Dummy({1, ui_.Px(4)});
  }
  Paragraph(ui_, ui_.body, p.dim, ui_.T(Text::kWelcomeHow), width);
  ImGui::Dummy({1, ui_.Px(4)});
  if (PrimaryButton(ui_, ui_.T(Text::kOpen))) Choose(false);
  ImGui::Dummy({1, ui_.Px(10)});
  Paragraph(ui_, ui_.body, p.dim, ui_.T(Text::kWelcomeRecord), width);
  CodeBox(ui_, workspace_, kRecordCommand, width);
  std::optional<std::filesystem::path> chosen;
  if (!settings_.recent.empty()) {
    ImGui::Dummy({1, ui_.Px(10)});
    Paragraph(ui_, ui_.strong, p.text, ui_.T(Text::kRecent), width);
    for (const auto& path : settings_.recent) {
      ImGui::PushID(path.c_str());
      if (ImGui::Selectable("##recent", false, 0, {width, ui_.Px(22)})) chosen = path;
      const ImVec2 min = ImGui::GetItemRectMin();
      const std::string name = Elided(ui_.body, path.filename().string(), width);
      const float after = TextWidth(ui_.body, name) + ui_.Px(12);
      const std::string parent = path.parent_path().string();
      const std::string folder =
          after < width ? Elided(ui_.small, parent, width - after) : std::string();
      if (name != path.filename().string() || folder != parent) Tip(ui_, path.string());
      ImDrawList* list = ImGui::GetWindowDrawList();
      DrawText(list, ui_.body, {min.x, min.y + ui_.Px(3)}, Ink(p.text), name);
      DrawText(list, ui_.small, {min.x + after, min.y + ui_.Px(5)}, Ink(p.dim), folder);
      ImGui::PopID();
    }
  }
  ImGui::EndGroup();
  if (chosen) Open(*chosen);
}

}  // namespace penstock::gui
