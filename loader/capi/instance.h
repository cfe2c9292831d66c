// SPDX-License-Identifier: Apache-2.0
//
// What a PenstockLoader is: a source and operations that stay, and a pipeline that is made and
// ended as needed. Errors are Results here; penstock_loader.cc turns them into codes. One thread at
// a time, except Interrupt().
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "loader/augment/program.h"
#include "loader/capi/batch_pool.h"
#include "loader/capi/penstock_loader.h"
#include "loader/io/ram_cache.h"
#include "loader/pipeline/pipeline.h"
#include "loader/source/source.h"
#include "loader/trace/tracer.h"
#include "traces/base/result.h"

namespace penstock::loader {

// Numbers epochs so that no two loaders of this process share a number. After 49,152 epochs of all
// loaders the numbers begin again. These numbers lie above those that the Python hooks (from 1) and
// penstock.batch() (from 0x2000) give.
class SharedEpochNumbers final : public EpochNumbers {
 public:
  std::uint16_t Of(std::uint64_t epoch) override;
  // Gives each epoch a new number from now on, even one that was delivered before.
  void Renew();

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint16_t> numbers_;
};

class Instance {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Instance>> Open(const char* const* sources,
                                                              std::size_t count,
                                                              const PenstockLoaderOptions& options);
  ~Instance();

  // False in a forked child.
  [[nodiscard]] bool InItsProcess() const;
  [[nodiscard]] pid_t process() const { return process_; }

  [[nodiscard]] PenstockLoaderFacts Facts() const;
  [[nodiscard]] Result<std::string> ClassName(std::uint64_t label) const;
  [[nodiscard]] Result<std::string> SampleName(std::uint64_t id) const;
  Result<void> Start(StreamPosition at);
  // Returns PENSTOCK_OK, _END, _WAITING or _STOPPED.
  Result<PenstockStatus> Next(std::chrono::nanoseconds limit, PenstockBatch* out);
  void Interrupt() { interrupted_.store(true, std::memory_order_relaxed); }
  void Stop();
  [[nodiscard]] std::uint64_t Errors(std::string* lines) const;

 private:
  Instance();

  // False if there is no memory.
  bool Take(Batch& batch, PenstockBatch* out);
  PenstockStatus EndEpoch();

  const pid_t process_;
  std::unique_ptr<Source> source_;
  std::optional<AugmentProgram> program_;
  std::optional<RamCache> cache_;
  std::unique_ptr<Tracer> tracer_;
  SharedEpochNumbers numbers_;
  PipelineOptions options_;
  bool persistent_ = true;
  std::optional<SampleOrder> order_;
  // Offsets of what follows the pixels of a batch.
  std::size_t labels_offset_ = 0;
  std::size_t ids_offset_ = 0;
  std::size_t geometry_offset_ = 0;
  std::size_t batch_bytes_ = 0;
  std::shared_ptr<BatchPool> pool_;
  std::unique_ptr<Pipeline> pipeline_;
  StreamPosition at_;                     // place of the next batch
  bool epoch_over_ = true;                // no batch of this epoch is left, or none was begun
  std::atomic<bool> interrupted_{false};  // relaxed: it publishes nothing
  std::uint64_t errors_ = 0;              // of pipelines that have ended
  std::vector<std::string> error_lines_;
};

}  // namespace penstock::loader
