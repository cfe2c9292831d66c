// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <filesystem>
#include <string>

#include "traces/base/file.h"
#include "traces/base/program.h"
#include "traces/base/say.h"
#include "traces/exchange/import.h"

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-import");
  penstock::traces::CommandLine line(
      "Makes a trace of another tool's recording, for report, what-if and dashboard: JSON of "
      "torch.profiler or Chrome, SQLite of Nsight Systems, Perfetto, DFTracer's .pfw.",
      "penstock-import");
  std::string from;
  std::string to;
  bool quiet = false;
  line.Add("FILE", from, "what to read; may be gzipped").Required();
  line.Add("-o,--output", to, "the trace to write (default: FILE's name with .penstock, here)");
  line.AddFlag("--quiet", quiet, "do not print what was imported");
  int status = 0;
  if (!penstock::traces::ParseCommandLine(line, argc, argv, &status)) return status;
  if (to.empty()) {
    std::filesystem::path name = std::filesystem::path(from).filename();
    for (const char* ending :
         {".gz", ".json", ".pfw", ".sqlite", ".perfetto-trace", ".perfetto", ".pftrace"}) {
      if (name.extension() == ending) name.replace_extension();
    }
    to = name.string() + ".penstock";
    // The user did not choose this name, so an existing file keeps it.
    if (penstock::LookAtName(to).exists) to = penstock::FreshName(to, std::time(nullptr)).string();
  }
  const auto summary = penstock::traces::ImportTrace(from, to);
  if (!summary) return penstock::traces::Complain(line, summary.error());
  if (quiet) return 0;
  fmt::print("{}: {}, {} spans", to, summary->format, summary->spans);
  if (summary->batches > 0) fmt::print(", {} batches of a DataLoader", summary->batches);
  if (summary->counters > 0) fmt::print(", {} counter values", summary->counters);
  fmt::print("\n");
  for (const auto& [kind, count] : summary->left_out)
    fmt::print("  left out: {} ({})\n", kind, count);
  return 0;
}
