// SPDX-License-Identifier: Apache-2.0
//
// Reads a whole trace and reports everything that is not well-formed. Function, thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/base/result.h"
#include "traces/event.h"

namespace penstock::traces {

// The bytes that reads of dataset files, or of sockets, returned, and where they are. Sums over all
// processes whose counts hold for the whole trace. `counted`: by the agent's counters,
// independently of the spans.
struct ByteBalance {
  Bytes counted;
  Bytes in_spans;
  Bytes lost;     // counted as lost
  Bytes claimed;  // in spans that the program writes itself
  // Tolerance of the difference: reads that were being counted when their threads were killed.
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
  std::uint64_t unfinished = 0;  // spans that their thread's death cut off
  std::uint64_t named = 0;       // spans with an object or a name
  std::uint64_t nameless = 0;    // part of `named` whose text is not in the trace
  std::uint64_t events = 0;
  std::uint64_t counters = 0;
  TimeNs duration;
  Losses losses;
  // Number of processes whose bytes could be compared. Bytes cannot be compared in recordings of
  // earlier versions, in traces that are unfinished or keep only the end, and for processes that
  // went on after the recording.
  std::uint64_t balanced = 0;
  ByteBalance files;
  ByteBalance sockets;
  Bytes lost_elsewhere;               // by processes that found no slot
  Bytes kernel;                       // rchar of all processes for which it is known
  Bytes hooked;                       // the part of `kernel` that the hooks saw
  std::vector<std::string> problems;  // one line each; none, and no losses: the trace is sound

  [[nodiscard]] bool sound() const { return problems.empty() && !losses.any(); }
};

// Errors: kInput as OpenTrace().
// Cost: decodes every span once.
[[nodiscard]] Result<ValidationReport> ValidateTrace(const std::filesystem::path& path);

// The report as one JSON object, without a newline.
[[nodiscard]] std::string ToJson(const ValidationReport& report);

}  // namespace penstock::traces
