// SPDX-License-Identifier: Apache-2.0
//
// What the views of data have in common: figures, links to findings, cells of tables.
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
  std::string line;  // below it, small
  Rgb colour;
  std::string tip;  // "" none
};
// In one row of cards. Returns the height that it takes.
float DrawFigures(const Ui& ui, std::span<const Figure> figures, Area area);

// Findings with one of these ids, each with a way to its evidence; and what was not checked, and
// why. In a panel with a heading.
void DrawFindingLinks(const Ui& ui, Workspace& workspace, Text title,
                      std::span<const std::string_view> ids, Area area);

// What a view makes of the workspace's question, kept in `model`; nullptr while it is being made,
// which `area` then says. `make`: (extent, analysis, stop) -> Value.
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

// A column of text in the middle of `area`, at most `width` logical pixels wide, from this part of
// its height on. To be ended with ImGui::EndGroup(). Returns its width.
float BeginColumn(const Ui& ui, Area area, float width, float part);

// A sentence in the middle, with a smaller explanation below it ("" for none).
void DrawEmpty(const Ui& ui, Area area, std::string_view sentence, std::string_view why);

// Why a view has nothing to show, and the command to run next, with a button that copies it.
struct Nothing {
  Text what;
  Text why;
  Text how;
  std::string command;
};
void DrawNothing(const Ui& ui, Workspace& workspace, const Nothing& nothing, Area area);
// Of a recording without any spans, and of one without a loader.
[[nodiscard]] Nothing NothingRecorded(const Workspace& workspace);
[[nodiscard]] Nothing NoLoader();

// A line of code or a command at the cursor, as an item, with a button that copies it; wrapped. At
// most `most_lines`, then the whole is in a tip; 0: all of them.
void CodeBox(const Ui& ui, Workspace& workspace, const std::string& code, float width,
             std::size_t most_lines = 0);
[[nodiscard]] float CodeBoxHeight(const Ui& ui, const std::string& code, float width,
                                  std::size_t most_lines = 0);

// At the cursor. Its width has room for both of its words, so that a click moves nothing beside it.
void CopyButton(const Ui& ui, Workspace& workspace, const std::string& text);
[[nodiscard]] float CopyButtonWidth(const Ui& ui);

// A column of figures; `weight`: its part of the width.
struct TableColumn {
  Text title;
  float weight;
  Text tip = Text::kTextCount;  // none
};
void SetUpColumns(const Ui& ui, std::span<const TableColumn> columns);
void DrawHeads(const Ui& ui, std::span<const TableColumn> columns);

// Cells of tables.
// A head whose title stands at the right, above its figures; sorts where the table does. `tip`: ""
// for none.
void HeadRight(const Ui& ui, std::string_view title, std::string_view tip);
void CellRight(const Ui& ui, const std::string& text, bool dim);

// Keeps the end of a path, which says most.
[[nodiscard]] std::string PathElided(ImFont* font, std::string_view path, float width);

// A view that needs at least `least` logical pixels of height scrolls where there are fewer.
void ScrollBelow(const Ui& ui, const char* id, Area area, float least,
                 const std::function<void(Area)>& draw);

}  // namespace penstock::gui
