// SPDX-License-Identifier: Apache-2.0
//
// The program whose run traces_long_run simulates: its threads, its files and the spans that it
// writes into a ring. Used by one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/recording/recording_writer.h"
#include "traces/wire.h"

namespace penstock::traces::long_run {

inline constexpr std::uint64_t kSecond = 1'000'000'000;
inline constexpr std::uint64_t kStart = 1'000 * kSecond;
inline constexpr std::uint32_t kSpansPerImage = 7;

struct Options {
  std::uint64_t spans = 6'000'000;
  std::uint64_t files = 100'000;
  std::uint32_t threads = 144;
  std::uint32_t processes = 16;
  double hours = 1;
  std::uint64_t restart_s = 0;  // all processes are replaced after this time; 0: never
  std::string output = "long.penstock";
  double most_bytes = 0;  // a limit per span; 0 in this and the next two limits: no limit
  double most_mb = 0;
  double most_growth_mb = 0;
};

[[nodiscard]] std::uint64_t Mix(std::uint64_t x);
[[nodiscard]] std::string PathOf(std::uint64_t index);

// Lognormal times from a table, because a billion logarithms would take too long.
class Times {
 public:
  Times();
  [[nodiscard]] std::uint64_t Next(double median_ns);

 private:
  std::array<double, 4096> factors_{};
  std::uint64_t state_ = 1;
};

// Remembers which texts a process has written, as agent/core/text.cc does.
class Told {
 public:
  bool Tell(std::uint64_t id) {
    std::uint64_t* line = ids_.data() + (id * 0x9e3779b97f4a7c15u >> 50) * kWays;
    if (std::find(line, line + kWays, id) != line + kWays) return false;
    std::copy_backward(line, line + kWays - 1, line + kWays);
    line[0] = id;
    return true;
  }

 private:
  static constexpr std::uint64_t kWays = 8;
  std::vector<std::uint64_t> ids_ = std::vector<std::uint64_t>(kWays << 14);
};

// A program whose threads read, decode and augment one image after the other, and do nothing else.
class Program {
 public:
  Program(const Options& options, RecordingWriter& ring);

  // Ends all threads and processes in good order, and starts others in their place.
  void Restart();
  // Thread `t` makes one image. It begins at `from` or later.
  void Image(std::uint32_t t, std::uint64_t from);
  // The processes that have ended and that the drain has not retired yet.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint64_t>>& ended() { return ended_; }
  [[nodiscard]] std::uint64_t images() const { return images_; }
  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const RecordingWriter::Thread& thread : threads_) sum += thread.dropped();
    return sum;
  }

 private:
  static constexpr std::array<std::string_view, kSpansPerImage> kNames = {
      "posix",    "PIL",     "RandomResizedCrop", "RandomHorizontalFlip",
      "ToTensor", "Compose", "ImageFolder"};

  std::uint64_t Span(std::uint32_t t, wire::Stage stage, std::uint32_t name, std::uint64_t start,
                     std::uint64_t length, std::uint8_t depth, std::uint64_t sample,
                     std::uint64_t bytes, std::uint64_t object);

  const Options& options_;
  RecordingWriter& ring_;
  Times times_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ended_;
  std::vector<Told> told_;
  std::vector<RecordingWriter::Thread> threads_;
  std::vector<std::uint32_t> names_;
  std::vector<std::uint64_t> now_;
  std::uint64_t images_ = 0;
  std::uint32_t last_pid_ = 100;
  std::uint32_t last_tid_ = 0;
};

}  // namespace penstock::traces::long_run
