// SPDX-License-Identifier: Apache-2.0
//
// Recordings of other tools, opened as traces: PyTorch's profiler (Kineto), Chrome, Nsight Systems'
// SQLite, Perfetto, DFTracer.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::gui {

// Whether a file is such a recording, by its first bytes (`head`, one page of them), then by its
// name.
[[nodiscard]] bool IsForeign(std::string_view head, const std::filesystem::path& path);

// Converts such a recording into a trace, and leaves no file behind. Errors: those of
// traces::ImportTrace; kInput for a report of Nsight Systems that was not exported yet, with the
// command that exports it; kEnvironment if there is no room for the trace.
[[nodiscard]] Result<std::unique_ptr<traces::Trace>> OpenForeign(const std::filesystem::path& path);

}  // namespace penstock::gui
