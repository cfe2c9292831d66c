// SPDX-License-Identifier: Apache-2.0
#include "gui/views/workspace.h"

#include <algorithm>

namespace penstock::gui {

void Workspace::Reset() {
  timeline = TimelineState();
  drag = DragState{};
  search = SearchState{};
  stages = StagesState{};
  workers = WorkersState{};
  reading = IoState{};
  gpu = GpuState{};
  whatif = WhatIfState{};
}

void Workspace::ShowEvidence(const analyzer::Finding& finding) {
  view = ViewId::kTimeline;
  const std::int64_t length = timeline.view.trace_length();
  const auto ns = [&](double seconds) {
    return std::clamp(static_cast<std::int64_t>(seconds * 1e9), std::int64_t{0}, length);
  };
  const TimeRange range{ns(finding.from), ns(finding.to)};
  if (range.empty()) {
    timeline.view.Fit();
    return;
  }
  timeline.view.ShowWithMargin(range);
  timeline.selection = range;
}

void Workspace::ShowCall(const Call& call) {
  if (!document.timeline) return;
  view = ViewId::kTimeline;
  timeline.selection.reset();
  if (const auto span = FindSpan(*document.timeline, call)) {
    timeline.Go(*document.timeline, *span);
    reveal = true;
  } else {
    timeline.view.ShowWithMargin({call.start, call.start + std::max<std::int64_t>(call.length, 1)});
  }
}

void Workspace::ShowMoment(double at) {
  view = ViewId::kTimeline;
  const std::int64_t middle = static_cast<std::int64_t>(at * 1e9);
  const std::int64_t half = std::max<std::int64_t>(timeline.view.trace_length() / 40, 1000);
  timeline.view.Show({middle - half, middle + half});
}

void Workspace::CopyText(const std::string& text) {
  ImGui::SetClipboardText(text.c_str());
  copied = text;
  copied_at = ImGui::GetTime();
}

bool Workspace::animating() const {
  const bool making = stages.lines.busy() || stages.tail.busy() || workers.model.busy() ||
                      reading.model.busy() || gpu.model.busy();
  return making || ImGui::GetTime() - copied_at < 2.2;
}

}  // namespace penstock::gui
