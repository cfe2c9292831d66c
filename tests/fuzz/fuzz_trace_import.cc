// SPDX-License-Identifier: Apache-2.0
//
// Imports any bytes as another tool's recording; the first byte chooses the format. The import must
// either fail with an error of one line, or give a trace that can be read to its end.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "traces/exchange/import.h"
#include "traces/trace_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace penstock::traces {
namespace {

void Require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "fuzz_trace_import: %s\n", what);
    std::abort();
  }
}

Result<void> ImportDatabase(std::string_view bytes, Foreign& into) {
  const int fd = memfd_create("input", MFD_CLOEXEC);
  Require(fd >= 0 && write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "no memory file");
  const Result<void> read = ImportNsight("/proc/self/fd/" + std::to_string(fd), into);
  close(fd);
  return read;
}

Result<void> Import(int format, std::string_view bytes, Foreign& into) {
  std::string padded(bytes);
  padded.resize(bytes.size() + simdjson::SIMDJSON_PADDING);
  const std::string_view text(padded.data(), bytes.size());
  switch (format) {
    case 0:
      return ImportChrome(text, padded.size(), "input", into);
    case 1:
      return ImportPfw(text, padded.size(), "input", into);
    case 2:
      return ImportPerfetto(text, "input", into);
    default:
      return ImportDatabase(bytes, into);
  }
}

void ReadAll(const Trace& trace, std::uint64_t spans) {
  std::uint64_t seen = 0;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    Require(trace.threads()[i].process.value < trace.processes().size(), "a thread of no process");
    for (const Span& span : trace.Spans(ThreadId{i})) {
      ++seen;
      Require(Foreign::Plausible(span.start, span.duration), "a time that cannot be");
      static_cast<void>(trace.String(span.name));
      static_cast<void>(trace.String(span.object));
    }
  }
  Require(seen == spans, "spans were lost");
  for (const Event& event : trace.events()) {
    Require(event.thread.value < trace.threads().size(), "an event of no thread");
    Require(Foreign::Plausible(event.at, {}), "an event at a time that cannot be");
  }
  for (const CounterSample& counter : trace.counters()) {
    Require(Foreign::Plausible(counter.at, {}), "a counter at a time that cannot be");
    static_cast<void>(trace.String(counter.name));
  }
}

}  // namespace
}  // namespace penstock::traces

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock::traces;
  if (size == 0) return 0;
  TraceBuilder builder;
  Foreign into(builder);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = Import(data[0] % 4, bytes, into);
  if (!read) {
    Require(!read.error().message.empty() && read.error().message.find('\n') == std::string::npos,
            "an error that is not one line");
    return 0;
  }
  ReadAll(*builder.Build(), into.summary().spans);
  return 0;
}
