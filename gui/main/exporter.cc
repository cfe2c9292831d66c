// SPDX-License-Identifier: Apache-2.0
#include "gui/main/exporter.h"

#include <algorithm>
#include <utility>

#include "analyzer/report/html_report.h"
#include "analyzer/whatif/grid.h"
#include "gui/model/timeline/own_times.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

constexpr double kSeconds = 5;     // how long a success is shown
constexpr int kPictureFrames = 4;  // a menu needs some frames to close

const ExportInfo& InfoOf(ExportKind kind) {
  const auto infos = Exports();
  return *std::find_if(infos.begin(), infos.end(),
                       [&](const ExportInfo& info) { return info.kind == kind; });
}

const CompareAnswer* AnswerOf(const Workspace& workspace) {
  const CompareViewState& state = workspace.compare;
  const bool ready = state.job && state.job->finished() && state.job->answer() &&
                     state.job_a == workspace.document.analysis && state.other.open();
  return ready ? &*state.job->answer() : nullptr;
}

}  // namespace

const char* ExportKeys(ExportKind kind) {
  return kind == ExportKind::kPicture  ? "Ctrl+Shift+P"
         : kind == ExportKind::kReport ? "Ctrl+Shift+H"
                                       : nullptr;
}

bool CanExport(const Workspace& workspace, ExportKind kind) {
  const Document& document = workspace.document;
  // Values that are not on the screen yet are not exported.
  const bool pending = workspace.PartFor(workspace.view) && workspace.part == nullptr;
  const bool analysed = document.analysis != nullptr && !pending;
  switch (kind) {
    case ExportKind::kPicture:
      return true;
    case ExportKind::kReport:
    case ExportKind::kFindings:
      return analysed;
    case ExportKind::kStages:
      return analysed && !document.analysis->report.stages.empty();
    case ExportKind::kWorkers:
      return analysed && document.analysis->report.diagnosis.run.has_loader() &&
             !document.analysis->report.diagnosis.run.loader().workers.empty();
    case ExportKind::kSelection:
      return document.complete() && document.trace != nullptr && workspace.Range().has_value();
    case ExportKind::kWhatIf:
      return analysed && analyzer::NotEnough(document.analysis->report.diagnosis).empty();
    case ExportKind::kSweep:
      return workspace.sweep.file != nullptr;
    case ExportKind::kCompare:
      return AnswerOf(workspace) != nullptr;
  }
  return false;
}

std::filesystem::path ProposedExport(const Workspace& workspace, ExportKind kind) {
  const bool sweep = kind == ExportKind::kSweep ||
                     (kind == ExportKind::kPicture && workspace.view == ViewId::kSweep);
  const std::filesystem::path& source =
      sweep && workspace.sweep.file ? workspace.sweep.file->path : workspace.document.path;
  if (kind == ExportKind::kPicture) {
    for (const ViewInfo& view : kViews) {
      if (view.id != workspace.view) continue;
      const std::string ending = "-" + std::string(view.name) + ".png";
      return ProposedName(source, {kind, Text::kExportPicture, ending});
    }
  }
  return ProposedName(source, InfoOf(kind));
}

Result<std::string> ExportText(const Workspace& workspace, ExportKind kind, Language language) {
  const Document& document = workspace.document;
  const Document& shown = workspace.Shown().analysis ? workspace.Shown() : document;
  switch (kind) {
    case ExportKind::kReport:
      return analyzer::ReportHtml(shown.analysis->report, shown.analysis->plots, language);
    case ExportKind::kStages:
      return StagesCsv(shown.analysis->report);
    case ExportKind::kWorkers:
      return WorkersCsv(shown.analysis->report);
    case ExportKind::kFindings:
      return FindingsCsv(shown.analysis->report);
    case ExportKind::kSelection: {
      const TimeRange range = *workspace.Range();
      const auto times = OwnTimes::Build(*document.trace, document.timeline,
                                         document.analysis->report.diagnosis.run);
      return SelectionCsv(times->Of(range), range);
    }
    case ExportKind::kWhatIf: {
      const analyzer::Diagnosis& diagnosis = shown.analysis->report.diagnosis;
      const WhatIfState& state = workspace.whatif;
      if (state.answer && *state.answer) return WhatIfCsv(**state.answer);
      const auto answer = Ask(diagnosis, Suggested(diagnosis));
      if (!answer) return tl::unexpected<Error>(answer.error().error());
      return WhatIfCsv(*answer);
    }
    case ExportKind::kSweep:
      return SweepCsv(*workspace.sweep.file);
    case ExportKind::kCompare:
      return CompareCsv(*AnswerOf(workspace));
    case ExportKind::kPicture:
      break;
  }
  return Fail(ErrorKind::kOutput, "a picture is no text");
}

void Notice::Say(std::string text, bool failed) {
  text_ = std::move(text);
  failed_ = failed;
  since_ = ImGui::GetTime();
}

void Notice::Draw(const Ui& ui) {
  if (text_.empty()) return;
  if (!failed_ && ImGui::GetTime() - since_ > kSeconds) {
    text_.clear();
    return;
  }
  const Palette& p = ui.palette();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float most = screen.x - ui.Px(80);
  const std::string shown = Elided(ui.body, text_, most);
  const ImVec2 size{TextWidth(ui.body, shown) + ui.Px(32), FontPixels(ui.body) + ui.Px(20)};
  const ImVec2 at{(screen.x - size.x) / 2, screen.y - size.y - ui.Px(18)};
  const Rgb colour = failed_ ? p.bad : p.good;
  ImDrawList* list = ImGui::GetForegroundDrawList();
  list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, Ink(p.raised), ui.Px(8));
  list->AddRect(at, {at.x + size.x, at.y + size.y}, Ink(colour), ui.Px(8), 0, ui.Px(1.5F));
  DrawText(list, ui.body, {at.x + ui.Px(16), at.y + ui.Px(10)}, Ink(p.text), shown);
  const bool inside = ImGui::IsMouseHoveringRect(at, {at.x + size.x, at.y + size.y}, false);
  if ((inside && ImGui::IsMouseClicked(0)) || Pressed(Key::kEscape)) text_.clear();
}

void PictureWish::Want(std::filesystem::path path) {
  path_ = std::move(path);
  frames_ = kPictureFrames;
}

std::optional<std::filesystem::path> PictureWish::FrameDrawn() {
  if (frames_ == 0) return std::nullopt;
  if (--frames_ > 0) return std::nullopt;
  return path_;
}

}  // namespace penstock::gui
