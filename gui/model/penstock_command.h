// SPDX-License-Identifier: Apache-2.0
//
// Commands of penstock that a person may run next. Pure.
#pragma once

#include <string>
#include <string_view>

#include "traces/trace.h"

namespace penstock::gui {

inline constexpr const char* kRecordCommand = "penstock record -- python train.py";

// The program of the trace under a command of penstock: "penstock doctor -- python train.py".
[[nodiscard]] std::string PenstockCommand(const traces::Trace& trace, std::string_view verb);

}  // namespace penstock::gui
