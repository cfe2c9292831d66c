// SPDX-License-Identifier: Apache-2.0
//
// reads TRACE: prints a line "stage name batch sample bytes object" for each span of the trace.
#include <cstdint>
#include <cstdio>

#include <fmt/core.h>

#include "traces/trace.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto trace = penstock::traces::OpenTrace(argv[1]);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 4;
  }
  const penstock::traces::Trace& read = **trace;
  for (std::uint32_t thread = 0; thread < read.threads().size(); ++thread) {
    for (const penstock::traces::Span& span : read.Spans(penstock::ThreadId{thread})) {
      fmt::print("{} {} {} {} {} {}\n", StageName(span.stage), read.String(span.name),
                 span.batch.index, span.sample, span.bytes.value, read.String(span.object));
    }
  }
  return 0;
}
