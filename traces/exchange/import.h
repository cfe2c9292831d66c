// SPDX-License-Identifier: Apache-2.0
//
// Imports recordings of other tools as traces. Functions. They write only the trace and run no
// other program. Their memory is bounded, whatever the file holds: in proportion to its text, which
// is at most kMostText.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "traces/base/result.h"
#include "traces/exchange/foreign.h"

namespace penstock::traces {

// The longest text: it is read whole, and unpacked if it is gzip. simdjson accepts 4 GiB.
inline constexpr std::size_t kMostText = std::size_t{4} << 30;

// Chrome's Trace Event Format in its dialects: PyTorch's profiler (Kineto, 2021 and later), our own
// export, any other. `text` is followed by simdjson's padding. Errors: kInput, with the offset of
// the malformed part.
[[nodiscard]] Result<void> ImportChrome(std::string_view text, std::size_t capacity,
                                        const std::filesystem::path& name, Foreign& into);

// DFTracer's lines. Errors: as ImportChrome().
[[nodiscard]] Result<void> ImportPfw(std::string_view text, std::size_t capacity,
                                     const std::filesystem::path& name, Foreign& into);

// Nsight Systems' SQLite export of any year; missing tables and columns are skipped. Errors:
// kInput.
[[nodiscard]] Result<void> ImportNsight(const std::filesystem::path& path, Foreign& into);

// Perfetto's protobuf: track events of processes, threads and counters. Errors: kInput.
[[nodiscard]] Result<void> ImportPerfetto(std::string_view bytes, const std::filesystem::path& name,
                                          Foreign& into);

// Recognises the format by the contents and writes the trace `to`, which appears when it is
// complete. Errors: kInput if the file is in none of these formats, is damaged, or has no span;
// kOutput.
[[nodiscard]] Result<ImportSummary> ImportTrace(const std::filesystem::path& from,
                                                const std::filesystem::path& to);

}  // namespace penstock::traces
