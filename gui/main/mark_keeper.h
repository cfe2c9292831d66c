// SPDX-License-Identifier: Apache-2.0
//
// Keeps a file for each trace with the marks that a person left in its timeline. Owns the marks
// that it last read or wrote. Used from one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "gui/model/document.h"
#include "gui/model/timeline/marks.h"

namespace penstock::gui {

class MarkKeeper {
 public:
  // Sets the folder. Without one nothing is kept.
  void Use(std::filesystem::path folder) { folder_ = std::move(folder); }
  // Puts the marks of the document's trace into `state`, once for each document, as soon as the
  // trace is known.
  void Find(const Document& document, TimelineState& state);
  // Writes the marks if they have changed. Errors: kOutput.
  [[nodiscard]] Result<void> Keep(const Document& document, const TimelineState& state);

 private:
  std::filesystem::path folder_;
  std::filesystem::path file_;  // holds the document's marks
  std::uint64_t serial_ = 0;    // Document::serial
  Marks kept_;                  // as they are in the file
};

}  // namespace penstock::gui
