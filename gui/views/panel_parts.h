// SPDX-License-Identifier: Apache-2.0
//
// Parts that several views share: cards with a number, links to findings, cells of tables.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "gui/model/penstock_command.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

// A card: a number with its name above it and a line below it.
struct Figure {
  std::string name;
  std::string value;
  std::string line;  // small, below the value
  Rgb colour;
  std::string tip;  // "" none
};
// Draws one card for each figure, in one row. Returns the height of the row.
float DrawFigures(const Ui& ui, std::span<const Figure> figures, Area area);

// Draws a panel with a heading and the findings that have one of these ids, each with a link to its
// evidence. Below them it lists the ids that could not be checked, and what the recording lacks.
void DrawFindingLinks(const Ui& ui, Workspace& workspace, Text title,
                      std::span<const std::string_view> ids, Area area);

// Returns the value that `make` computes for workspace.question(); `model` keeps it. Until it is
// ready, returns the previous value if the trace has only grown since; otherwise draws a message in
// `area` and returns nullptr. `make`: (extent, analysis, stop) -> Value.
template <class Value, class Make>
[[nodiscard]] const Value* Made(const Ui& ui, Workspace& workspace, Derived<Question, Value>& model,
                                Area area, const Make& make) {
  const Question question = workspace.question();
  const Value* value =
      model.Get(question, workspace.at_once, [=](const std::stop_token& stop) -> Value {
        return make(question.extent(), *question.analysis, stop);
      });
  if (value == nullptr) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                    ui.T(Text::kAnalysing));
  }
  return value;
}

// Begins a column of text, centred from left to right in `area` and at most `width` logical pixels
// wide. Its top lies at the fraction `part` of the height of `area`. Requires: the caller ends it
// with ImGui::EndGroup(). Returns its width in physical pixels.
float BeginColumn(const Ui& ui, Area area, float width, float part);

// Draws a sentence in the middle, and a smaller explanation below it ("" for none).
void DrawEmpty(const Ui& ui, Area area, std::string_view sentence, std::string_view why);

// A message for an empty view: why it is empty, and the command to run next.
struct Nothing {
  Text what;
  Text why;
  Text how;
  std::string command;
};
// Draws the message, and a button that copies the command.
void DrawNothing(const Ui& ui, Workspace& workspace, const Nothing& nothing, Area area);
// What to run where nothing can be predicted; no command for a part of a run.
[[nodiscard]] NextCommand NextToPredict(const Workspace& workspace);
// DrawNothing() for a recording from which nothing can be predicted. `why`: what it lacks.
void DrawNothingPredicted(const Ui& ui, Workspace& workspace, const std::string& why, Area area);
// The messages for a recording without any spans, and for a recording without a loader.
[[nodiscard]] Nothing NothingRecorded(const Workspace& workspace);
[[nodiscard]] Nothing NoLoader(const Workspace& workspace);

// A wrapped line of code or a command, with a button that copies it. Shows at most `most_lines`
// lines (0: all); if that leaves lines out, a tooltip shows the whole text.
void CodeBox(const Ui& ui, Workspace& workspace, const std::string& code, float width,
             std::size_t most_lines = 0);
[[nodiscard]] float CodeBoxHeight(const Ui& ui, const std::string& code, float width,
                                  std::size_t most_lines = 0);

// A button that copies `text`. It is wide enough for both of its labels ("Copy", "Copied"), so that
// a click does not move the items beside it.
void CopyButton(const Ui& ui, Workspace& workspace, const std::string& text);
[[nodiscard]] float CopyButtonWidth(const Ui& ui);

// A column of numbers. `weight`: its width relative to the weights of the other columns.
struct TableColumn {
  Text title;
  float weight;
  Text tip = Text::kTextCount;  // none by default
};
void SetUpColumns(const Ui& ui, std::span<const TableColumn> columns);
void DrawHeads(const Ui& ui, std::span<const TableColumn> columns);

// The head of a column of numbers. Its title is aligned right. If the table can be sorted, a click
// sorts it. `tip`: "" for none.
void HeadRight(const Ui& ui, std::string_view title, std::string_view tip);
void CellRight(const Ui& ui, const std::string& text, bool dim);

// Shortens a path at its beginning, because the end matters most.
[[nodiscard]] std::string PathElided(ImFont* font, std::string_view path, float width);

// Draws a view that needs `least` logical pixels of height. If `area` has less height, it scrolls.
void ScrollBelow(const Ui& ui, const char* id, Area area, float least,
                 const std::function<void(Area)>& draw);

}  // namespace penstock::gui
