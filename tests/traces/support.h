// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the tests of traces: temporary folders, small recordings, the spans of a trace.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "traces/pack.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"

namespace penstock::traces::testing {

// A folder that is removed with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::vector<std::byte> ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, std::span<const std::byte> bytes);

// A recording of two processes with a thread each. It has about forty records, of every kind except
// followed units, and one operation in flight.
[[nodiscard]] RecordingWriter SmallRecording(const RecordingOptions& options = {});
// A recording of one worker with two followed units: one has three nodes, the other one.
[[nodiscard]] RecordingWriter FollowedRecording(const RecordingOptions& options = {.chunks = 2});
[[nodiscard]] std::vector<std::byte> Bytes(RecordingWriter& recording);
// The hash that a record has in place of a name.
[[nodiscard]] std::uint32_t NameHash(std::string_view name);

// The fields of a span except its strings. No damage may change them.
using SpanNumbers = std::array<std::int64_t, 11>;
using Strings = std::set<std::string, std::less<>>;
// The fields of every finished span of the trace, sorted.
[[nodiscard]] std::vector<SpanNumbers> AllNumbers(const Trace& trace);
[[nodiscard]] Strings AllStrings(const Trace& trace);

// The contents of a sound trace, to compare with thousands of damaged copies.
class Known {
 public:
  explicit Known(const Trace& whole) : numbers_(AllNumbers(whole)), strings_(AllStrings(whole)) {}

  // Spans and strings of `damaged` that the sound trace does not have, and spans that it has less
  // often. The strings "" and "#..." stand for a lost text and are left out, and so are unfinished
  // spans, which nothing protects.
  [[nodiscard]] std::vector<std::string> Invented(const Trace& damaged) const;

 private:
  std::vector<SpanNumbers> numbers_;
  Strings strings_;
};

}  // namespace penstock::traces::testing
