// SPDX-License-Identifier: Apache-2.0
//
// Builds `penstock` commands that the user may run next. Pure.
#pragma once

#include <string>
#include <string_view>

#include "traces/trace.h"

namespace penstock::gui {

inline constexpr const char* kRecordCommand = "penstock record -- python train.py";

// The command that runs `penstock VERB` on the program of the trace, such as
// "penstock doctor -- python train.py". The program is "python train.py" if the trace does not tell
// its command.
[[nodiscard]] std::string PenstockCommand(const traces::Trace& trace, std::string_view verb);

}  // namespace penstock::gui
