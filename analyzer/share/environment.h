// SPDX-License-Identifier: Apache-2.0
//
// Facts of the environment that the reader of a bug report asks for. They include no environment
// variables, no paths, and no names of hosts, users, files or packages that are not public.
#pragma once

#include <map>
#include <string>

#include "traces/trace.h"

namespace penstock::analyzer {

// Where and how the trace was recorded: kernel, processor, memory, storage of the dataset, devices,
// memory allocator, record mode, GPU level, versions of Penstock, Python and public libraries.
[[nodiscard]] std::map<std::string, std::string> RecordedEnvironment(const traces::Trace& trace);

// This machine: kernel, distribution, processor, memory.
[[nodiscard]] std::map<std::string, std::string> OwnEnvironment();

// Both as one JSON object of schema penstock.environment/1. `version`: of this program.
[[nodiscard]] std::string EnvironmentJson(const traces::Trace& trace, std::string_view version);

}  // namespace penstock::analyzer
