// SPDX-License-Identifier: Apache-2.0
//
// The report of a run, as text and as JSON. Pure functions.
#pragma once

#include <string>

#include "loader/main/arguments.h"
#include "loader/main/run.h"

namespace penstock::loader {

// Some lines, each with its newline.
[[nodiscard]] std::string TextReport(const LoadArguments& arguments, const RunResult& result);

// One object, schema penstock.load/1, with a newline. Times in seconds, sizes in bytes, rates in
// samples per second, shares 0 to 1; keys may be added.
[[nodiscard]] std::string JsonReport(const LoadArguments& arguments, const RunResult& result);

}  // namespace penstock::loader
