// SPDX-License-Identifier: Apache-2.0
//
// What the tests of traces share: temporary folders, a small recording, a realistic stream.
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

// A recording of two processes with a thread each: about forty records of every kind, except
// followed units, and one operation in flight.
[[nodiscard]] RecordingWriter SmallRecording(const RecordingOptions& options = {});
// A recording of one worker with two followed units: one has three nodes, the other one.
[[nodiscard]] RecordingWriter FollowedRecording(const RecordingOptions& options = {.chunks = 2});
[[nodiscard]] std::vector<std::byte> Bytes(RecordingWriter& recording);

// The fields of a span that no damage may change, without its strings.
using SpanNumbers = std::array<std::int64_t, 11>;
using Strings = std::set<std::string, std::less<>>;
// Those of every span of the trace that is finished, sorted.
[[nodiscard]] std::vector<SpanNumbers> AllNumbers(const Trace& trace);
[[nodiscard]] Strings AllStrings(const Trace& trace);

// What a sound trace holds, to compare with thousands of damaged copies.
class Known {
 public:
  explicit Known(const Trace& whole) : numbers_(AllNumbers(whole)), strings_(AllStrings(whole)) {}

  // Spans of `damaged` that the sound trace does not have, or that it has less often, and strings
  // that it does not know ("" and "#..." stand for a text that was lost). Unfinished spans do not
  // count: nothing protects them.
  [[nodiscard]] std::vector<std::string> Invented(const Trace& damaged) const;

 private:
  std::vector<SpanNumbers> numbers_;
  Strings strings_;
};

// Spans as of PyTorch with an image folder. For each image: sample, read, decode, augment with
// three transforms inside it. For each batch: fetch, collate, put and idle; in the training process
// get, wait and step. Each epoch is a random permutation of `images` indices, each image has a
// path, and times are lognormal.
struct StreamOptions {
  std::uint32_t images = 50'000;
  std::uint32_t epochs = 1;
  std::uint32_t batch = 64;
  std::uint32_t workers = 4;
  std::uint64_t seed = 1;
};
// Returns the number of spans.
std::uint64_t WritePytorchLike(const StreamOptions& options, Packer& out);

}  // namespace penstock::traces::testing
