// SPDX-License-Identifier: Apache-2.0
//
// Builds `penstock` commands that the user may run next. Pure.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/report/report.h"
#include "gui/model/words/texts.h"
#include "traces/trace.h"

namespace penstock::gui {

inline constexpr const char* kRecordCommand = "penstock record -- python train.py";

// The command that runs `penstock VERB` on the program of the trace, such as
// "penstock doctor -- python train.py". The program is "python train.py" if the trace does not tell
// its command, or if no trace is open (nullptr).
[[nodiscard]] std::string PenstockCommand(const traces::Trace& trace, std::string_view verb);
[[nodiscard]] std::string PenstockCommand(const traces::Trace* trace, std::string_view verb);

// A command to run next, and the sentence above it.
struct NextCommand {
  Text how{};
  std::string command{};  // "": no command helps
};
// What to run where nothing can be predicted from `trace` (Diagnosis::needs). A recording of
// Penstock's own lacks a loader because the program has none; an imported file may only not tell of
// it.
[[nodiscard]] NextCommand CommandToPredict(const analyzer::Report& report,
                                           const traces::Trace& trace);
// The sentence above that command where the plan stands beside it, which may give the advice of
// `how` itself.
[[nodiscard]] Text HowBesidePlan(const analyzer::Report& report, Text how);
// What to run where the program has no loader whose calls are followed: the same if that lacks a
// loader too, else what says what can be seen.
[[nodiscard]] NextCommand CommandToFollow(const analyzer::Report& report,
                                          const traces::Trace& trace);

}  // namespace penstock::gui
