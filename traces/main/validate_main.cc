// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "traces/base/program.h"
#include "traces/base/say.h"
#include "traces/validate.h"

namespace {

using penstock::Seconds;
using penstock::traces::ByteBalance;
using penstock::traces::Losses;
using penstock::traces::ValidationReport;

void Print(const ByteBalance& b, const char* what) {
  if (b == ByteBalance{}) {
    return;
  }
  const std::uint64_t there = b.in_spans.value + b.lost.value + b.claimed.value;
  fmt::print("  reads of {} returned {} bytes: {} in spans", what, b.counted.value,
             b.in_spans.value);
  if (b.lost.value != 0) {
    fmt::print(", {} lost", b.lost.value);
  }
  if (b.claimed.value != 0) {
    fmt::print(", {} in spans of the program's own", b.claimed.value);
  }
  if (b.open.value != 0) {
    fmt::print(", {} being counted when the thread was killed", b.open.value);
  } else if (there == b.counted.value) {
    fmt::print(", none unexplained");
  }
  fmt::print("\n");
}

void PrintBytes(const ValidationReport& r) {
  Print(r.files, "files");
  Print(r.sockets, "sockets");
  if (r.balanced < r.processes) {
    fmt::print("  of {} processes the bytes could not be compared with the counts\n",
               r.processes - r.balanced);
  }
  if (r.lost_elsewhere.value != 0) {
    fmt::print("  lost: {} bytes read by processes without a slot\n", r.lost_elsewhere.value);
  }
  if (r.kernel.value != 0) {
    fmt::print("  the kernel counted {} bytes read, the hooks saw {}\n", r.kernel.value,
               r.hooked.value);
  }
}

void Print(const std::string& path, const ValidationReport& r) {
  const bool packed = r.kind == ValidationReport::Kind::kPacked;
  fmt::print("{}: {} {}.{}, {} bytes\n", path, packed ? "packed trace" : "recording", r.major,
             r.minor, r.file_size.value);
  fmt::print("  processes {}, threads {}, spans {}, events {}, counter samples {}, {:.3f} s\n",
             r.processes, r.threads, r.spans, r.events, r.counters, Seconds(r.duration));
  if (r.unfinished != 0) {
    fmt::print("  {} spans were in flight when their thread ended\n", r.unfinished);
  }
  PrintBytes(r);
  const Losses& l = r.losses;
  const auto loss = [](std::uint64_t count, const char* what) {
    if (count != 0) {
      fmt::print("  lost: {} {}\n", count, what);
    }
  };
  loss(l.dropped_events, "events dropped by the agent (no room)");
  loss(l.damaged_records, "damaged records");
  loss(l.damaged_chunks, "damaged chunks or sections");
  loss(l.damaged_bytes, "bytes skipped");
  loss(l.lost_threads, "threads without a slot");
  if (l.truncated) {
    fmt::print("  lost: the end of the file\n");
  }
  if (l.unsealed) {
    fmt::print("  the recording was not finished\n");
  }
  for (const std::string& problem : r.problems) {
    fmt::print("  problem: {}\n", problem);
  }
  fmt::print("{}\n", r.sound() ? "sound" : "readable, with the losses above");
}

}  // namespace

int main(int argc, char** argv) {
  penstock::SayWhenMemoryEnds("penstock-validate");
  penstock::traces::CommandLine line("Checks a trace and says what is in it and what is missing.",
                                     "penstock-validate");
  std::string path;
  bool strict = false;
  bool json = false;
  line.Add("FILE", path, "a packed trace or a recording").Required();
  line.AddFlag("--strict", strict, "exit with 1 if anything is missing or damaged");
  line.AddFlag("--json", json, "print one JSON object");
  int status = 0;
  if (!penstock::traces::ParseCommandLine(line, argc, argv, &status)) {
    return status;
  }
  const auto report = penstock::traces::ValidateTrace(path);
  if (!report) {
    return penstock::traces::Complain(line, report.error());
  }
  if (json) {
    fmt::print("{}\n", penstock::traces::ToJson(*report));
  } else {
    Print(path, *report);
  }
  return strict && !report->sound() ? 1 : 0;
}
