// SPDX-License-Identifier: Apache-2.0
//
// Keeps what a person left in the timeline of each trace in a file. Owns what it last read or
// wrote; one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "gui/model/document.h"
#include "gui/model/timeline/marks.h"

namespace penstock::gui {

class MarkKeeper {
 public:
  // Without a folder nothing is kept.
  void Use(std::filesystem::path folder) { folder_ = std::move(folder); }
  // Puts those of the document's trace into `state`, as soon as it is known which trace it is, once
  // for each document.
  void Find(const Document& document, TimelineState& state);
  // Writes them if they have changed. Errors: kOutput.
  [[nodiscard]] Result<void> Keep(const Document& document, const TimelineState& state);

 private:
  std::filesystem::path folder_;
  std::filesystem::path file_;  // of the document
  std::uint64_t serial_ = 0;    // of the document
  Marks kept_;                  // as they are in the file
};

}  // namespace penstock::gui
