// SPDX-License-Identifier: Apache-2.0
//
// The contents of the list of commands (Ctrl+P) and of the list of recent files (Ctrl+R).
#include <string>
#include <vector>

#include "gui/main/app.h"
#include "gui/main/view_command.h"
#include "gui/model/words/stage_words.h"

namespace penstock::gui {

std::vector<Command> App::RecentCommands() {
  std::vector<Command> commands;
  for (const std::filesystem::path& path : settings_.recent) {
    commands.push_back({path.filename().string(), path.parent_path().string(),
                        [this, path] { Opened(path, false); }});
  }
  return commands;
}

std::vector<Command> App::TimelineCommands() {
  std::vector<Command> commands;
  const std::shared_ptr<const Timeline> timeline = workspace_.document.timeline;
  if (!timeline) return commands;
  TimelineState& state = workspace_.timeline;
  const auto add = [&](std::string name, std::string keys, std::function<void()> run) {
    commands.push_back({std::move(name), std::move(keys), [this, run = std::move(run)] {
                          GoTo(ViewId::kTimeline);
                          run();
                        }});
  };
  add(ui_.T(Text::kFitTip), "0", [&state] { state.JumpToAll(); });
  add(ui_.T(Text::kMarks), "B", [&state] { state.marks_open = true; });
  add(ui_.T(Text::kTableCommand), "Q", [&state] {
    state.selection.reset();
    state.span.reset();
    state.table = true;
  });
  add(ui_.T(Text::kFoldAll), "", [&state, timeline] { state.FoldAll(*timeline, true); });
  add(ui_.T(Text::kUnfoldAll), "", [&state, timeline] { state.FoldAll(*timeline, false); });
  for (const traces::StageId stage : timeline->stages) {
    const std::string_view name = WordOf(stage, ui_.language);
    add(ui_.F(Text::kGoToLongest, name), "L", [this, timeline, stage] {
      const auto range = workspace_.Range().value_or(TimeRange{0, timeline->length + 1});
      const auto span = Longest(*timeline, stage, range);
      if (!span) return;
      workspace_.timeline.Go(*timeline, *span);
      workspace_.reveal = true;
    });
    add(ui_.F(Text::kShowOnly, name), std::string("Ctrl+") + ui_.T(Text::kMouseClick),
        [&state, stage] { state.hidden_stages = ~(1u << static_cast<unsigned>(stage)); });
  }
  return commands;
}

std::vector<Command> App::FileCommands() {
  std::vector<Command> commands;
  commands.push_back({ui_.T(Text::kOpenDots), "Ctrl+O", [this] { Choose(false); }});
  if (workspace_.document.open()) {
    commands.push_back({ui_.T(Text::kOpenCompareDots), "Ctrl+Shift+O", [this] { Choose(true); }});
  }
  for (const ExportInfo& info : Exports()) {
    if (!CanExport(workspace_, info.kind)) continue;
    const char* keys = ExportKeys(info.kind);
    commands.push_back({std::string(ui_.T(Text::kExport)) + ui_.T(Text::kColon) + ui_.T(info.title),
                        keys == nullptr ? "" : keys, [this, kind = info.kind] { Export(kind); }});
  }
  if (HasViewCommand(workspace_)) {
    commands.push_back({ui_.T(Text::kCopyCommand), kCopyCommandKeys, [this] { CopyCommand(); }});
  }
  return commands;
}

std::vector<Command> App::Commands() {
  std::vector<Command> commands;
  if (workspace_.document.open() || workspace_.sweep.file) {
    for (std::size_t v = 0; v < kViews.size(); ++v) {
      const std::string keys = "Alt+" + std::to_string((v + 1) % 10);
      commands.push_back({ui_.T(kViews[v].title), keys, [this, v] { GoTo(kViews[v].id); }});
    }
  }
  if (workspace_.document.open()) {
    commands.push_back({ui_.T(Text::kFunctionsCommand), "F", [this] {
                          GoTo(ViewId::kStages);
                          workspace_.functions = true;
                        }});
  }
  for (const std::string& name : workspace_.Loaders()) {
    commands.push_back({std::string(ui_.T(Text::kSettingKind)) + ui_.T(Text::kColon) + name, "",
                        [this, name] { workspace_.ChooseLoader(name); }});
  }
  for (Command& command : FileCommands()) commands.push_back(std::move(command));
  commands.push_back({ui_.T(Text::kThemeTip), "", [this] {
                        const bool dark = settings_.theme == Theme::kDark;
                        settings_.theme = dark ? Theme::kLight : Theme::kDark;
                        style_.stale = true;
                      }});
  commands.push_back({ui_.T(Text::kLanguageTip), "", [this] { SwitchLanguage(); }});
  const bool zooms = settings_.wheel == Wheel::kZoom;
  commands.push_back({ui_.T(zooms ? Text::kWheelScrolls : Text::kWheelZooms), "",
                      [this, zooms] { settings_.wheel = zooms ? Wheel::kScroll : Wheel::kZoom; }});
  commands.push_back({ui_.T(Text::kKeys), "F1", [this] { workspace_.help = true; }});
  for (Command& command : TimelineCommands()) commands.push_back(std::move(command));
  for (Command& command : RecentCommands()) commands.push_back(std::move(command));
  commands.push_back({ui_.T(Text::kKeyQuit), "Ctrl+Q", [this] { quit_ = true; }});
  return commands;
}

}  // namespace penstock::gui
