// SPDX-License-Identifier: Apache-2.0
#include "gui/views/workspace.h"

#include <algorithm>

namespace penstock::gui {

void Workspace::Reset() {
  timeline = TimelineState();
  drag = DragState{};
  search = SearchState{};
  stages = StagesState{};
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

void Workspace::CopyText(const std::string& text) {
  ImGui::SetClipboardText(text.c_str());
  copied = text;
  copied_at = ImGui::GetTime();
}

bool Workspace::animating() const {
  return ImGui::GetTime() - copied_at < 2.2;
}

}  // namespace penstock::gui
