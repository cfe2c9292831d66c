// SPDX-License-Identifier: Apache-2.0
//
// Reads paths of traces from standard input and prints a line of JSON for each: the bytes of read
// spans by process and file, what counts as lost, and the problems that validate finds.
// tests/torture/victim_runs.py runs it.
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/trace.h"
#include "traces/validate.h"

namespace {

using penstock::ThreadId;
using penstock::traces::Losses;
using penstock::traces::OpenTrace;
using penstock::traces::ProcessInfo;
using penstock::traces::Span;
using penstock::traces::StageId;
namespace wire = penstock::wire;

struct Sum {
  std::uint64_t bytes = 0;
  std::uint64_t spans = 0;
};

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Returns the bytes that a process counted as lost, or 0 if Process does not have this field.
template <class Process>
std::uint64_t LostBytes(const Process& process) {
  if constexpr (requires { process.bytes_lost.value; }) {
    return process.bytes_lost.value;
  } else {
    return 0;
  }
}

template <class AnyLosses>
std::uint64_t LostOfAll(const AnyLosses& losses) {
  if constexpr (requires { losses.bytes_lost.value; }) {
    return losses.bytes_lost.value;
  } else {
    return 0;
  }
}

std::string Summary(const std::string& path) {
  const auto checked = penstock::traces::ValidateTrace(path);
  if (!checked) return fmt::format("{{\"error\": {}}}", Quoted(checked.error().message));
  const auto trace = OpenTrace(path);
  if (!trace) return fmt::format("{{\"error\": {}}}", Quoted(trace.error().message));
  const penstock::traces::Trace& t = **trace;
  // The sums of read spans by process, kind and file.
  std::map<std::tuple<std::uint32_t, std::string, std::string>, Sum> sums;
  const auto threads = t.threads();
  const auto processes = t.processes();
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    const auto process = std::size_t{threads[i].process.value};
    const std::uint32_t pid = process < processes.size() ? processes[process].pid : 0;
    t.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
      for (const Span& span : spans) {
        if (span.stage != StageId::kRead) continue;
        const char* kind = (span.flags & wire::kFlagMapped) != 0       ? "mapped"
                           : (span.flags & wire::kFlagNetwork) != 0    ? "network"
                           : (span.flags & wire::kFlagUnfinished) != 0 ? "unfinished"
                                                                       : "read";
        Sum& sum = sums[{pid, kind, std::string(t.String(span.object))}];
        sum.bytes += span.bytes.value;
        ++sum.spans;
      }
    });
  }
  std::string reads;
  for (const auto& [key, sum] : sums) {
    const auto& [pid, kind, object] = key;
    reads += fmt::format("{}[{}, \"{}\", {}, {}, {}]", reads.empty() ? "" : ", ", pid, kind,
                         Quoted(object), sum.bytes, sum.spans);
  }
  std::string lost;
  for (const ProcessInfo& process : processes) {
    lost += fmt::format("{}[{}, {}, {}, {}, {}]", lost.empty() ? "" : ", ", process.pid,
                        process.dropped, LostBytes(process), process.bytes_hooked.value,
                        process.bytes_dataset.value);
  }
  std::string problems;
  for (const std::string& problem : checked->problems) {
    problems += (problems.empty() ? "" : ", ") + Quoted(problem);
  }
  const Losses& l = checked->losses;
  return fmt::format(
      "{{\"reads\": [{}], \"processes\": [{}], \"problems\": [{}], \"dropped\": {}, "
      "\"lost_bytes\": {}, \"damaged\": {}, \"lost_threads\": {}, \"truncated\": {}, "
      "\"unsealed\": {}}}",
      reads, lost, problems, l.dropped_events, LostOfAll(l),
      l.damaged_records + l.damaged_chunks + l.damaged_bytes, l.lost_threads, l.truncated,
      l.unsealed);
}

}  // namespace

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    std::cout << Summary(path) << std::endl;
  }
  return 0;
}
