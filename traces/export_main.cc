// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <string>

#include "traces/base/file.h"
#include "traces/export.h"
#include "traces/program.h"

namespace {

using penstock::Error;
using penstock::ErrorKind;
using penstock::OutputFile;
using penstock::Result;
using penstock::traces::ExportFormat;
using penstock::traces::Trace;

std::string Names() {
  std::string names;
  for (const ExportFormat& format : penstock::traces::ExportFormats()) {
    names += names.empty() ? "" : ", ";
    names += format.name;
  }
  return names;
}

Result<void> ToStandardOutput(const Trace& trace, const ExportFormat& format) {
  const bool done = format.run(trace, [](std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  });
  if (!done || std::fflush(stdout) != 0) {
    return penstock::Fail(ErrorKind::kOutput, "standard output cannot be written; free some space");
  }
  return {};
}

Result<void> ToFile(const Trace& trace, const ExportFormat& format, const std::string& path) {
  Result<OutputFile> file = OutputFile::Create(path, fmt::format(".{}.tmp", ::getpid()));
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  Result<void> written;
  const bool done = format.run(trace, [&](std::string_view text) {
    written = file->Append(std::as_bytes(std::span(text.data(), text.size())));
    return written.has_value();
  });
  if (!done) {
    file->Discard();
    return written;
  }
  return file->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes a trace in a format that other programs read.", "penstock-export");
  std::string path;
  std::string to;
  std::string output;
  app.add_option("TRACE", path, "a packed trace or a recording")->required();
  app.add_option("--to", to, "format: " + Names())->required();
  app.add_option("-o,--output", output, "file to write; standard output if absent");
  int status = 0;
  if (!penstock::traces::ParseCommandLine(app, argc, argv, &status)) {
    return status;
  }
  const ExportFormat* format = penstock::traces::FindExportFormat(to);
  if (format == nullptr) {
    return penstock::traces::Complain(
        app,
        {ErrorKind::kUsage, fmt::format("--to {}: no such format; there are {}", to, Names())});
  }
  const auto trace = penstock::traces::OpenTrace(path);
  if (!trace) {
    return penstock::traces::Complain(app, trace.error());
  }
  const Result<void> written = output.empty() || output == "-" ? ToStandardOutput(**trace, *format)
                                                               : ToFile(**trace, *format, output);
  return written ? 0 : penstock::traces::Complain(app, written.error());
}
