// SPDX-License-Identifier: Apache-2.0
//
// Options of a pipeline. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "loader/decode/jpeg_decoder.h"
#include "loader/io/object_reader.h"
#include "loader/pipeline/cost.h"
#include "loader/pipeline/device_options.h"
#include "traces/base/result.h"

namespace penstock::loader {

// A place in the stream of samples: `position` counts the samples of all ranks in one epoch.
struct StreamPosition {
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;

  // Reads "POSITION" or "EPOCH:POSITION". Errors: kUsage.
  static Result<StreamPosition> Parse(std::string_view text);
  auto operator<=>(const StreamPosition&) const = default;
};

enum class Stage : std::uint8_t { kRead, kDecode, kAugment };
inline constexpr std::size_t kStages = 3;

// Options of one stage.
//
// Read:    off: no file is read, except that of sample 0 once at the start if something is decoded.
//          A cost is a latency on top of the real read; it is the whole read if the stage is off.
//          The latencies of reads in flight pass at the same time, as with slow storage.
// Decode:  off: nothing is decoded, and the cost, if given, is spent instead. The augmentation then
//          sees a grey image of kStandInWidth x kStandInHeight.
// Augment: off: no pixels are made, and the cost, if given, is spent instead. The sample keeps what
//          its memory holds (zeros, if the ring is its own), but see PipelineOptions::fingerprint.
struct StageOptions {
  bool on = true;
  Cost cost;
  unsigned threads = 0;  // of its own; 0: the workers do it
};
inline constexpr int kStandInWidth = 500;  // the usual size of an ImageNet photograph
inline constexpr int kStandInHeight = 375;

enum class OnError { kSkip, kFail };

class BatchMemory;

// Numbers epochs in a trace if several loaders share one process. Thread-safe.
class EpochNumbers {
 public:
  EpochNumbers() = default;
  EpochNumbers(const EpochNumbers&) = delete;
  EpochNumbers& operator=(const EpochNumbers&) = delete;
  virtual ~EpochNumbers() = default;
  virtual std::uint16_t Of(std::uint64_t epoch) = 0;
};

// How a pipeline is named in a trace.
struct TraceNames {
  unsigned loader = 0;              // its number in the process: the facts "loader.0.kind", ...
  EpochNumbers* numbers = nullptr;  // nullptr: epochs keep their own numbers, modulo 65,536

  [[nodiscard]] std::uint16_t EpochOf(std::uint64_t epoch) const {
    return numbers == nullptr ? static_cast<std::uint16_t>(epoch) : numbers->Of(epoch);
  }
};

struct PipelineOptions {
  // Threads that make samples. 0: the consumer makes them itself, inside Next(). Threads that
  // belong to one stage are not counted here; workers do the stages without threads of their own.
  // If only decode has threads of its own, they also augment. If all three stages have threads of
  // their own, there are no workers.
  unsigned workers = 1;
  unsigned prefetch = 4;  // batches made ahead of the consumer, at least 1
  unsigned held = 1;      // batches that the consumer may hold at a time
  unsigned batch = 64;
  unsigned read_ahead = 1;  // reads in flight per reading thread
  StageOptions read, decode, augment;
  bool whole_images = false;  // if nothing is augmented: decode whole images, not regions
  Cost collate;               // spent for each batch by the thread that completes it

  std::uint64_t epochs = 1;   // 0: without end
  std::uint64_t batches = 0;  // stop after so many; 0: no limit
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 0;
  // If set, a sample has the same synthetic costs whatever the seed and the epoch. nullopt: costs
  // are drawn anew for each epoch and seed.
  std::optional<std::uint64_t> cost_seed;
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  StreamPosition resume;
  OnError on_error = OnError::kSkip;
  // If no pixels are made, a sample starts with the XXH64 of the last stage's result: the decoded
  // pixels or the bytes of the file. Costs 0.1 ns a byte.
  bool fingerprint = false;

  // Batches say what became of each picture (Batch::geometry()).
  // Requires: augment.on; WhyNoGeometry() of the program's operations is nullopt.
  bool geometry = false;

  // Gives the memory of batches that may leave the ring (Batch::Detach()); outlives the pipeline.
  // nullptr: no batch may leave. Not with a device.
  BatchMemory* memory = nullptr;
  TraceNames trace;
  DeviceOptions device;
  IoOptions reader;
  DecodeOptions decoder;

  // The key for the synthetic costs of a sample, or of a whole batch of an epoch.
  [[nodiscard]] SampleKey CostKey(std::uint64_t epoch, std::uint64_t number) const {
    return cost_seed ? SampleKey{*cost_seed, 0, number} : SampleKey{seed, epoch, number};
  }
  [[nodiscard]] const StageOptions& stage(Stage s) const {
    return s == Stage::kRead ? read : s == Stage::kDecode ? decode : augment;
  }
};

}  // namespace penstock::loader
