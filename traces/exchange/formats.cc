// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/formats.h"

#include <unistd.h>

#include <array>
#include <optional>

#include <fmt/format.h>

#include "traces/base/file.h"
#include "traces/exchange/gzip.h"

namespace penstock::traces {
namespace {

constexpr std::array<ExportFormat, 8> kFormats = {{
    {"perfetto", "for the Perfetto UI and trace processor", &ExportPerfetto, nullptr},
    {"chrome", "JSON of chrome://tracing, as torch.profiler writes it", &ExportChrome, nullptr},
    {"sqlite", "a SQLite database with views for common questions", nullptr, &ExportSqlite},
    {"csv", "a table of the spans", &ExportCsv, nullptr},
    {"pfw", "DFTracer's lines, for DFAnalyzer", &ExportPfw, nullptr},
    {"speedscope", "the functions of followed samples, for speedscope", &ExportSpeedscope, nullptr,
     &LackOfCalls},
    {"collapsed", "the same as collapsed stacks, for flame graphs", &ExportCollapsed, nullptr,
     &LackOfCalls},
    {"jsonl", "one JSON object per line: everything in the trace", &ExportJsonLines, nullptr},
}};

}  // namespace

std::span<const ExportFormat> ExportFormats() {
  return kFormats;
}

const ExportFormat* FindExportFormat(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::string_view LackFor(const ExportFormat& format, const Trace& trace) {
  return format.lack != nullptr ? format.lack(trace) : std::string_view();
}

Result<void> ExportToFile(const Trace& trace, const ExportFormat& format,
                          const std::filesystem::path& path) {
  const bool compressed = path.extension() == ".gz";
  if (format.file != nullptr) {
    if (compressed) {
      return Fail(ErrorKind::kUsage, fmt::format("{}: {} is not written compressed; leave .gz out",
                                                 path.string(), format.name));
    }
    return format.file(trace, path, {});
  }
  Result<OutputFile> file =
      OutputFile::Create(path, fmt::format(".{}.tmp", ::getpid()), {.private_to_owner = true});
  PENSTOCK_TRY(file);
  Result<void> written;
  const TextSink append = [&](std::string_view text) {
    written = file->Append(std::as_bytes(std::span(text.data(), text.size())));
    return written.has_value();
  };
  bool done = false;
  if (compressed) {
    Gzip gzip(append);
    done = format.stream(trace, [&](std::string_view text) { return gzip.Write(text); }) &&
           gzip.Finish();
  } else {
    done = format.stream(trace, append);
  }
  if (!done) {
    file->Discard();
    return written ? Fail(ErrorKind::kOutput, fmt::format("{}: cannot be made", path.string()))
                   : written;
  }
  return file->Commit();
}

}  // namespace penstock::traces
