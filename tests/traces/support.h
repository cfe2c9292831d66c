// SPDX-License-Identifier: Apache-2.0
//
// What the tests of traces share: temporary folders, a small recording, a realistic stream.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "traces/pack.h"
#include "traces/recording/recording_writer.h"
#include "traces/trace.h"

namespace penstock::traces::testing {

// A folder that is gone with the object.
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

// A recording of two processes, three threads, about forty records of every kind, one operation
// in flight.
[[nodiscard]] RecordingWriter SmallRecording(const RecordingOptions& options = {});
// One worker with two followed units: one of three nodes, one of one.
[[nodiscard]] RecordingWriter FollowedRecording(const RecordingOptions& options = {.chunks = 2});
[[nodiscard]] std::vector<std::byte> Bytes(RecordingWriter& recording);

// The fields of a span that no damage may change, without its strings.
[[nodiscard]] std::string Numbers(const Span& span);
// Numbers() of every span of the trace.
[[nodiscard]] std::multiset<std::string> AllNumbers(const Trace& trace);
[[nodiscard]] std::set<std::string> AllStrings(const Trace& trace);

// Spans of `damaged` that `whole` does not have, or that it has less often, or with a string that
// `whole` does not know ("" and "#..." stand for a text that was lost). Unfinished ones do not
// count: nothing protects them.
[[nodiscard]] std::vector<std::string> Invented(const Trace& whole, const Trace& damaged);

// A stream as PyTorch with an image folder makes it: per image sample, read, decode, augment with
// three transforms inside it; per batch fetch, collate, put and idle; a consumer with wait, get,
// pin, step, h2d. A random permutation of `images` indices per epoch, one path per image, lognormal
// times with nanosecond noise.
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
