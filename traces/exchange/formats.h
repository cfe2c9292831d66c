// SPDX-License-Identifier: Apache-2.0
//
// The formats to which a trace can be exported. Functions; several threads may export a Trace at
// once.
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string_view>

#include "traces/base/result.h"
#include "traces/export.h"
#include "traces/trace.h"

namespace penstock::traces {

// Perfetto's protobuf (TracePacket), for its UI and trace processor. Writes names of processes and
// threads, spans with batch, sample, bytes, CPU time and file, counters, and flows along each
// batch. Returns false if the sink did. Cost: about 2 us and 100 bytes per span. Source:
// perfetto.proto in this folder.
[[nodiscard]] bool ExportPerfetto(const Trace& trace, const TextSink& sink);

// Chrome's Trace Event Format, of which Kineto's is a dialect: the same contents as JSON. Times are
// microseconds of CLOCK_MONOTONIC with three decimals.
[[nodiscard]] bool ExportChrome(const Trace& trace, const TextSink& sink);

// DFTracer's lines for DFAnalyzer: reads as POSIX calls of a file and host, the rest in the
// categories of its AI conventions. Times are whole microseconds since the epoch.
// Source: llnl-asr/dftracer json_line.cpp, llnl-asr/dfanalyzer dftracer.py.
[[nodiscard]] bool ExportPfw(const Trace& trace, const TextSink& sink);

// Call trees of followed samples, batches and steps: for speedscope and other viewers of profiles
// (times in nanoseconds), and as lines "stage;outer;inner MICROSECONDS" for flame graphs. Times are
// as recorded, without the cost of following; before Python 3.12, Python functions took longer than
// without following (traces/FORMAT.md). Source: speedscope's file-format-schema.json; Brendan
// Gregg's stackcollapse.
[[nodiscard]] bool ExportSpeedscope(const Trace& trace, const TextSink& sink);
[[nodiscard]] bool ExportCollapsed(const Trace& trace, const TextSink& sink);
// Why a trace has no call trees for these two formats; "": it has some.
[[nodiscard]] std::string_view LackOfCalls(const Trace& trace);

// A SQLite database with the tables and views of sqlite_schema.h. The file appears when it is
// complete.
// Errors: kOutput, also if `stop` is requested before the file is complete.
[[nodiscard]] Result<void> ExportSqlite(const Trace& trace, const std::filesystem::path& path,
                                        const std::stop_token& stop);

struct ExportFormat {
  std::string_view name;
  std::string_view what;  // one line for --help
  // One of the two is set: a function that streams text or bytes to a sink, or one that writes a
  // file in place.
  bool (*stream)(const Trace& trace, const TextSink& sink) = nullptr;
  Result<void> (*file)(const Trace& trace, const std::filesystem::path& path,
                       const std::stop_token& stop) = nullptr;
  // Why the trace has nothing for this format; "": it has something. nullptr: every trace has.
  std::string_view (*lack)(const Trace& trace) = nullptr;
};
// Why `trace` has nothing for `format`; "" if it has something.
[[nodiscard]] std::string_view LackFor(const ExportFormat& format, const Trace& trace);

[[nodiscard]] std::span<const ExportFormat> ExportFormats();
// The format of this name; nullptr if there is none.
[[nodiscard]] const ExportFormat* FindExportFormat(std::string_view name);

// Writes under a temporary name, then renames to `path`. Compresses if `path` ends in ".gz", except
// databases. Errors: kOutput; kUsage for a database with such a name.
[[nodiscard]] Result<void> ExportToFile(const Trace& trace, const ExportFormat& format,
                                        const std::filesystem::path& path);

}  // namespace penstock::traces
