// SPDX-License-Identifier: Apache-2.0
//
// The chip in the upper bar. It says that a trace is being read or is still being written.
#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"
#include "gui/main/app.h"
#include "gui/model/timeline/carry.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

struct Chip {
  std::string text;
  Rgb colour;
  std::string tip;
};

// Draws a round label with a dot; `clicked` says whether it was clicked. Returns the left edge.
float DrawChip(const Ui& ui, const char* id, const Chip& chip, float right, Area bar,
               bool* clicked) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = ui.Px(22);
  const float width = TextWidth(ui.small, chip.text) + ui.Px(30);
  const Area area{{right - width, bar.min.y + (bar.height() - height) / 2},
                  {right, bar.min.y + (bar.height() + height) / 2}};
  ImGui::SetCursorScreenPos(area.min);
  *clicked = ImGui::InvisibleButton(id, {width, height});
  const bool hovered = ImGui::IsItemHovered();
  Tip(ui, chip.tip);
  list->AddRectFilled(area.min, area.max, Ink(chip.colour, hovered ? 0.3 : 0.18), height / 2);
  list->AddRect(area.min, area.max, Ink(chip.colour, 0.8), height / 2);
  list->AddCircleFilled({area.min.x + ui.Px(12), area.min.y + height / 2}, ui.Px(4),
                        Ink(chip.colour));
  DrawText(list, ui.small,
           {area.min.x + ui.Px(21), area.min.y + (height - FontPixels(ui.small)) / 2},
           Ink(ui.palette().text), chip.text);
  return area.min.x;
}

}  // namespace

void App::CancelLoading() {
  if (jobs_.other && (!jobs_.own || jobs_.own->following())) {
    jobs_.other->Cancel();
    jobs_.retired.push_back(std::move(jobs_.other));
    return;
  }
  if (!jobs_.own) return;
  jobs_.own->Cancel();
  const bool own = jobs_.own->document().serial == workspace_.document.serial;
  jobs_.retired.push_back(std::move(jobs_.own));
  if (own && !workspace_.document.complete()) Show(Document{});
}

// Ends the job of the shown trace. A trace that is not followed is not called live, and cannot be
// paused.
void App::StopFollowing() {
  if (jobs_.own) {
    jobs_.own->Cancel();
    jobs_.retired.push_back(std::move(jobs_.own));
  }
  if (workspace_.document.live == Live::kWriting) workspace_.document.live = Live::kNo;
  paused_ = false;
}

void App::TogglePause() {
  paused_ = !paused_;
  if (jobs_.own) jobs_.own->Pause(paused_);
}

void App::JobKeys() {
  if (Typing() || workspace_.covered || workspace_.walking ||
      ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId)) {
    return;
  }
  if (loading() && Pressed(Key::kEscape)) CancelLoading();
  if (workspace_.document.live == Live::kWriting && Pressed(Key::kSpace)) TogglePause();
}

// Draws the chip, which ends at `right`. Returns where the name of the file must end.
float App::DrawJobBadge(Area bar, float right) {
  const Palette& p = ui_.palette();
  const Document& document = workspace_.document;
  bool clicked = false;
  const float gap = ui_.Px(10);
  if (const LoadJob* job = Reading(); job != nullptr && document.open()) {
    const bool reading = job->progress() < 1;
    const std::string text = reading ? ui_.F(Text::kReadingChip, std::lround(100 * job->progress()))
                                     : std::string(ui_.T(Text::kAnalysingChip));
    right = DrawChip(ui_, "##reading", {text, p.accent, ui_.T(Text::kCancelTip)}, right, bar,
                     &clicked) -
            gap;
    if (clicked) CancelLoading();
    return right;
  }
  const std::string length =
      document.timeline
          ? analyzer::DurationText(static_cast<double>(document.timeline->length) * 1e-9)
          : std::string();
  switch (document.live) {
    case Live::kNo:
      return right;
    case Live::kWriting: {
      const Chip chip =
          paused_ ? Chip{ui_.F(Text::kLivePaused, length), p.warn, ui_.T(Text::kResumeTip)}
                  : Chip{ui_.F(Text::kLiveNow, length), p.bad, ui_.T(Text::kPauseTip)};
      right = DrawChip(ui_, "##live", chip, right, bar, &clicked) - gap;
      if (clicked) TogglePause();
      if (workspace_.view == ViewId::kTimeline && !ShowsEnd(workspace_.timeline.view)) {
        right = DrawChip(ui_, "##end", {ui_.T(Text::kFollowEnd), p.accent, ui_.T(Text::kFollowTip)},
                         right, bar, &clicked) -
                gap;
        if (clicked) {
          ShowEnd(workspace_.timeline.view, workspace_.timeline.view.range().length());
        }
      }
      return right;
    }
    case Live::kEnded:
      return DrawChip(ui_, "##live", {ui_.T(Text::kLiveEnded), p.good, ui_.T(Text::kLiveEndedTip)},
                      right, bar, &clicked) -
             gap;
    case Live::kDied:
      return DrawChip(ui_, "##live",
                      {ui_.T(Text::kLiveDied), p.bad,
                       ui_.F(Text::kLiveDiedTip, document.path.filename().string())},
                      right, bar, &clicked) -
             gap;
  }
  return right;
}

}  // namespace penstock::gui
