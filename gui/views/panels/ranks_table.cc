// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/workers_panels.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::PercentText;

constexpr std::array kRankColumns = {TableColumn{Text::kRankWorkers, 0.9F},
                                     TableColumn{Text::kRankCores, 0.8F, Text::kRankCoresTip},
                                     TableColumn{Text::kRankRate, 1.1F},
                                     TableColumn{Text::kRankWaits, 1.2F, Text::kRankWaitsTip},
                                     TableColumn{Text::kRankData, 1.25F, Text::kRankDataTip},
                                     TableColumn{Text::kRankStep, 1.9F, Text::kRankStepTip},
                                     TableColumn{Text::kRankHeldUp, 1.2F, Text::kRankHeldUpTip}};

std::string Sentence(const Ui& ui, const RanksModel& model) {
  switch (model.verdict) {
    case RankVerdict::kApart:
      return std::string(ui.T(Text::kRanksApart));
    case RankVerdict::kEven:
      return ui.F(Text::kRanksEven, PercentText(model.cost));
    case RankVerdict::kOneSlow:
      return ui.F(Text::kRanksOneSlow, PercentText(model.cost), model.slowest);
    case RankVerdict::kInTurn:
      return ui.F(Text::kRanksInTurn, PercentText(model.cost));
    case RankVerdict::kInStretches:
      return ui.F(Text::kRanksInStretches, PercentText(model.cost),
                  fmt::format("{:.0f}", model.stretch));
    case RankVerdict::kUnknown:
      break;
  }
  return std::string(ui.T(Text::kRanksUnknown));
}

void DrawRow(const Ui& ui, const RankLine& line) {
  const Palette& p = ui.palette();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  if (line.slow) ImGui::PushStyleColor(ImGuiCol_Text, Tint(p.bad));
  ImGui::TextUnformatted(ui.F(Text::kRankN, line.rank).c_str());
  if (line.slow) ImGui::PopStyleColor();
  Tip(ui, line.verdict ? fmt::format("pid {}\n{}", line.pid, ui.T(Text::kRankShown))
                       : fmt::format("pid {}", line.pid));
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(line.host.c_str());
  const auto cell = [&](const std::string& text) {
    ImGui::TableNextColumn();
    CellRight(ui, text, text == "–");
  };
  cell(CountText(line.workers));
  cell(line.cores > 0 ? fmt::format("{:.3g}", line.cores) : "–");
  cell(line.rate > 0 ? fmt::format("{:.4g}", line.rate) : "–");
  cell(PercentText(line.wait));
  cell(DurationText(line.data));
  cell(DurationText(line.step));
  cell(line.held_up > 0 ? PercentText(line.held_up) : "–");
}

void DrawRanksHead(const Ui& ui) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableNextColumn();
  ImGui::TableHeader("##rank");
  ImGui::TableNextColumn();
  ImGui::TableHeader(ui.T(Text::kRankHost));
  DrawHeads(ui, kRankColumns);
}

}  // namespace

void DrawRanksTable(const Ui& ui, const RanksModel& model, Area area) {
  const Palette& p = ui.palette();
  const auto recorded = static_cast<std::int32_t>(model.lines.size());
  const std::string title = model.world_size > recorded
                                ? ui.F(Text::kRanksSome, recorded, model.world_size)
                                : std::string(ui.T(Text::kRanks));
  Area inside = Headed(ui, Panel(ui, area), title);
  const bool bad = model.verdict >= RankVerdict::kOneSlow;
  DrawShortened(ui, ui.body, inside.min, Ink(bad ? p.bad : p.dim), Sentence(ui, model),
                inside.width());
  inside.min.y += FontPixels(ui.body) + ui.Px(8);
  BeginArea("ranks", inside, false);
  if (ImGui::BeginTable(
          "table", static_cast<int>(kRankColumns.size()) + 2,
          ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("##rank", 0, 0.8F);
    ImGui::TableSetupColumn(ui.T(Text::kRankHost), 0, 1.6F);
    SetUpColumns(ui, kRankColumns);
    DrawRanksHead(ui);
    for (const RankLine& line : model.lines) {
      ImGui::PushID(line.rank);
      DrawRow(ui, line);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  EndArea();
}

}  // namespace penstock::gui
