// SPDX-License-Identifier: Apache-2.0
//
// The compare view: two recordings side by side, what changed, and whether it is more than noise.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"
#include "gui/model/overview.h"
#include "gui/model/penstock_command.h"
#include "gui/views/files/compare_parts.h"
#include "gui/views/panel_parts.h"

namespace penstock::gui {
namespace {

using analyzer::PercentText;
using analyzer::ShortNumber;

void DrawNothingToCompare(const Ui& ui, Workspace& workspace, Area area) {
  const Palette& p = ui.palette();
  const float width = BeginColumn(ui, area, 620, 0.25F);
  Paragraph(ui, ui.big, p.text, ui.T(Text::kCompareNone), width);
  Paragraph(ui, ui.body, p.dim, ui.T(Text::kCompareHow), width);
  ImGui::Dummy({1, ui.Px(4)});
  const bool first = !workspace.document.open();
  if (PrimaryButton(ui, ui.T(first ? Text::kOpen : Text::kOpenToCompare))) {
    workspace.wish = {first ? WishKind::kChoose : WishKind::kChooseOther, {}, {}};
  }
  if (!first) {
    ImGui::Dummy({1, ui.Px(4)});
    Paragraph(ui, ui.body, p.dim, "A  " + workspace.document.path.string(), width);
  }
  ImGui::Dummy({1, ui.Px(10)});
  Paragraph(ui, ui.body, p.dim, ui.T(first ? Text::kWelcomeRecord : Text::kCompareMake), width);
  CodeBox(ui, workspace, PenstockCommand(workspace.document.trace.get(), "record"), width);
  ImGui::EndGroup();
}

// Draws a letter in a disc.
void DrawLetter(const Ui& ui, ImVec2 at, bool b) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float r = ui.Px(10);
  const Rgb colour = SideColour(ui, b);
  list->AddCircleFilled({at.x + r, at.y + r}, r, Ink(colour));
  DrawTextCentred(list, ui.strong, {at, {at.x + 2 * r, at.y + 2 * r}}, Ink(InkOn(colour)),
                  b ? "B" : "A");
}

// Draws a file: its name, the settings of its loader, and the warnings about its recording.
void DrawSide(const Ui& ui, const Document& document, const analyzer::SideFacts* side, bool b,
              Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  DrawLetter(ui, area.min, b);
  const float x = area.min.x + ui.Px(28);
  const std::string name = document.path.filename().string();
  DrawText(list, ui.strong, {x, area.min.y + ui.Px(1)}, Ink(p.text),
           Elided(ui.strong, name, area.max.x - x));
  std::string line = side == nullptr ? "" : SideText(*side, ui.language);
  Rgb colour = p.dim;
  const auto warnings = Warnings(document.analysis->report, ui.language);
  if (!warnings.empty()) {
    line += (line.empty() ? "" : "  ·  ") + warnings.front();
    colour = p.bad;
  }
  DrawText(list, ui.small, {x, area.min.y + FontPixels(ui.strong) + ui.Px(5)}, Ink(colour),
           Elided(ui.small, line, area.max.x - x));
  ImGui::SetCursorScreenPos(area.min);
  ImGui::PushID(b ? 1 : 0);
  ImGui::InvisibleButton("##side", {std::max(1.0F, area.width()), std::max(1.0F, area.height())});
  ImGui::PopID();
  Tip(ui, document.path.string() + (line.empty() ? "" : "\n" + line));
}

// Draws the result and the two files. Returns its height.
float DrawHead(const Ui& ui, Workspace& workspace, const CompareAnswer* answer,
               const CompareSentence& sentence, Area area) {
  const Palette& p = ui.palette();
  const float width = area.width() - ui.Px(28);
  const auto lines = WrapText(ui.title, sentence.text, width);
  const auto whys =
      sentence.why.empty() ? std::vector<std::string>{} : WrapText(ui.body, sentence.why, width);
  const float title = FontPixels(ui.title) + ui.Px(4);
  const float body = FontPixels(ui.body) + ui.Px(4);
  const float side = FontPixels(ui.strong) + FontPixels(ui.small) + ui.Px(8);
  const float height = ui.Px(34) + title * static_cast<float>(lines.size()) +
                       body * static_cast<float>(whys.size()) + side;
  const Area in = Panel(ui, {area.min, {area.max.x, area.min.y + height}});
  ImDrawList* list = ImGui::GetWindowDrawList();
  float y = in.min.y;
  for (const std::string& line : lines) {
    DrawText(list, ui.title, {in.min.x, y}, Ink(p.text), line);
    y += title;
  }
  for (const std::string& line : whys) {
    DrawText(list, ui.body, {in.min.x, y}, Ink(p.dim), line);
    y += body;
  }
  y += ui.Px(10);
  const auto width_of = [&](Text text) {
    return ImGui::CalcTextSize(ui.T(text)).x + 2 * ImGui::GetStyle().FramePadding.x;
  };
  const float buttons = width_of(Text::kSwap) + width_of(Text::kOpenToCompare) + ui.Px(6);
  const float half = (in.width() - buttons - ui.Px(30)) / 2;
  DrawSide(ui, workspace.document, answer == nullptr ? nullptr : &answer->comparison.before, false,
           {{in.min.x, y}, {in.min.x + half, y + side}});
  DrawSide(ui, workspace.compare.other, answer == nullptr ? nullptr : &answer->comparison.after,
           true, {{in.min.x + half + ui.Px(12), y}, {in.min.x + 2 * half + ui.Px(12), y + side}});
  ImGui::SetCursorScreenPos({in.max.x - buttons, y + ui.Px(2)});
  if (ImGui::Button(ui.T(Text::kSwap))) workspace.wish = {WishKind::kSwap, {}, {}};
  ImGui::SameLine(0, ui.Px(6));
  if (ImGui::Button(ui.T(Text::kOpenToCompare))) workspace.wish = {WishKind::kChooseOther, {}, {}};
  return height;
}

// Draws two bars, one for each side, with the figures beside them.
void DrawPair(const Ui& ui, double before, double after, double most, const std::string& text_a,
              const std::string& text_b, Area area) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = ui.palette();
  const float pitch = area.height() / 2;
  const float text = std::max(TextWidth(ui.strong, text_a), TextWidth(ui.strong, text_b));
  const float room = std::max(ui.Px(20), area.width() - text - ui.Px(30));
  const auto bar = [&](int row, double value, const std::string& words) {
    const float y = area.min.y + pitch * static_cast<float>(row);
    const float height = std::min(pitch - ui.Px(4), ui.Px(16));
    const float length =
        most > 0 ? static_cast<float>(std::clamp(value / most, 0.0, 1.0)) * room : 0.0F;
    DrawText(list, ui.small, {area.min.x, y + (height - FontPixels(ui.small)) / 2}, Ink(p.dim),
             row == 0 ? "A" : "B");
    const float x = area.min.x + ui.Px(16);
    list->AddRectFilled({x, y}, {x + room, y + height}, Ink(p.raised), ui.Px(3));
    list->AddRectFilled({x, y}, {x + std::max(length, ui.Px(1)), y + height},
                        Ink(SideColour(ui, row == 1)), ui.Px(3));
    DrawText(list, ui.strong, {x + room + ui.Px(8), y + (height - FontPixels(ui.strong)) / 2},
             Ink(p.text), words);
  };
  bar(0, before, text_a);
  bar(1, after, text_b);
}

void DrawCard(const Ui& ui, Area area, const std::string& title, const CompareNote& note,
              double before, double after, double most, const std::string& text_a,
              const std::string& text_b) {
  const Area panel = Panel(ui, area);
  const Area in = Headed(ui, panel, Elided(ui.strong, title, panel.width()));
  DrawPair(ui, before, after, most, text_a, text_b,
           {in.min, {in.max.x, in.max.y - FontPixels(ui.small) - ui.Px(4)}});
  DrawShortened(ui, ui.small, {in.min.x, in.max.y - FontPixels(ui.small)},
                Ink(JudgedColour(ui, note.tone)), note.text, in.width());
}

void DrawCards(const Ui& ui, const CompareAnswer& answer, Area area) {
  const Palette& p = ui.palette();
  const analyzer::Comparison& comparison = answer.comparison;
  const float gap = ui.Px(10);
  const float width = std::floor((area.width() - 2 * gap) / 3);
  const auto card = [&](int place) {
    const float x = area.min.x + (width + gap) * static_cast<float>(place);
    return Area{{x, area.min.y}, {place == 2 ? area.max.x : x + width, area.max.y}};
  };
  const analyzer::Change& rate = comparison.throughput;
  DrawCard(ui, card(0),
           fmt::format("{}{}{}", ui.T(Text::kThroughput), ui.T(Text::kComma),
                       Render(comparison.unit, ui.language)),
           NoteOfRate(answer, ui.language), rate.before, rate.after,
           std::max(rate.before, rate.after), ShortNumber(rate.before), ShortNumber(rate.after));
  const analyzer::Change& wait = comparison.wait;
  DrawCard(
      ui, card(1),
      fmt::format("{}{}{}", ui.T(Text::kWaitsForData), ui.T(Text::kComma), ui.T(Text::kOfTheLoop)),
      NoteOfWait(answer, ui.language), wait.before, wait.after, 1.0, PercentText(wait.before),
      PercentText(wait.after));
  const Area in = Headed(ui, Panel(ui, card(2)), ui.T(Text::kBottleneckTitle));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float pitch = (in.height() - FontPixels(ui.small) - ui.Px(4)) / 2;
  float y = in.min.y;
  for (const bool b : {false, true}) {
    const analyzer::SideFacts& side = b ? comparison.after : comparison.before;
    DrawText(list, ui.small, {in.min.x, y + (FontPixels(ui.strong) - FontPixels(ui.small)) / 2},
             Ink(p.dim), b ? "B" : "A");
    DrawText(list, ui.strong, {in.min.x + ui.Px(16), y}, Ink(p.text),
             ui.T(NameOf(side.bottleneck)));
    y += pitch;
  }
  const bool same = comparison.before.bottleneck == comparison.after.bottleneck;
  DrawText(list, ui.small, {in.min.x, in.max.y - FontPixels(ui.small)}, Ink(p.dim),
           ui.T(same ? Text::kUnchanged : Text::kMoved));
}

void DrawMessage(const Ui& ui, Area area, Text title, const std::string& detail) {
  const float width = std::min(area.width(), ui.Px(620));
  ImGui::SetCursorScreenPos(
      {area.min.x + (area.width() - width) / 2, area.min.y + area.height() * 0.3F});
  ImGui::BeginGroup();
  Paragraph(ui, ui.title, ui.palette().text, ui.T(title), width);
  if (!detail.empty()) Paragraph(ui, ui.body, ui.palette().dim, detail, width);
  ImGui::EndGroup();
}

}  // namespace

Rgb JudgedColour(const Ui& ui, Tone tone) {
  const Palette& p = ui.palette();
  return tone == Tone::kGood ? p.good : tone == Tone::kBad ? p.bad : p.dim;
}

Rgb SideColour(const Ui& ui, bool b) {
  return b ? ui.palette().accent : Mix(ui.palette().dim, ui.palette().panel, 0.25);
}

void DrawCompare(const Ui& ui, Workspace& workspace, Area area) {
  const Document& a = workspace.document;
  CompareViewState& state = workspace.compare;
  if (!a.open() || !state.other.open()) return DrawNothingToCompare(ui, workspace, area);
  if (a.analysis == nullptr || a.trace == nullptr || state.other.analysis == nullptr) {
    return DrawMessage(ui, area, Text::kAnalysing, {});
  }
  const float gap = ui.Px(10);
  area = BeginScrolled("compare view", area, ui.Px(600));
  const Area whole = area;
  const analyzer::Predicted<CompareAnswer>* result = state.Answer(a, workspace.wake);
  if (result == nullptr || !*result) {
    CompareSentence sentence;
    sentence.text = ui.T(result == nullptr ? Text::kComparing : Text::kCannotCompare);
    for (const Document* side : {&a, &std::as_const(state.other)}) {
      if (result == nullptr || side->analysis->report.diagnosis.loader) continue;
      sentence.why = ui.F(Text::kNoLoaderIn, side->path.filename().string());
    }
    if (result != nullptr && sentence.why.empty()) {
      sentence.why = Typeset(Render(result->error().why, ui.language));
    }
    DrawHead(ui, workspace, nullptr, sentence, area);
    EndScrolled(whole);
    return;
  }
  const CompareAnswer& answer = **result;
  const auto settings = SettingsThatDiffer(a, state.other, answer, ui.language);
  area.min.y +=
      DrawHead(ui, workspace, &answer, SentenceOf(answer, settings, ui.language), area) + gap;
  const float cards = ui.Px(104);
  DrawCards(ui, answer, {area.min, {area.max.x, area.min.y + cards}});
  area.min.y += cards + gap;
  const float left = std::floor((area.width() - gap) * 0.62F);
  DrawCompareStages(ui, answer,
                    Headed(ui, Panel(ui, {area.min, {area.min.x + left, area.max.y}}),
                           ui.T(Text::kTimeOfASample)));
  const float x = area.min.x + left + gap;
  // Usually few settings differ; the findings get the height that the settings do not need.
  const float need = FontPixels(ui.strong) + ui.Px(30) +
                     CompareSettingsHeight(ui, settings, area.max.x - x - ui.Px(28));
  const float middle = std::min(std::floor((area.min.y + area.max.y - gap) / 2), area.min.y + need);
  DrawCompareSettings(
      ui, settings,
      Headed(ui, Panel(ui, {{x, area.min.y}, {area.max.x, middle}}), ui.T(Text::kSettingsDiffer)));
  DrawCompareFindings(
      ui, answer,
      Headed(ui, Panel(ui, {{x, middle + gap}, area.max}), ui.T(Text::kFindingsChanged)));
  EndScrolled(whole);
}

}  // namespace penstock::gui
