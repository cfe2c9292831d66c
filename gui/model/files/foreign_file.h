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

// Whether a file is one of these: by its first bytes (`head`, a page of them), then by its name.
[[nodiscard]] bool IsForeign(std::string_view head, const std::filesystem::path& path);

// Carries it over into a trace of its own, which is no file afterwards.
// Errors: those of traces::ImportTrace; kInput for a report of Nsight Systems that was not exported
// yet, with the command that does it; kEnvironment if there is nowhere to put the trace.
[[nodiscard]] Result<std::unique_ptr<traces::Trace>> OpenForeign(const std::filesystem::path& path);

}  // namespace penstock::gui
