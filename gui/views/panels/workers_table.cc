// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/workers_panels.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using traces::StageId;

constexpr std::array kWorkerColumns = {
    TableColumn{Text::kWorkerBatches, 0.85F},
    TableColumn{Text::kWorkerBatch, 1.0F},
    TableColumn{Text::kWorkerAgainst, 1.15F, Text::kWorkerAgainstTip},
    TableColumn{Text::kWorkerStartup, 1.5F, Text::kWorkerStartupTip},
    TableColumn{Text::kBusy, 1.0F},
    TableColumn{Text::kCpu, 1.0F},
    TableColumn{Text::kIdleTime, 1.0F},
    TableColumn{Text::kWorkerMemory, 1.2F, Text::kWorkerMemoryTip},
    TableColumn{Text::kWorkerGrowth, 1.25F}};

// Draws what is neither busy nor idle: hollow, because a shade is hardly seen on a panel.
void DrawRest(const Ui& ui, Area area, float rounding) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(area.min, area.max, Ink(p.raised), rounding);
  list->AddRect(area.min, area.max, Ink(p.dim, 0.6), rounding);
}

// Draws the worker's life as a bar: busy (its computing part is darker), idle, and the rest.
void DrawLifeBar(const Ui& ui, const WorkerLine& worker, Text rest_name, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ui.Px(14);
  const auto length = [&](double seconds) {
    return static_cast<float>(std::clamp(seconds / std::max(worker.life, 1e-9), 0.0, 1.0)) * width;
  };
  DrawRest(ui, {at, {at.x + width, at.y + height}}, ui.Px(3));
  const float busy = length(worker.busy);
  const float cpu = std::min(length(worker.cpu), busy);
  list->AddRectFilled(at, {at.x + busy, at.y + height}, Ink(p.accent, 0.45), ui.Px(3));
  list->AddRectFilled(at, {at.x + cpu, at.y + height}, Ink(p.accent), ui.Px(3));
  const float idle = std::min(length(worker.idle), width - busy);
  list->AddRectFilled({at.x + busy, at.y}, {at.x + busy + idle, at.y + height},
                      ui.Stage(StageId::kIdle), ui.Px(3));
  ImGui::Dummy({width, height});
  const auto share = [&](double seconds) {
    return analyzer::PercentText(std::min(1.0, seconds / std::max(worker.life, 1e-9)));
  };
  const double rest = std::max(0.0, worker.life - worker.busy - worker.idle);
  Tip(ui, fmt::format("{}: {}\n{}: {}\n{}: {}\n{}: {}\n{}", ui.T(Text::kBusyComputing),
                      share(worker.cpu), ui.T(Text::kBusyWaiting), share(worker.busy - worker.cpu),
                      ui.T(Text::kIdle), share(worker.idle), ui.T(rest_name), share(rest),
                      ui.T(Text::kLifeRestTip)));
}

void DrawRow(const Ui& ui, Workspace& workspace, const WorkerLine& worker, Text rest_name) {
  const Palette& p = ui.palette();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool chosen = workspace.ChosenWorker() == worker.process;
  const std::string name = NameOfWorker(worker, ui.language);
  if (ImGui::Selectable(name.c_str(), chosen,
                        ImGuiSelectableFlags_SpanAllColumns | kMayBeCovered)) {
    const bool again = workspace.workers.chosen == worker.process;
    workspace.workers.chosen = again ? std::nullopt : std::optional(worker.process);
  }
  Tip(ui, fmt::format("pid {}\n{}", worker.pid, ui.T(Text::kWorkerRowTip)));
  const auto cell = [&](const std::string& text) {
    ImGui::TableNextColumn();
    CellRight(ui, text, text == "–");
  };
  cell(CountText(static_cast<double>(worker.batches)));
  cell(worker.batches > 0 ? DurationText(worker.batch) : "–");
  ImGui::TableNextColumn();
  if (worker.slow) ImGui::PushStyleColor(ImGuiCol_Text, Tint(p.bad));
  const std::string against = AgainstText(worker, ui.language);
  const float width = ImGui::CalcTextSize(against.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
  ImGui::TextUnformatted(against.c_str());
  if (worker.slow) ImGui::PopStyleColor();
  if (worker.slowdown <= 0) Tip(ui, ui.F(Text::kFewerBatchesTip, kFewBatches));
  cell(worker.startup >= 0 ? DurationText(worker.startup) : "–");
  for (const double seconds : {worker.busy, worker.cpu, worker.idle}) cell(DurationText(seconds));
  cell(MemoryText(worker));
  cell(GrowthText(worker, ui.language));
  if (worker.memory >= 0 && worker.growth_short) Tip(ui, ui.T(Text::kGrowthTooShort));
  ImGui::TableNextColumn();
  DrawLifeBar(ui, worker, rest_name, ImGui::GetContentRegionAvail().x);
}

void DrawLegend(const Ui& ui, Text rest_name, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float right = area.max.x;
  const auto entry = [&](Text name, std::optional<ImU32> colour) {
    right -= TextWidth(ui.small, ui.T(name));
    DrawText(list, ui.small, {right, area.min.y}, Ink(p.dim), ui.T(name));
    right -= ui.Px(15);
    const Area swatch{{right, area.min.y + ui.Px(2)}, {right + ui.Px(10), area.min.y + ui.Px(12)}};
    if (colour) {
      list->AddRectFilled(swatch.min, swatch.max, *colour, ui.Px(2));
    } else {
      DrawRest(ui, swatch, ui.Px(2));
    }
    right -= ui.Px(14);
  };
  entry(rest_name, std::nullopt);
  entry(Text::kIdle, ui.Stage(StageId::kIdle));
  entry(Text::kBusyWaiting, Ink(p.accent, 0.45));
  entry(Text::kBusyComputing, Ink(p.accent));
}

void DrawWorkersHead(const Ui& ui) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableNextColumn();
  ImGui::TableHeader("##worker");
  DrawHeads(ui, kWorkerColumns);
  ImGui::TableNextColumn();
  ImGui::TableHeader(ui.T(Text::kLife));
}

// Says in a sentence which worker stands out.
void DrawSentence(const Ui& ui, const WorkersModel& model, Area area) {
  const Palette& p = ui.palette();
  if (model.slowest <= 0) return;
  const bool slow = model.workers[model.straggler].slow;
  DrawShortened(ui, ui.body, area.min, Ink(slow ? p.bad : p.dim), StandsOutText(model, ui.language),
                area.width());
}

}  // namespace

void DrawWorkersTable(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area) {
  const Palette& p = ui.palette();
  const analyzer::Diagnosis& diagnosis = workspace.Shown().analysis->report.diagnosis;
  const bool loader = diagnosis.run.has_loader();
  const Area panel = Panel(ui, area);
  const analyzer::RankPlace* place =
      loader && diagnosis.ranks.several()
          ? diagnosis.run.ranks.Find(diagnosis.run.loader().config.consumer)
          : nullptr;
  Area inside = Headed(ui, panel,
                       place != nullptr ? ui.F(Text::kWorkersOfRank, place->rank)
                                        : std::string(ui.T(Text::kWorkers)));
  if (model.workers.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, inside, Ink(p.dim),
                    ui.T(WhyNoWorkers(diagnosis.run)));
    return;
  }
  const Text rest_name = LifeRestName(diagnosis.run);
  DrawLegend(ui, rest_name, panel);
  DrawSentence(ui, model, inside);
  if (model.slowest > 0) inside.min.y += FontPixels(ui.body) + ui.Px(8);
  BeginArea("workers", inside, false);
  if (ImGui::BeginTable(
          "table", static_cast<int>(kWorkerColumns.size()) + 2,
          ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    const bool pids = std::any_of(model.workers.begin(), model.workers.end(),
                                  [](const WorkerLine& worker) { return worker.namesake; });
    ImGui::TableSetupColumn("##worker", 0, pids ? 1.9F : 1.15F);
    SetUpColumns(ui, kWorkerColumns);
    ImGui::TableSetupColumn(ui.T(Text::kLife), 0, 3.2F);
    DrawWorkersHead(ui);
    for (const WorkerLine& worker : model.workers) {
      ImGui::PushID(static_cast<int>(worker.process));
      DrawRow(ui, workspace, worker, rest_name);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  EndArea();
}

}  // namespace penstock::gui
