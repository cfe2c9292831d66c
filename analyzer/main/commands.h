// SPDX-License-Identifier: Apache-2.0
//
// The commands that `penstock` does itself. Each parses its own arguments, prints, and returns the
// exit status of docs/design.md 2.
#pragma once

#include <string>
#include <vector>

namespace penstock::analyzer {

[[nodiscard]] int ReportCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int WhatifCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int PlanCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int MergeCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int CompareCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int ShareCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int TuneCommand(const std::vector<std::string>& arguments);
[[nodiscard]] int DoctorCommand(const std::vector<std::string>& arguments);

// Whether standard output takes colour: it is a terminal, TERM is not dumb, and NO_COLOR is unset
// or empty.
[[nodiscard]] bool WantsColour();

// Writes all of `text` to standard output. Returns the exit status: 0, even if the reader ends
// early; 3, after one line on standard error, if `text` cannot be written. After this call the
// process ignores SIGPIPE.
[[nodiscard]] int Print(const std::string& text);

}  // namespace penstock::analyzer
