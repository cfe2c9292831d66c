// SPDX-License-Identifier: Apache-2.0
//
// Other tools' recordings as traces. Functions; nothing is written but the trace, nothing is run,
// and what a file may ask for is bounded (kMostText, and memory in proportion to that).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "traces/base/result.h"
#include "traces/exchange/foreign.h"

namespace penstock::traces {

// Text is read whole, unpacked if it is gzip: more of it is refused. 4 GiB is what simdjson takes.
inline constexpr std::size_t kMostText = std::size_t{4} << 30;

// Chrome's Trace Event Format in its dialects: PyTorch's profiler (Kineto, 2021 and later), our own
// export, any other. `text` has simdjson's padding after it.
// Errors: kInput with the offset of what is malformed.
[[nodiscard]] Result<void> ImportChrome(std::string_view text, std::size_t capacity,
                                        const std::filesystem::path& name, Foreign& into);

// DFTracer's lines. Errors: as above.
[[nodiscard]] Result<void> ImportPfw(std::string_view text, std::size_t capacity,
                                     const std::filesystem::path& name, Foreign& into);

// Nsight Systems' SQLite export, of any year: tables and columns that are not there are left out.
// Errors: kInput.
[[nodiscard]] Result<void> ImportNsight(const std::filesystem::path& path, Foreign& into);

// Perfetto's protobuf: track events, of processes, threads and counters. Errors: kInput.
[[nodiscard]] Result<void> ImportPerfetto(std::string_view bytes, const std::filesystem::path& name,
                                          Foreign& into);

// Recognises the format by its contents, and writes the trace `to`, which appears when it is
// complete. Errors: kInput if it is none of these or damaged, or holds no span; kOutput.
[[nodiscard]] Result<ImportSummary> ImportTrace(const std::filesystem::path& from,
                                                const std::filesystem::path& to);

}  // namespace penstock::traces
