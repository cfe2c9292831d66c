// SPDX-License-Identifier: Apache-2.0
//
// Parts that several views share: figures, links to findings, cells of tables.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "gui/views/workspace.h"

namespace penstock::gui {

struct Figure {
  std::string name;
  std::string value;
  std::string line;  // small, below the value
  Rgb colour;
  std::string tip;  // "" none
};
// Draws figures in one row of cards. Returns the height of the row.
float DrawFigures(const Ui& ui, std::span<const Figure> figures, Area area);

// Draws a panel with a heading and the findings that have one of these ids, each with a link to its
// evidence. Below them it says which of these rules were not checked, and why.
void DrawFindingLinks(const Ui& ui, Workspace& workspace, Text title,
                      std::span<const std::string_view> ids, Area area);

// Returns the value that a view makes for the workspace's question, and keeps it in `model`. Until
// the value is ready, draws a message in `area` and returns nullptr. `make`: (extent, analysis,
// stop) -> Value.
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

// Begins a column of text in the middle of `area`, at most `width` logical pixels wide. It begins
// at the fraction `part` of the height. Requires: the caller ends it with ImGui::EndGroup().
// Returns its width.
float BeginColumn(const Ui& ui, Area area, float width, float part);

// Draws a sentence in the middle, and a smaller explanation below it ("" for none).
void DrawEmpty(const Ui& ui, Area area, std::string_view sentence, std::string_view why);

// Why a view is empty, and the command to run next, with a button that copies it.
struct Nothing {
  Text what;
  Text why;
  Text how;
  std::string command;
};
void DrawNothing(const Ui& ui, Workspace& workspace, const Nothing& nothing, Area area);
// The same for a recording from which nothing can be predicted. `why`: what it lacks.
void DrawNothingPredicted(const Ui& ui, Workspace& workspace, const std::string& why, Area area);
// The messages for a recording without any spans, and for a recording without a loader.
[[nodiscard]] Nothing NothingRecorded(const Workspace& workspace);
[[nodiscard]] Nothing NoLoader(const Workspace& workspace);

// An item with a wrapped line of code or a command, and a button that copies it. Shows at most
// `most_lines` and the whole text in a tip; 0: all lines.
void CodeBox(const Ui& ui, Workspace& workspace, const std::string& code, float width,
             std::size_t most_lines = 0);
[[nodiscard]] float CodeBoxHeight(const Ui& ui, const std::string& code, float width,
                                  std::size_t most_lines = 0);

// A button that copies `text`. It is wide enough for both of its labels ("Copy", "Copied"), so that
// a click does not move the items beside it.
void CopyButton(const Ui& ui, Workspace& workspace, const std::string& text);
[[nodiscard]] float CopyButtonWidth(const Ui& ui);

// A column of figures. `weight`: its part of the width.
struct TableColumn {
  Text title;
  float weight;
  Text tip = Text::kTextCount;  // none by default
};
void SetUpColumns(const Ui& ui, std::span<const TableColumn> columns);
void DrawHeads(const Ui& ui, std::span<const TableColumn> columns);

// The head of a column of figures. Its title is aligned right. If the table can be sorted, a click
// sorts it. `tip`: "" for none.
void HeadRight(const Ui& ui, std::string_view title, std::string_view tip);
void CellRight(const Ui& ui, const std::string& text, bool dim);

// Shortens a path at its beginning, because the end matters most.
[[nodiscard]] std::string PathElided(ImFont* font, std::string_view path, float width);

// Draws a view that needs `least` logical pixels of height. In a lower area it scrolls.
void ScrollBelow(const Ui& ui, const char* id, Area area, float least,
                 const std::function<void(Area)>& draw);

}  // namespace penstock::gui
