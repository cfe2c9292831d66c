// SPDX-License-Identifier: Apache-2.0
#include "gui/main/mark_keeper.h"

namespace penstock::gui {

void MarkKeeper::Find(const Document& document, TimelineState& state) {
  if (folder_.empty() || !document.trace || !document.timeline) return;
  if (document.timeline->preview || serial_ == document.serial) return;
  serial_ = document.serial;
  file_ = folder_ / MarksName(*document.trace, document.path);
  Restore(LoadMarks(file_), *document.timeline, state);
  kept_ = MarksOf(*document.timeline, state);
}

Result<void> MarkKeeper::Keep(const Document& document, const TimelineState& state) {
  if (file_.empty() || serial_ != document.serial || !document.timeline) return {};
  Marks now = MarksOf(*document.timeline, state);
  if (now == kept_) return {};
  kept_ = std::move(now);
  return SaveMarks(file_, kept_);
}

}  // namespace penstock::gui
