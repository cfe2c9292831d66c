// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/words/format.h"
#include "gui/model/panels/stage_cells.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panels/stage_panels.h"
#include "gui/views/thumbnails.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

// `brief`: without the file of the batch's loader.
std::vector<std::string> PartsOfCall(const Ui& ui, const Workspace& workspace,
                                     const StageLine& line, const Call& call, bool brief) {
  const TailKey& key = workspace.stages.tail.key();
  std::string batch;
  if (call.detail.key().valid()) {
    const bool timeline = workspace.document.timeline && !workspace.document.timeline->preview;
    batch = timeline ? workspace.BatchNameOf(call.detail, ui.language, brief)
                     : std::to_string(call.detail.batch);
  }
  return CallParts(*key.of.trace, line, call, batch,
                   key.of.analysis->report.diagnosis.ranks.several(), ui.language);
}

// The parts that fit; if the first one does not, its beginning.
std::string FittingText(ImFont* font, const std::vector<std::string>& parts, float width) {
  std::string text =
      FittingParts(parts, [&](const std::string& line) { return TextWidth(font, line) <= width; });
  return text.empty() && !parts.empty() ? Elided(font, parts.front(), width) : text;
}

// Draws a card beside the pointer with the words for a call and its picture. `whole`: the words
// with the file of the batch's loader; not drawn if they are those of `brief`.
void DrawCallCard(const Ui& ui, Workspace& workspace, const std::string& file,
                  const std::string& brief, const std::string& whole) {
  BeginCard(ui);
  const auto line = [&ui](std::string_view text, Rgb colour) {
    Paragraph(ui, ui.body, colour, text, std::min(TextWidth(ui.body, text) + 1, ui.Px(420)));
  };
  line(brief, ui.palette().text);
  if (whole != brief) line(whole, ui.palette().dim);
  line(ui.T(Text::kStageGoTip), ui.palette().dim);
  if (const Thumbnail* thumbnail = ThumbnailOf(workspace, file)) {
    constexpr float kCell = 2;
    DrawThumbnail(ui, *thumbnail, ImGui::GetCursorScreenPos(), kCell);
    ImGui::Dummy({ui.Px(kCell * static_cast<float>(thumbnail->width)),
                  ui.Px(kCell * static_cast<float>(thumbnail->height))});
    line(ThumbnailNote(*thumbnail), ui.palette().dim);
  }
  EndCard();
}

// Draws a row for each call. Returns the call that was clicked.
std::optional<Call> DrawCalls(const Ui& ui, Workspace& workspace, const StageLine& line,
                              const Tail& tail, Area area) {
  const Palette& p = ui.palette();
  const traces::Trace& trace = *workspace.stages.tail.key().of.trace;
  std::optional<Call> chosen;
  BeginArea("tail", area, true);
  const TailKey& key = workspace.stages.tail.key();
  const StagesState::Listed now{key.calls, key.of.range};
  if (workspace.stages.listed != now) ImGui::SetScrollY(0);
  workspace.stages.listed = now;
  const float width = ImGui::GetContentRegionAvail().x - ui.Px(4);
  const float pitch = ui.Px(19);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(tail.calls.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const Call& call = tail.calls[static_cast<std::size_t>(i)];
      ImGui::PushID(i);
      if (ImGui::Selectable("##call", workspace.IsOfChosen(call), 0, {width, pitch})) chosen = call;
      ImGui::PopID();
      if (ImGui::IsItemHovered()) {
        const auto words = [&](bool brief) {
          return fmt::format("{}",
                             fmt::join(PartsOfCall(ui, workspace, line, call, brief), "  ·  "));
        };
        DrawCallCard(ui, workspace, std::string(trace.String(call.file)), words(true),
                     words(false));
      }
      const ImVec2 at = ImGui::GetItemRectMin();
      ImDrawList* list = ImGui::GetWindowDrawList();
      const float y = at.y + ui.Px(2);
      DrawTextRight(list, ui.strong, at.x + ui.Px(70), y, Ink(p.text),
                    DurationText(static_cast<double>(call.wall) * 1e-9));
      DrawText(
          list, ui.body, {at.x + ui.Px(84), y}, Ink(p.dim),
          FittingText(ui.body, PartsOfCall(ui, workspace, line, call, true), width - ui.Px(84)));
    }
  }
  EndArea();
  return chosen;
}

}  // namespace

void DrawTail(const Ui& ui, Workspace& workspace, const StageLine& line, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const TailQuestion question = CallsOf(line.id, workspace.stages.bin);
  const TailKey key{workspace.question(), question};
  const Tail* tail =
      workspace.stages.tail.Get(key, workspace.at_once, [=](const std::stop_token& stop) {
        return FindTail(key.of.extent(), *key.of.analysis, key.calls, stop);
      });
  const std::string name = NameOf(line, 40, ui.language);
  const bool some = workspace.stages.bin.has_value();
  std::string title = some ? ui.F(Text::kStageCallsBetween, name, DurationText(question.low),
                                  DurationText(question.high))
                           : ui.F(Text::kStageCallsAbove, name);
  float right = area.max.x;
  if (some) {
    const float button = TextWidth(ui.body, ui.T(Text::kAllCalls)) + ui.Px(20);
    right -= button;
    ImGui::SetCursorScreenPos({right, area.min.y - ui.Px(4)});
    if (ImGui::Button(ui.T(Text::kAllCalls))) workspace.stages.bin.reset();
    right -= ui.Px(10);
  } else if (tail != nullptr && tail->count > tail->calls.size()) {
    const std::string shown =
        ui.F(Text::kStageCallsShown, CountText(static_cast<double>(tail->calls.size())),
             CountText(static_cast<double>(tail->count)));
    DrawTextRight(list, ui.small, right, area.min.y + ui.Px(1), Ink(p.dim), shown);
    right -= TextWidth(ui.small, shown) + ui.Px(10);
  }
  DrawText(list, ui.strong, area.min, Ink(p.text), Elided(ui.strong, title, right - area.min.x));
  area.min.y += FontPixels(ui.strong) + ui.Px(8);
  if (tail == nullptr) {
    DrawText(list, ui.body, area.min, Ink(p.dim), ui.T(Text::kAnalysing));
    return;
  }
  if (const auto chosen = DrawCalls(ui, workspace, line, *tail, area)) workspace.ShowCall(*chosen);
}

}  // namespace penstock::gui
