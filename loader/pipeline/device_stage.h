// SPDX-License-Identifier: Apache-2.0
//
// The device's part of a pipeline. Workers put pixels or files into pinned memory. One thread turns
// complete batches into copies, decoding and kernels on one of two lanes, so that a batch is copied
// while the kernels of the previous batch run. The thread waits for marks, never for the whole
// device, and publishes a batch when it lies in the device's memory. Internal to loader/pipeline/.
//
// Threads: Takes() and StageFile() from any worker; StagePixels() from any worker, and from the
// device's thread for a replaced sample; Submit() from the worker that completes a batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cuda/staging.h"
#include "loader/device/plan_passes.h"
#include "loader/io/object_reader.h"
#include "loader/pipeline/device_options.h"
#include "loader/pipeline/device_spans.h"
#include "loader/pipeline/item.h"
#include "loader/pipeline/queue.h"
#include "loader/pipeline/ring.h"
#include "loader/pipeline/stats.h"

namespace penstock::loader {

struct Shared;
class Stages;

class DeviceStage {
 public:
  // Errors: kUsage for a placement that is not possible, kEnvironment for memory or nvJPEG.
  static Result<std::unique_ptr<DeviceStage>> Make(Shared& shared, unsigned slots);
  ~DeviceStage();
  DeviceStage(const DeviceStage&) = delete;
  DeviceStage& operator=(const DeviceStage&) = delete;

  // Pinned memory for the batches of the ring; nullptr if they are never on the CPU.
  [[nodiscard]] std::byte* ring_memory() const { return ring_memory_.data(); }
  [[nodiscard]] bool augments() const { return options_.augment; }
  // Whether the device decodes the item's picture, of which `info` is the header.
  [[nodiscard]] bool Takes(const Item& item, const ImageInfo& info) const;
  // Keep the item's plan and its file, or its plan and its pixels, at the item's place in the
  // batch. Errors: kInput if the kernels cannot carry out the plan, kEnvironment for memory.
  [[nodiscard]] Result<void> StageFile(const Item& item, const ImageInfo& info);
  [[nodiscard]] Result<void> StagePixels(const Item& item);

  // Starts the thread. Requires: the ring exists. Errors: kEnvironment.
  [[nodiscard]] Result<void> Start();
  // Call this when all samples of the slot's batch are done. The batch will be published.
  void Submit(BatchRing::Slot& slot) { queue_.Push(&slot); }
  void WakeAll() { queue_.WakeAll(); }  // async-signal-safe
  // Requires: the stop flag is set.
  void Join();
  // These three require Join().
  [[nodiscard]] const DeviceStats& stats() const { return stats_; }
  // What the thread did on the CPU: replacements of damaged samples, and the decoder's warnings
  // about files that nvJPEG refused.
  [[nodiscard]] const ThreadStats& cpu_stats() const { return cpu_stats_; }
  [[nodiscard]] const IoStats& cpu_io() const { return cpu_io_; }

 private:
  static constexpr unsigned kLanes = 2;
  enum Mark : unsigned { kBegun, kCopied, kDecoded, kAugmented, kFetched };

  // What a worker left for one sample.
  struct Staged {
    bool file = false;
    AugmentPlan plan;
    cuda::Staging::Piece piece;
    std::size_t bytes = 0;
    DevicePicture picture;     // its offset is set when the batch is queued
    std::uint64_t pixels = 0;  // of the whole picture
    std::string path;
  };
  struct SlotState {  // one for each slot of the ring
    explicit SlotState(cuda::Device& device) : pixels(device), files(device) {}
    cuda::Staging pixels;
    cuda::Staging files;
    std::vector<Staged> samples;
    cuda::DeviceMemory output;
  };
  struct Lane {
    std::unique_ptr<cuda::Stream> stream;
    std::unique_ptr<cuda::JpegBatches> jpeg;
    cuda::DeviceMemory input;
    BatchRing::Slot* busy = nullptr;
    std::uint64_t bytes = 0;  // to be copied
    bool decodes = false;
    std::vector<cuda::JpegPicture> pictures;
    std::vector<std::size_t> samples;  // numbers of the pictures in the batch
    std::vector<std::size_t> refused;  // indices of pictures that nvJPEG refused, ascending
  };

  DeviceStage(Shared& shared, unsigned slots);
  Result<void> Begin(unsigned slots);
  void Run();
  void Retire(Lane& lane);
  [[nodiscard]] Result<void> Check(const AugmentPlan& plan, const DevicePicture& picture) const;
  [[nodiscard]] Result<void> QueueOrDrain(Lane& lane, BatchRing::Slot& slot);
  [[nodiscard]] Result<void> Queue(Lane& lane, BatchRing::Slot& slot);
  [[nodiscard]] Result<void> QueuePictures(Lane& lane, BatchRing::Slot& slot, SlotState& state);
  [[nodiscard]] Result<void> QueueCopy(Lane& lane, SlotState& state);
  [[nodiscard]] Result<void> QueueDecode(Lane& lane, std::size_t from, std::size_t to);
  [[nodiscard]] static Result<void> Drain(Lane& lane);  // waits for all queued work
  [[nodiscard]] Result<void> QueuePasses(Lane& lane, BatchRing::Slot& slot, SlotState& state);
  [[nodiscard]] Result<void> DecodeFile(SlotState& state, Staged& staged);
  [[nodiscard]] Result<void> DecodeOnCpu(BatchRing::Slot& slot, SlotState& state,
                                         std::size_t index);
  [[nodiscard]] Result<void> Replace(BatchRing::Slot& slot, std::size_t index, Error error);
  void Count(Lane& lane);
  [[nodiscard]] SlotState& StateOf(const BatchRing::Slot& slot) {
    return *states_[slot.number % states_.size()];
  }
  static Result<void> PutPixels(cuda::Staging& staging, const ImageView& view, Staged* staged);

  Shared& shared_;
  const DeviceOptions options_;
  cuda::Device& device_;
  const std::size_t sample_bytes_;
  cuda::DeviceMemory ring_memory_;
  std::vector<std::unique_ptr<SlotState>> states_;
  BoundedQueue<BatchRing::Slot*> queue_;
  std::thread thread_;

  const PlanPasses passes_;

  // Used by the thread alone.
  std::array<Lane, kLanes> lanes_;
  cuda::PassList list_;
  std::optional<JpegDecoder> decoder_;  // for files that nvJPEG does not accept
  std::unique_ptr<Stages> replacing_;   // made for the first damaged sample
  ThreadStats cpu_stats_;
  IoStats cpu_io_;
  ThreadTracer* tracer_ = nullptr;
  std::optional<DeviceSpans> spans_;
  DeviceStats stats_;
};

}  // namespace penstock::loader
