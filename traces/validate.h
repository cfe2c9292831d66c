// SPDX-License-Identifier: Apache-2.0
//
// Walks all of a trace and says what is well-formed and what is not. Function, thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/base/result.h"
#include "traces/event.h"

namespace penstock::traces {

// What the reads of dataset files, or of sockets, returned, and where it is: `counted` by the
// agent's counters, apart from the spans; all processes of which the counts hold for the whole
// trace.
struct ByteBalance {
  Bytes counted;
  Bytes in_spans;
  Bytes lost;     // counted as such
  Bytes claimed;  // by the program, which writes the spans itself
  // So much of the difference is reads that were being counted when their threads were killed.
  Bytes open;

  constexpr bool operator==(const ByteBalance&) const = default;
};

struct ValidationReport {
  enum class Kind { kRecording, kPacked };

  Kind kind = Kind::kRecording;
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  Bytes file_size;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::uint64_t spans = 0;
  std::uint64_t unfinished = 0;  // of the spans: in flight when their thread died
  std::uint64_t named = 0;       // of the spans: have an object, or a name
  std::uint64_t nameless = 0;    // of those: its text is not in the trace
  std::uint64_t events = 0;
  std::uint64_t counters = 0;
  TimeNs duration;
  Losses losses;
  // Of `processes`, those whose bytes could be compared; not those of earlier versions, of a trace
  // that was not finished or of which only the end was kept, and those that ran on.
  std::uint64_t balanced = 0;
  ByteBalance files;
  ByteBalance sockets;
  Bytes lost_elsewhere;               // of processes that found no slot
  Bytes kernel;                       // rchar of all processes of which it is known,
  Bytes hooked;                       // and what the hooks saw of it
  std::vector<std::string> problems;  // one line each; empty and no losses: sound

  [[nodiscard]] bool sound() const { return problems.empty() && !losses.any(); }
};

// Errors: kInput as OpenTrace().
// Cost: decodes every span once.
[[nodiscard]] Result<ValidationReport> ValidateTrace(const std::filesystem::path& path);

// The report as one JSON object, without a newline.
[[nodiscard]] std::string ToJson(const ValidationReport& report);

}  // namespace penstock::traces
