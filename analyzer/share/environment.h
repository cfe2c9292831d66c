// SPDX-License-Identifier: Apache-2.0
//
// Facts of the environment that the reader of a bug report asks for. They include no environment
// variables, paths or names.
#pragma once

#include <map>
#include <string>

#include "traces/trace.h"

namespace penstock::analyzer {

// Where the trace was recorded: kernel, processor, memory, devices, versions of Python and its
// packages.
[[nodiscard]] std::map<std::string, std::string> RecordedEnvironment(const traces::Trace& trace);

// This machine: kernel, distribution, processor, memory.
[[nodiscard]] std::map<std::string, std::string> OwnEnvironment();

// Both as one JSON object of schema penstock.environment/1. `version`: of this program.
[[nodiscard]] std::string EnvironmentJson(const traces::Trace& trace, std::string_view version);

}  // namespace penstock::analyzer
