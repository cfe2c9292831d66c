// SPDX-License-Identifier: Apache-2.0
//
// What the threads of one pipeline share. Internal to loader/pipeline/.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "loader/augment/program.h"
#include "loader/pipeline/device_stage.h"
#include "loader/pipeline/options.h"
#include "loader/pipeline/order.h"
#include "loader/pipeline/ring.h"
#include "loader/pipeline/stats.h"
#include "loader/pipeline/stop.h"
#include "loader/source/source.h"
#include "loader/trace/tracer.h"

namespace penstock::loader {

// Samples that were replaced: their number, and the first ones in the order of the stream.
// Thread-safe.
class ErrorLog {
 public:
  void Add(SampleError error);
  [[nodiscard]] std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::vector<SampleError> first() const;

 private:
  static constexpr std::size_t kKept = 10;

  std::atomic<std::uint64_t> count_{0};
  mutable std::mutex mutex_;
  std::vector<SampleError> first_;  // sorted by place
};

struct SpanNames {
  NameId none;
  std::array<NameId, kStages> stages;
};

struct Shared {
  Shared(const Source& its_source, const AugmentProgram& its_program,
         const PipelineOptions& its_options, const SampleOrder& its_order, Tracer& its_tracer)
      : source(its_source),
        program(its_program),
        options(its_options),
        order(its_order),
        tracer(its_tracer) {}

  const Source& source;
  const AugmentProgram& program;
  const PipelineOptions options;
  const SampleOrder order;
  Tracer& tracer;
  SpanNames names{};
  std::unique_ptr<BatchRing> ring;
  std::unique_ptr<DeviceStage> device;  // nullptr: the CPU does everything
  StopFlag stop;
  ErrorLog errors;
  std::vector<std::uint8_t> stand_in;  // a grey image, used if nothing is decoded
  std::vector<std::byte> one_file;     // sample 0, used if nothing is read but something is decoded
};

// The stages that a thread does, one after the other.
struct Roles {
  bool read = true;
  bool decode = true;
  bool augment = true;

  [[nodiscard]] bool all() const { return read && decode && augment; }
};

}  // namespace penstock::loader
