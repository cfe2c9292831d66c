// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a pipeline went, by thread and by stage. Each thread fills its own ThreadStats.
// Others may read it after the thread has ended. Values.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loader/pipeline/device_options.h"
#include "loader/pipeline/options.h"
#include "traces/base/units.h"

namespace penstock::loader {

// A histogram of times with classes of equal ratio, 16 for each factor of two, so that a quantile
// is within 5 % of the true one. No allocation.
class Histogram {
 public:
  void Add(TimeNs length) {
    ++counts_[Class(length)];
    ++count_;
  }
  void Merge(const Histogram& other);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The p-quantile, 0 <= p <= 1, as the middle of its class; 0 if the histogram is empty.
  [[nodiscard]] TimeNs Quantile(double p) const;

 private:
  static constexpr int kBits = 4;  // 2^4 classes for a factor of two
  static constexpr std::size_t kClasses = std::size_t{42 - kBits} << kBits;  // up to 36 minutes

  static std::size_t Class(TimeNs length) {
    const auto value = static_cast<std::uint64_t>(length.value < 0 ? 0 : length.value);
    if (value < (1u << kBits)) return static_cast<std::size_t>(value);
    const int octave = static_cast<int>(std::bit_width(value)) - kBits - 1;
    const std::size_t found =
        (static_cast<std::size_t>(octave) << kBits) + static_cast<std::size_t>(value >> octave);
    return found < kClasses ? found : kClasses - 1;
  }

  std::array<std::uint32_t, kClasses> counts_{};
  std::uint64_t count_ = 0;
};

struct StageStats {
  TimeNs wall{};
  TimeNs cpu{};
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // bytes of files (read, decode) or of pixels made (augment)
  Histogram lengths;        // wall

  void Add(TimeNs wall_spent, TimeNs cpu_spent, std::uint64_t bytes_moved) {
    wall += wall_spent;
    cpu += cpu_spent;
    bytes += bytes_moved;
    ++count;
    lengths.Add(wall_spent);
  }
  void Merge(const StageStats& other);
};

struct alignas(64) ThreadStats {
  std::string name;
  TimeNs life{};  // wall time from its start to its end
  TimeNs idle{};  // waiting for a free batch or for the stage before
  TimeNs cpu{};   // of its life
  std::uint64_t samples = 0;
  std::uint64_t pixels = 0;    // of the decoded images, before cropping
  std::uint64_t warnings = 0;  // of the decoder, for damaged but decodable files
  std::array<StageStats, kStages> stages{};

  // The share of its life in which the thread was not idle.
  [[nodiscard]] double occupancy() const {
    return life.value > 0 ? 1 - Seconds(idle) / Seconds(life) : 0;
  }
};

// A sample that could not be made and was replaced.
struct SampleError {
  StreamPosition at;
  std::uint64_t sample = 0;
  std::string message;  // one line, with the name of the file
};

struct PipelineStats {
  std::vector<ThreadStats> threads;          // the last is the consumer's, if it made samples
  std::array<StageStats, kStages> stages{};  // of all threads
  std::uint64_t samples = 0;                 // delivered
  std::uint64_t batches = 0;                 // delivered
  std::uint64_t errors = 0;                  // samples replaced under OnError::kSkip
  std::vector<SampleError> first_errors;     // the first in the order of the stream
  std::uint64_t pixels = 0;
  std::uint64_t warnings = 0;
  std::uint64_t io_bytes = 0;
  std::uint64_t io_reads = 0;
  std::uint64_t io_cache_hits = 0;
  std::uint64_t io_direct_refused = 0;  // read through the page cache in spite of kDirect
  TimeNs worker_cpu{};                  // of all threads, and of the consumer inside Next()
  TimeNs wait{};                        // of the consumer in Next()
  Histogram waits;                      // one a batch
  Histogram batch_latency;              // from first sample to last
  double ready_share = 0;               // share of calls of Next() that found their batch ready
  double mean_ready = 0;                // batches ready when Next() was called
  DeviceStats device;                   // `batches` is 0 without a device
  std::size_t ring_bytes = 0;
  unsigned ring_batches = 0;

  [[nodiscard]] const StageStats& stage(Stage s) const {
    return stages[static_cast<std::size_t>(s)];
  }
};

}  // namespace penstock::loader
