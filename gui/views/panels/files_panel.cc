// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/io_panels.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::DurationText;

struct FileTableColumn {
  Text title;
  float weight;
  FileColumn key;
};
constexpr std::array kFileColumns = {
    FileTableColumn{Text::kSpanFile, 2.5F, FileColumn::kPath},
    FileTableColumn{Text::kIoColumnReads, 0.8F, FileColumn::kReads},
    FileTableColumn{Text::kSpanBytes, 1.0F, FileColumn::kBytes},
    FileTableColumn{Text::kWall, 1.05F, FileColumn::kWall},
    FileTableColumn{Text::kIoColumnTotal, 1.5F, FileColumn::kTotal},
    FileTableColumn{Text::kIoColumnLongest, 1.05F, FileColumn::kLongest},
    FileTableColumn{Text::kIoColumnRate, 1.15F, FileColumn::kRate}};

void DrawRow(const Ui& ui, const Workspace& workspace, const IoModel& io, const FileRow& file,
             bool of_chosen, std::optional<Call>* chosen) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushID(static_cast<int>(file.object.value));
  if (ImGui::Selectable("##file", of_chosen, ImGuiSelectableFlags_SpanAllColumns)) {
    *chosen = file.slowest;
  }
  ImGui::PopID();
  const std::string path =
      analyzer::PlainText(workspace.reading.model.key().trace->String(file.object), 400);
  if (ImGui::IsItemHovered()) {
    std::string tip =
        fmt::format("{}\n{}: {}\n", path, ui.T(Text::kIoColumnSamples), SamplesText(file, 3));
    if (file.first_decode > 0) {
      tip += ui.F(Text::kIoFirstDecode, DurationText(file.first_decode)) + "\n";
    }
    Tip(ui, tip + ui.T(Text::kStageGoTip));
  }
  const std::string below = path.starts_with(io.folder) ? path.substr(io.folder.size()) : path;
  DrawText(ImGui::GetWindowDrawList(), ui.body, at, Ink(ui.palette().text),
           PathElided(ui.body, below.empty() ? path : below, width));
  const auto cell = [&](const std::string& text) {
    ImGui::TableNextColumn();
    CellRight(ui, text, false);
  };
  cell(CountText(static_cast<double>(file.reads)));
  cell(BytesText(file.bytes));
  cell(DurationText(file.wall));
  cell(io.decoded && file.total_known() ? DurationText(file.total()) : "–");
  cell(DurationText(static_cast<double>(file.slowest.wall) * 1e-9));
  cell(file.rate() > 0 ? BytesText(static_cast<std::uint64_t>(file.rate())) + "/s" : "–");
  ImGui::TableNextColumn();
  // Ids are left out as a whole, because half a number is another one.
  std::size_t shown = file.sample_count;
  const float room = ImGui::GetContentRegionAvail().x;
  while (shown > 0 && TextWidth(ui.body, SamplesText(file, shown)) > room) --shown;
  CellRight(ui, SamplesText(file, shown), true);
}

// Sorts again if something that the order depends on has changed.
void KeepOrder(Workspace& workspace, const IoModel& io) {
  IoState& state = workspace.reading;
  const IoState::OrderKey key{state.model.key(), state.column, state.descending};
  if (state.ordered == key && state.order.size() == io.files.size()) return;
  state.order = SortFiles(*state.model.key().trace, io.files, state.column, state.descending);
  state.ordered = key;
}

}  // namespace

void DrawFiles(const Ui& ui, Workspace& workspace, const IoModel& io, Area area) {
  const Palette& p = ui.palette();
  const Area panel = Panel(ui, area);
  if (io.file_count > io.files.size()) {
    DrawTextRight(ImGui::GetWindowDrawList(), ui.small, panel.max.x, panel.min.y, Ink(p.dim),
                  ui.F(Text::kIoSlowestShown, CountText(static_cast<double>(io.files.size())),
                       CountText(static_cast<double>(io.file_count))));
  }
  // The table gives the paths below the folder that holds all files.
  const std::string title = ui.T(Text::kIoSlowestFiles);
  const Area inside = Headed(ui, panel, title);
  if (!io.folder.empty()) {
    const float left = TextWidth(ui.strong, title) + ui.Px(12);
    DrawText(ImGui::GetWindowDrawList(), ui.small,
             {panel.min.x + left, panel.min.y + FontPixels(ui.strong) - FontPixels(ui.small)},
             Ink(p.dim), PathElided(ui.small, io.folder, panel.width() - left - ui.Px(110)));
  }
  if (!io.paths) {
    ImGui::SetCursorScreenPos(inside.min);
    Paragraph(ui, ui.body, p.dim, ui.T(Text::kIoNoPaths), inside.width());
    return;
  }
  std::optional<Call> chosen;
  std::vector<StringId> of_chosen;  // the files of the chosen span
  if (const auto span = workspace.ChosenSpan()) {
    of_chosen.push_back(workspace.document.timeline->detail(*span).object);
    for (const SampleData::File& file : workspace.SampleOf(*span).files) {
      of_chosen.push_back(file.path);
    }
  }
  BeginArea("files", inside, false);
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_Sortable | ImGuiTableFlags_SizingStretchProp;
  if (ImGui::BeginTable("table", static_cast<int>(kFileColumns.size()) + 1, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const FileTableColumn& column : kFileColumns) {
      ImGuiTableColumnFlags sorting = ImGuiTableColumnFlags_PreferSortDescending;
      if (column.key == FileColumn::kPath) sorting = ImGuiTableColumnFlags_None;
      if (column.key == FileColumn::kTotal) sorting |= ImGuiTableColumnFlags_DefaultSort;
      ImGui::TableSetupColumn(ui.T(column.title), sorting, column.weight);
    }
    ImGui::TableSetupColumn(ui.T(Text::kIoColumnSamples), ImGuiTableColumnFlags_NoSort, 1.7F);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    ImGui::TableHeader(ui.T(Text::kSpanFile));
    for (std::size_t i = 1; i < kFileColumns.size(); ++i) {
      ImGui::TableNextColumn();
      const bool total = kFileColumns[i].key == FileColumn::kTotal;
      HeadRight(ui, ui.T(kFileColumns[i].title), total ? ui.T(Text::kIoTotalTip) : "");
    }
    ImGui::TableNextColumn();
    HeadRight(ui, ui.T(Text::kIoColumnSamples), "");
    const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
    if (sort != nullptr && sort->SpecsCount > 0) {
      workspace.reading.column =
          kFileColumns[static_cast<std::size_t>(sort->Specs[0].ColumnIndex)].key;
      workspace.reading.descending = sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    }
    KeepOrder(workspace, io);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(workspace.reading.order.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const std::uint32_t place = workspace.reading.order[static_cast<std::size_t>(i)];
        const FileRow& file = io.files[place];
        const bool own =
            std::find(of_chosen.begin(), of_chosen.end(), file.object) != of_chosen.end();
        DrawRow(ui, workspace, io, file, own, &chosen);
      }
    }
    ImGui::EndTable();
  }
  EndArea();
  if (chosen) workspace.ShowCall(*chosen);
}

}  // namespace penstock::gui
