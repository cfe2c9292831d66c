// SPDX-License-Identifier: Apache-2.0
//
// The half of the stages view that is about functions: a flame graph above, below it a table and
// the source of the chosen function.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/words/format.h"
#include "gui/model/penstock_command.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/stage_panels.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

void DrawNoFunctions(const Ui& ui, Workspace& workspace, NoFunctions why, Area area) {
  // The advice to select more helps only if the whole run has functions.
  const std::shared_ptr<const Analysis>& whole = workspace.document.analysis;
  const bool elsewhere = whole == nullptr || !whole->functions.profiles.empty();
  if (workspace.Range() && elsewhere) {
    return DrawEmpty(ui, area, ui.T(Text::kNoCallsHere), ui.T(Text::kNoCallsHereWhy));
  }
  const traces::Trace& trace = *workspace.document.trace;
  Nothing nothing{Text::kNoCalls, Text::kNoCallsShort, Text::kNoCallsShortHow,
                  PenstockCommand(trace, "record")};
  switch (why) {
    case NoFunctions::kSwitchedOff:
      nothing.why = Text::kNoCallsOff;
      nothing.how = Text::kNoCallsOffHow;
      nothing.command = "env -u PENSTOCK_FUNCTIONS " + nothing.command;
      break;
    case NoFunctions::kPython:
      nothing.why = Text::kNoCallsPython;
      nothing.how = Text::kNoCallsPythonHow;
      nothing.command = PenstockCommand(trace, "doctor");
      break;
    case NoFunctions::kOtherTool:
      nothing.why = Text::kNoCallsTool;
      nothing.how = Text::kNoCallsToolHow;
      break;
    case NoFunctions::kNoLoader: {
      const NextCommand next = CommandToFollow(whole->report, trace);
      nothing = {Text::kNoCalls, Text::kNoCallsNoLoader, next.how, next.command};
      break;
    }
    case NoFunctions::kImported:
      nothing.why = Text::kNoCallsImported;
      nothing.how = Text::kRecordItself;
      break;
    case NoFunctions::kUnfollowed:
      nothing.why = Text::kNoCallsUnfollowed;
      nothing.how = Text::kNoCallsAgain;
      break;
    case NoFunctions::kTooManyCalls:
      nothing.why = Text::kNoCallsTooMany;
      nothing.how = Text::kNoCallsTooManyHow;
      break;
    case NoFunctions::kShort:
    case NoFunctions::kNone:
      break;
  }
  DrawNothing(ui, workspace, nothing, area);
}

const UnitProfile& ShownProfile(const FunctionsModel& model, const FunctionsState& state) {
  for (const UnitProfile& profile : model.profiles) {
    if (profile.stage == state.stage) return profile;
  }
  return model.profiles.front();
}

void NextProfile(const FunctionsModel& model, int by, FunctionsState& state) {
  const auto shown = &ShownProfile(model, state) - model.profiles.data();
  const auto last = static_cast<std::ptrdiff_t>(model.profiles.size()) - 1;
  state.stage =
      model.profiles[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(shown + by, 0, last))]
          .stage;
}

// Finds in this profile the function and the frames that the state names. If the trace has grown or
// is another one, they may be missing from the profile.
FlameView ViewOf(const UnitProfile& profile, const FunctionsState& state) {
  FlameView view{profile, profile.frames.front().id, std::nullopt, FrameAt(profile, state.zoomed)};
  if (!profile.lines.empty()) view.chosen = profile.lines.front().id;
  const bool known = state.chosen && (profile.Find(*state.chosen) != nullptr ||
                                      WidestFrame(profile, *state.chosen).has_value());
  if (known) view.chosen = *state.chosen;
  view.frame = FrameAt(profile, state.frame);
  const bool of_chosen = view.frame && profile.frames[*view.frame].id == view.chosen;
  if (!of_chosen) view.frame = WidestFrame(profile, view.chosen);
  return view;
}

// Draws a tab for each kind of unit. Returns where the last tab ends.
float DrawUnitTabs(const Ui& ui, const FunctionsModel& model, FunctionsState& state, ImVec2 at) {
  const traces::StageId shown = ShownProfile(model, state).stage;
  float right = at.x;
  ImGui::SetCursorScreenPos(at);
  for (const UnitProfile& profile : model.profiles) {
    if (TabButton(ui, UnitName(ui, profile.stage), profile.stage == shown)) {
      state.stage = profile.stage;
    }
    right = ImGui::GetItemRectMax().x;
    if (model.profiles.size() > 1) Tip(ui, ui.T(Text::kUnitTip));
    ImGui::SameLine(0, ui.Px(4));
  }
  return right;
}

// The width that the tabs take.
float UnitTabsWidth(const Ui& ui, const FunctionsModel& model) {
  float width = 0;
  for (const UnitProfile& profile : model.profiles) {
    width += TextWidth(ui.body, UnitName(ui, profile.stage)) +
             2 * ImGui::GetStyle().FramePadding.x + ui.Px(4);
  }
  return width;
}

struct LegendEntry {
  std::string name;
  Rgb colour;
};

// The first files of the program in the order of the frames and of the table, then libraries and
// compiled functions if there are any.
std::vector<LegendEntry> LegendOf(const Ui& ui, const UnitProfile& profile) {
  constexpr std::size_t kMostFiles = 3;
  std::vector<LegendEntry> entries;
  const FunctionId* library = nullptr;
  const FunctionId* compiled = nullptr;
  const auto add = [&](const FunctionId& id) {
    const FunctionKind kind = KindOfFunction(id);
    if (kind == FunctionKind::kLibrary) library = &id;
    if (kind == FunctionKind::kCompiled) compiled = &id;
    if (kind != FunctionKind::kProgram || entries.size() == kMostFiles) return;
    const std::string name = analyzer::PlainText(id.file.substr(id.file.rfind('/') + 1), 30);
    const auto same = [&name](const LegendEntry& entry) { return entry.name == name; };
    if (std::any_of(entries.begin(), entries.end(), same)) return;
    entries.push_back({name, FunctionColour(ui, id)});
  };
  for (const FlameFrame& frame : profile.frames) add(frame.id);
  for (const FunctionLine& line : profile.lines) add(line.id);
  if (library != nullptr) {
    entries.push_back({ui.T(Text::kFlameLibraries), FunctionColour(ui, *library)});
  }
  if (compiled != nullptr) {
    entries.push_back({ui.T(Text::kFlameCompiled), FunctionColour(ui, *compiled)});
  }
  return entries;
}

float FlameLegendWidth(const Ui& ui, const std::vector<LegendEntry>& entries) {
  float width = -ui.Px(14);
  for (const LegendEntry& entry : entries) {
    width += ui.Px(10 + 5 + 14) + TextWidth(ui.small, entry.name);
  }
  return width;
}

// Draws the legend up to the right edge of `line`. Returns where it begins.
float DrawFlameLegend(const Ui& ui, const UnitProfile& profile, Area line) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<LegendEntry> entries = LegendOf(ui, profile);
  const float square = ui.Px(10);
  const float width = FlameLegendWidth(ui, entries);
  if (width > line.width()) return line.max.x;
  float x = line.max.x - width;
  const float y = line.min.y + (line.height() - FontPixels(ui.small)) / 2;
  for (const LegendEntry& entry : entries) {
    const float top = line.min.y + (line.height() - square) / 2;
    list->AddRectFilled({x, top}, {x + square, top + square}, Ink(entry.colour), ui.Px(2));
    DrawText(list, ui.small, {x + square + ui.Px(5), y}, Ink(ui.palette().dim), entry.name);
    x += square + ui.Px(5) + TextWidth(ui.small, entry.name) + ui.Px(14);
  }
  return line.max.x - width;
}

// Says how long a unit takes, how many units were followed, and whether samples, which would have
// a tab, are missing. `slow`: says it of the slow units.
UnitNote NoteOfUnits(const Ui& ui, const FunctionsModel& model, const UnitProfile& profile,
                     bool slow) {
  UnitNote note = slow ? UnitNote{SlowNote(ui, profile.slow)} : UnitNoteOf(profile, ui.language);
  if (model.without_samples) note.text += std::string("  ·  ") + ui.T(Text::kNoSampleFollowed);
  return note;
}

float NoteHeight(const Ui& ui, const UnitNote& note, float width) {
  const auto lines = static_cast<float>(WrapText(ui.small, note.text, width).size());
  return lines * (FontPixels(ui.small) + ui.Px(4));
}

void DrawUnitNote(const Ui& ui, const UnitProfile& profile, const UnitNote& note, Area area) {
  ImGui::SetCursorScreenPos(area.min);
  Paragraph(ui, ui.small, note.warns ? ui.palette().warn : ui.palette().dim, note.text,
            area.width());
  constexpr double kSure = 0.02;  // a time that is off by less needs no remark
  if (profile.spread >= kSure) {
    Tip(ui, ui.F(Text::kUnitSpread, analyzer::PercentText(profile.spread)));
  }
}

// The profile in the flame graph. While the table compares slow units with the others, it is the
// profile of the slow units.
const UnitProfile& FlamedProfile(const UnitProfile& profile, const FunctionsState& state) {
  return state.slow && !profile.slow_profile.empty() ? profile.slow_profile.front() : profile;
}

void DrawParts(const Ui& ui, Workspace& workspace, const FunctionsModel& model, Area area) {
  FunctionsState& state = workspace.stages.functions;
  const float gap = ui.Px(10);
  const float head = ImGui::GetFrameHeight();
  const UnitProfile& profile = ShownProfile(model, state);
  const UnitProfile& flamed = FlamedProfile(profile, state);
  const UnitNote note = NoteOfUnits(ui, model, profile, &flamed != &profile);
  // The note stands between tabs and legend; if it is too long, below them.
  const float width = area.width() - ui.Px(28);
  const float between =
      width - UnitTabsWidth(ui, model) - FlameLegendWidth(ui, LegendOf(ui, flamed)) - ui.Px(24);
  const bool fits = TextWidth(ui.small, note.text) <= between;
  const float below = fits ? 0 : NoteHeight(ui, note, width) + ui.Px(2);
  const float wanted = head + ui.Px(8) + below + FlameHeight(ui, flamed) + ui.Px(22);
  const float flame = std::min(wanted, std::floor(area.height() * 0.55F));
  const Area inside = Panel(ui, {area.min, {area.max.x, area.min.y + flame}});
  const float tabs = DrawUnitTabs(ui, model, state, inside.min);
  const Area line{{tabs + ui.Px(12), inside.min.y}, {inside.max.x, inside.min.y + head}};
  const float legend = DrawFlameLegend(ui, flamed, line);
  const float y = fits ? (head - FontPixels(ui.small)) / 2 : head + ui.Px(6);
  DrawUnitNote(ui, profile, note,
               {{fits ? line.min.x : inside.min.x, inside.min.y + y},
                {fits ? legend - ui.Px(12) : inside.max.x, inside.max.y}});
  DrawFlame(ui, workspace, ViewOf(flamed, state),
            {{inside.min.x, inside.min.y + head + ui.Px(8) + below}, inside.max});
  const float top = area.min.y + flame + gap;
  // Long names and all headings fit into the table also in a window of 1280 pixels.
  const float middle = area.min.x + std::floor((area.width() - gap) * 0.54F);
  // Each panel gets a new ViewOf(), because the panel before it may have changed the state.
  DrawFunctionTable(ui, workspace, ViewOf(profile, state),
                    Panel(ui, {{area.min.x, top}, {middle, area.max.y}}));
  DrawFunctionSource(ui, workspace, ViewOf(profile, state),
                     Panel(ui, {{middle + gap, top}, area.max}));
}

}  // namespace

const char* UnitName(const Ui& ui, traces::StageId stage) {
  return ui.T(stage == traces::StageId::kCollate ? Text::kUnitBatch
              : stage == traces::StageId::kStep  ? Text::kUnitStep
                                                 : Text::kUnitSample);
}

const char* PerUnit(const Ui& ui, traces::StageId stage) {
  return ui.T(stage == traces::StageId::kCollate ? Text::kPerBatch
              : stage == traces::StageId::kStep  ? Text::kPerStep
                                                 : Text::kPerSample);
}

Rgb FunctionColour(const Ui& ui, const FunctionId& id) {
  const Palette& p = ui.palette();
  switch (KindOfFunction(id)) {
    case FunctionKind::kCompiled:
      return Mix(p.dim, p.panel, 0.55);
    case FunctionKind::kLibrary:
      return Mix(p.accent, p.panel, 0.72);
    case FunctionKind::kProgram:
      break;
  }
  return NamedColour(std::string_view(id.file).substr(id.file.rfind('/') + 1), ui.theme);
}

void DrawFunctions(const Ui& ui, Workspace& workspace, Area area) {
  constexpr float kLeastHeight = 420;
  // A copy of the pointer keeps the analysis alive until the end of this function, even if a panel
  // removes the selection that the analysis belongs to.
  const std::shared_ptr<const Analysis> analysis = workspace.Shown().analysis;
  const FunctionsModel& model = analysis->functions;
  if (model.profiles.empty()) return DrawNoFunctions(ui, workspace, model.missing, area);
  if (workspace.TakesKeys()) {
    if (Pressed(Key::kPeriod)) NextProfile(model, 1, workspace.stages.functions);
    if (Pressed(Key::kComma)) NextProfile(model, -1, workspace.stages.functions);
  }
  ScrollBelow(ui, "functions", area, kLeastHeight,
              [&](Area inside) { DrawParts(ui, workspace, model, inside); });
}

}  // namespace penstock::gui
