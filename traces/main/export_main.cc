// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <string>

#include "traces/base/program.h"
#include "traces/base/say.h"
#include "traces/exchange/formats.h"

namespace {

using penstock::Error;
using penstock::ErrorKind;
using penstock::Result;
using penstock::traces::ExportFormat;
using penstock::traces::Trace;

bool IsAny(const ExportFormat& /*format*/) {
  return true;
}

std::string Names(bool (*is_named)(const ExportFormat& format) = IsAny) {
  std::string names;
  for (const ExportFormat& format : penstock::traces::ExportFormats()) {
    if (!is_named(format)) continue;
    names += names.empty() ? "" : ", ";
    names += format.name;
  }
  return names;
}

Result<void> ToStandardOutput(const Trace& trace, const ExportFormat& format) {
  std::signal(SIGPIPE, SIG_IGN);
  const bool done = format.stream(trace, [](std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  });
  if ((!done || std::fflush(stdout) != 0) && errno != EPIPE) {  // | head has seen enough
    return penstock::Fail(ErrorKind::kOutput, "standard output cannot be written; free some space");
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-export");
  penstock::traces::CommandLine line("Writes a trace in a format that other programs read.",
                                     "penstock-export");
  std::string path;
  std::string to;
  std::string output;
  line.Add("TRACE", path, "a packed trace or a recording").Required();
  line.Add("--to", to, "format: " + Names()).Required();
  line.Add("-o,--output", output,
           fmt::format("file to write, compressed if it ends in .gz; standard output if absent; "
                       "{}: only to a file, uncompressed",
                       Names([](const ExportFormat& format) { return format.stream == nullptr; })));
  std::string formats = "Formats:\n";
  for (const ExportFormat& format : penstock::traces::ExportFormats()) {
    formats += fmt::format("  {:<10} {}\n", format.name, format.what);
  }
  line.SetFooter(formats);
  int status = 0;
  if (!penstock::traces::ParseCommandLine(line, argc, argv, &status)) {
    return status;
  }
  const ExportFormat* format = penstock::traces::FindExportFormat(to);
  if (format == nullptr) {
    return penstock::traces::Complain(
        line,
        {ErrorKind::kUsage, fmt::format("--to {}: no such format; there are {}", to, Names())});
  }
  const bool to_file = !output.empty() && output != "-";
  if (!to_file && format->stream == nullptr) {
    return penstock::traces::Complain(
        line, {ErrorKind::kUsage, fmt::format("--to {}: needs a file: -o F", to)});
  }
  const auto trace = penstock::traces::OpenTrace(path);
  if (!trace) {
    return penstock::traces::Complain(line, trace.error());
  }
  if (const std::string_view lack = LackFor(*format, **trace); !lack.empty()) {
    return penstock::traces::Complain(line, {ErrorKind::kInput, fmt::format("{}: {}", path, lack)});
  }
  const Result<void> written =
      to_file ? ExportToFile(**trace, *format, output) : ToStandardOutput(**trace, *format);
  return written ? 0 : penstock::traces::Complain(line, written.error());
}
