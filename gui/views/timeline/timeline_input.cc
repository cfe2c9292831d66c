// SPDX-License-Identifier: Apache-2.0
//
// Handles the keys and the mouse of the timeline.
#include <algorithm>
#include <cmath>

#include "gui/views/timeline/timeline_canvas.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

constexpr float kClickReach = 3;  // pixels; a longer movement is a drag

void GoTo(const TimelineCanvas& canvas, std::optional<SpanRef> span) {
  if (!span) return;
  TimelineState& state = canvas.workspace.timeline;
  for (std::uint32_t g = 0; g < canvas.timeline.groups.size(); ++g) {
    const auto& lanes = canvas.timeline.groups[g].lanes;
    if (std::find(lanes.begin(), lanes.end(), span->lane) != lanes.end()) state.folded.erase(g);
  }
  state.Go(canvas.timeline, *span);
  state.scroll = ScrollTo(canvas.rows, *span, state.scroll, canvas.RowsRoom());
}

// The step of a held key in this frame, in seconds. It is proportional to the time of the frame, so
// that the view moves evenly.
double HeldStep() {
  return std::clamp(static_cast<double>(ImGui::GetIO().DeltaTime), 0.005, 0.05);
}

void MoveKeys(const TimelineCanvas& canvas) {
  TimelineState& state = canvas.workspace.timeline;
  const ImGuiIO& io = ImGui::GetIO();
  const double step = HeldStep();
  const ImVec2 mouse = io.MousePos;
  const bool over = ImGui::IsMouseHoveringRect(canvas.plot.min, canvas.plot.max, false);
  const double at =
      over ? static_cast<double>((mouse.x - canvas.plot.min.x) / canvas.plot.width()) : 0.5;
  if (Held(Key::kW)) state.view.Zoom(at, std::exp(-3.5 * step));
  if (Held(Key::kS)) state.view.Zoom(at, std::exp(3.5 * step));
  if (Held(Key::kA) || Held(Key::kLeft)) state.view.Pan(-1.2 * step);
  if (Held(Key::kD) || Held(Key::kRight)) state.view.Pan(1.2 * step);
  if (Pressed(Key::kPlus, true) || Pressed(Key::kPadPlus, true)) state.view.Zoom(at, 0.7);
  if (Pressed(Key::kMinus, true) || Pressed(Key::kPadMinus, true)) state.view.Zoom(at, 1 / 0.7);
  if (Pressed(Key::k0) || Pressed(Key::kHome)) state.JumpToAll();
  const float page = canvas.RowsRoom();
  if (Held(Key::kDown)) state.scroll += static_cast<float>(600 * step);
  if (Held(Key::kUp)) state.scroll -= static_cast<float>(600 * step);
  if (Pressed(Key::kPageDown, true)) state.scroll += 0.9F * page;
  if (Pressed(Key::kPageUp, true)) state.scroll -= 0.9F * page;
}

void WalkKeys(const TimelineCanvas& canvas) {
  TimelineState& state = canvas.workspace.timeline;
  if (Pressed(Key::kF)) state.Focus(canvas.timeline);
  if (state.span) {
    const std::uint32_t hidden = state.hidden_stages;
    if (Pressed(Key::kPeriod, true)) {
      GoTo(canvas, Neighbour(canvas.timeline, *state.span, 1, hidden));
    }
    if (Pressed(Key::kComma, true)) {
      GoTo(canvas, Neighbour(canvas.timeline, *state.span, -1, hidden));
    }
    if (Pressed(Key::kCloseBracket, true)) {
      GoTo(canvas, AlongBatch(canvas.timeline, *state.span, 1));
    }
    if (Pressed(Key::kOpenBracket, true)) {
      GoTo(canvas, AlongBatch(canvas.timeline, *state.span, -1));
    }
  }
  if (Pressed(Key::kL)) GoTo(canvas, LongestHere(canvas.timeline, state));
  if (Pressed(Key::kSlash) && !ImGui::GetIO().KeyShift) canvas.workspace.search.focus = true;
  for (int digit = 1; digit <= 9; ++digit) {
    const auto& mark = state.bookmarks[static_cast<std::size_t>(digit - 1)];
    if (Pressed(Digit(digit)) && mark) state.Jump(*mark);
  }
  if (Pressed(Key::kEscape)) {
    if (state.selection || state.span) {
      state.selection.reset();
      state.span.reset();
    } else {
      canvas.workspace.search = SearchState{};
    }
  }
}

// Opens the menu for the chosen span, its row and the selection, as the right button does for what
// is under the pointer.
void AskForMenuOfChosen(const TimelineCanvas& canvas) {
  const TimelineState& state = canvas.workspace.timeline;
  TimelineMenu& menu = canvas.workspace.menu;
  menu = {};
  menu.timeline = canvas.workspace.document.timeline;
  menu.span = state.span;
  menu.selection = state.selection.has_value();
  if (const Row* row = state.span ? canvas.RowOf(*state.span) : nullptr) menu.row = *row;
  menu.asked = menu.span || menu.selection;
}

// Handles the keys for marks and pins, and the keys that hide or show something.
void KeepKeys(const TimelineCanvas& canvas) {
  TimelineState& state = canvas.workspace.timeline;
  if (Pressed(Key::kM)) {
    if (ImGui::GetIO().KeyShift) {
      state.KeepNote(canvas.timeline);
    } else {
      state.MarkSpan(canvas.timeline);
    }
  }
  if (Pressed(Key::kV)) state.selection = Inside(canvas.timeline, state.view.range());
  if (Pressed(Key::kMenu) || (ImGui::GetIO().KeyShift && Pressed(Key::kF10))) {
    AskForMenuOfChosen(canvas);
  }
  if (Pressed(Key::kB)) state.marks_open = !state.marks_open;
  if (Pressed(Key::kQ)) state.TogglePanel(canvas.workspace.panel_shown);
  if (Pressed(Key::kP)) {
    const Row* row = ImGui::IsMouseHoveringRect(canvas.labels.min, canvas.plot.max, false)
                         ? canvas.RowAt(ImGui::GetIO().MousePos.y)
                         : nullptr;
    if (row == nullptr && state.span) row = canvas.RowOf(*state.span);
    if (row != nullptr && PinOf(*row)) state.TogglePin(*PinOf(*row));
  }
}

void HandleKeys(const TimelineCanvas& canvas) {
  if (Typing() || canvas.workspace.covered || canvas.workspace.walking ||
      ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId)) {
    return;
  }
  TimelineState& state = canvas.workspace.timeline;
  if (ImGui::GetIO().KeyCtrl) {
    if (Pressed(Key::kF)) canvas.workspace.search.focus = true;
    for (int digit = 1; digit <= 9; ++digit) {
      if (Pressed(Digit(digit))) {
        state.bookmarks[static_cast<std::size_t>(digit - 1)] = state.view.range();
      }
    }
    return;
  }
  if (ImGui::GetIO().KeyAlt) {
    if (Pressed(Key::kLeft)) state.Back();
    if (Pressed(Key::kRight)) state.Forward();
    return;
  }
  MoveKeys(canvas);
  WalkKeys(canvas);
  KeepKeys(canvas);
}

std::int64_t Reach(const TimelineCanvas& canvas, float pixels) {
  return static_cast<std::int64_t>(canvas.ui.Px(pixels) / canvas.window.pixels_per_ns());
}

// The time under the pointer. If the edge of a span is near, it is the time of that edge. It always
// lies inside the trace, although the view reaches a little beyond the trace.
std::int64_t Snapped(const TimelineCanvas& canvas, const Row* row, float x) {
  const auto within = [&canvas](std::int64_t at) {
    return std::clamp<std::int64_t>(at, 0, canvas.timeline.length);
  };
  const std::int64_t at = canvas.At(x);
  if (ImGui::GetIO().KeyAlt || row == nullptr || row->kind != RowKind::kLevel) return within(at);
  const Level& level = canvas.timeline.lanes[row->lane].levels[row->level];
  return within(SnapToEdge(level, at, Reach(canvas, 7)));
}

// If the pointer is at an edge of the selection, returns the other edge.
std::optional<std::int64_t> OtherEdge(const TimelineCanvas& canvas, float x) {
  const auto& selection = canvas.workspace.timeline.selection;
  if (!selection) return std::nullopt;
  const float reach = canvas.ui.Px(4);
  if (std::abs(canvas.X(selection->to) - x) <= reach) return selection->from;
  if (std::abs(canvas.X(selection->from) - x) <= reach) return selection->to;
  return std::nullopt;
}

// Scrolls, zooms or moves the view. `rows`: the pointer is over the rows. Over the rows,
// workspace.wheel decides whether Ctrl is needed to zoom.
void TurnWheel(const TimelineCanvas& canvas, bool rows) {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineState& state = canvas.workspace.timeline;
  if (io.MouseWheel == 0 && io.MouseWheelH == 0) return;
  const bool swapped = rows && canvas.workspace.wheel == Wheel::kZoom;
  if (io.KeyCtrl != swapped && !io.KeyShift) {
    const double at =
        static_cast<double>((io.MousePos.x - canvas.plot.min.x) / canvas.plot.width());
    state.view.Zoom(std::clamp(at, 0.0, 1.0), std::pow(0.8, io.MouseWheel));
  } else if (io.KeyShift) {
    state.view.Pan(-0.12 * static_cast<double>(io.MouseWheel));
  } else {
    state.scroll -= 60 * io.MouseWheel;
    state.view.Pan(-0.12 * static_cast<double>(io.MouseWheelH));
  }
}

// Opens the menu for what is under the pointer. `span`: the span under the pointer.
void AskForMenu(const TimelineCanvas& canvas, const Row* row, std::optional<SpanRef> span) {
  TimelineMenu& menu = canvas.workspace.menu;
  menu = {};
  menu.asked = true;
  menu.timeline = canvas.workspace.document.timeline;
  menu.span = span;
  if (row != nullptr) menu.row = *row;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto& selection = canvas.workspace.timeline.selection;
  const std::int64_t at = canvas.At(mouse.x);
  menu.selection =
      selection && mouse.x >= canvas.plot.min.x && at >= selection->from && at < selection->to;
  menu.asked = menu.span || menu.row || menu.selection;
}

// Moves the view along with the pointer. With the right button, the view moves only after the
// pointer has moved a little. Otherwise each click would shift the view.
void PanAlong(const TimelineCanvas& canvas) {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineState& state = canvas.workspace.timeline;
  DragState& drag = canvas.workspace.drag;
  const float x = io.MousePos.x - drag.last_x;
  const float y = io.MousePos.y - drag.last_y;
  const float reach = canvas.ui.Px(kClickReach);
  drag.moved = drag.moved || !drag.menu || std::abs(x) > reach || std::abs(y) > reach;
  if (!drag.moved) return;
  state.view.Pan(static_cast<double>(-x / canvas.plot.width()));
  state.scroll -= y / canvas.ui.scale;
  drag.last_x = io.MousePos.x;
  drag.last_y = io.MousePos.y;
}

// Handles drags. `span`: the span under the pointer.
void Drag(const TimelineCanvas& canvas, const Row* row, std::optional<SpanRef> span) {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineState& state = canvas.workspace.timeline;
  DragState& drag = canvas.workspace.drag;
  // A right click counts even while the menu is open: it opens the menu anew at its place.
  const bool right =
      ImGui::IsMouseClicked(1) && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup);
  if (drag.kind == DragKind::kNone && (right || ImGui::IsItemHovered())) {
    const bool pans = right || ImGui::IsMouseClicked(2);
    if (ImGui::IsMouseClicked(0) || pans) {
      drag = {pans ? DragKind::kPan : DragKind::kSelect, Snapped(canvas, row, io.MousePos.x),
              io.MousePos.x, io.MousePos.y, false};
      drag.menu = right;
      // A drag that begins at an edge of the selection moves that edge.
      if (const auto other = OtherEdge(canvas, io.MousePos.x); other && !pans) {
        drag.anchor = *other;
        drag.moved = true;
      }
    }
  }
  if (drag.kind == DragKind::kPan) {
    PanAlong(canvas);
    if (!io.MouseDown[1] && !io.MouseDown[2]) {
      drag.kind = DragKind::kNone;
      if (drag.menu && !drag.moved) AskForMenu(canvas, row, span);
    }
  }
  if (drag.kind == DragKind::kSelect) {
    drag.moved = drag.moved || std::abs(io.MousePos.x - drag.last_x) > canvas.ui.Px(kClickReach);
    if (drag.moved) {
      const float x = std::clamp(io.MousePos.x, canvas.plot.min.x, canvas.plot.max.x);
      const std::int64_t at = Snapped(canvas, row, x);
      const TimeRange range{std::min(drag.anchor, at), std::max(drag.anchor, at)};
      if (!range.empty()) state.selection = range;
      drag.snapped = at != std::clamp<std::int64_t>(canvas.At(x), 0, canvas.timeline.length);
    }
    if (!io.MouseDown[0]) drag.kind = DragKind::kNone;
  }
}

}  // namespace

std::optional<SpanRef> HandleInput(const TimelineCanvas& canvas) {
  HandleKeys(canvas);
  const ImGuiIO& io = ImGui::GetIO();
  TimelineState& state = canvas.workspace.timeline;
  // The column of names.
  ImGui::SetCursorScreenPos(canvas.labels.min);
  ImGui::InvisibleButton("##labels", {canvas.labels.width(), canvas.labels.height()});
  if (ImGui::IsItemHovered()) TurnWheel(canvas, false);
  if (ImGui::IsItemClicked(0)) {
    const Row* row = canvas.RowAt(io.MousePos.y);
    if (row != nullptr && row->kind == RowKind::kGroup) {
      if (io.KeyShift) {
        state.FoldAll(canvas.timeline, !state.folded.contains(row->group));
      } else {
        state.ToggleFold(row->group);
      }
    } else if (row != nullptr && PinOf(*row)) {
      const Area pin = PinArea(canvas, *row);
      if (ImGui::IsMouseHoveringRect(pin.min, pin.max)) state.TogglePin(*PinOf(*row));
    }
  }
  const bool menu = canvas.workspace.drag.kind == DragKind::kNone && ImGui::IsMouseReleased(1);
  if (menu && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup)) {
    AskForMenu(canvas, canvas.RowAt(io.MousePos.y), std::nullopt);
  }
  if (ImGui::IsItemHovered()) {
    const Row* row = canvas.RowAt(io.MousePos.y);
    const auto pin = row != nullptr ? PinOf(*row) : std::nullopt;
    const Area area = pin ? PinArea(canvas, *row) : Area{};
    if (pin && ImGui::IsMouseHoveringRect(area.min, area.max)) {
      Tip(canvas.ui, canvas.ui.T(state.IsPinned(*pin) ? Text::kUnpinTip : Text::kPinTip));
    }
  }
  ImGui::SetCursorScreenPos(canvas.plot.min);
  ImGui::InvisibleButton("##plot", {canvas.plot.width(), canvas.plot.height()},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  const bool hovered = ImGui::IsItemHovered();
  const Row* row = hovered || canvas.workspace.drag.kind != DragKind::kNone
                       ? canvas.RowAt(io.MousePos.y)
                       : nullptr;
  if (hovered) TurnWheel(canvas, true);
  if (hovered && OtherEdge(canvas, io.MousePos.x)) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }
  std::optional<SpanRef> span;
  const bool pressed = canvas.workspace.drag.kind == DragKind::kPan;
  if ((hovered || pressed) && row != nullptr) {
    span = SpanAt(canvas.timeline, *row, canvas.At(io.MousePos.x), Reach(canvas, 2));
    if (span && !state.Shows(canvas.timeline.stage(*span))) span.reset();
  }
  const bool selecting = canvas.workspace.drag.kind == DragKind::kSelect;
  const bool moved = canvas.workspace.drag.moved;
  Drag(canvas, row, span);
  if (selecting && canvas.workspace.drag.kind == DragKind::kNone && !moved && hovered) {
    state.span = span;
    state.selection.reset();
    if (row != nullptr && row->kind == RowKind::kGroup) state.ToggleFold(row->group);
  }
  if (hovered && ImGui::IsMouseDoubleClicked(0) && span) {
    state.span = span;
    state.selection.reset();
    state.Focus(canvas.timeline);
  }
  // The largest scroll position. It is at least the height of the pinned rows, so that the other
  // rows keep their place on the screen when a row is pinned.
  const float most =
      std::max(canvas.pinned / canvas.ui.scale, canvas.RowsHeight() - canvas.RowsRoom());
  state.scroll = std::clamp(state.scroll, 0.0F, most);
  return canvas.workspace.drag.kind == DragKind::kNone ? span : std::nullopt;
}

}  // namespace penstock::gui
