// SPDX-License-Identifier: Apache-2.0
//
// The name of the program that a command line runs. Pure.
#pragma once

#include <string>

namespace penstock::analyzer {

// The script, module or program of a command line without its folder: "train.py". "": not known.
[[nodiscard]] std::string ProgramOf(const std::string& command);

}  // namespace penstock::analyzer
