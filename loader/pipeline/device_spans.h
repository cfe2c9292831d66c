// SPDX-License-Identifier: Apache-2.0
//
// Records spans of a device's work on the tracer's clock. A device stamps its marks relative to an
// anchor. The anchor is set anew every few seconds, between two readings of the CPU's clocks. For
// the thread that feeds the device.
#pragma once

#include <string_view>

#include "cuda/device.h"
#include "loader/trace/tracer.h"
#include "traces/base/units.h"

namespace penstock::loader {

class DeviceSpans {
 public:
  DeviceSpans(Tracer& tracer, ThreadTracer& thread, cuda::Device& device);

  // Whether it is time for Anchor(). Stamps are floats: the longer ago the anchor, the coarser they
  // are.
  [[nodiscard]] bool Due() const;
  // Sets the anchor if that is due. Call it before a batch is queued, when all marks of earlier
  // batches have been read.
  void Anchor();
  // Time between two marks that the device has passed; 0 if the device does not tell.
  [[nodiscard]] TimeNs Between(cuda::Stream& stream, unsigned from, unsigned to) const;
  // Records an interval of the device's time as a span.
  void Emit(TimeNs begun, TimeNs ended, traces::StageId stage, NameId name, const Place& place,
            Bytes bytes);
  // Records the time between two marks as a span.
  void Emit(cuda::Stream& stream, unsigned from, unsigned to, traces::StageId stage, NameId name,
            const Place& place, Bytes bytes);

  NameId copy;     // "H2D pinned", as the agent names such copies
  NameId decode;   // "nvjpeg"
  NameId augment;  // "augment"

 private:
  [[nodiscard]] Tick TickAt(TimeNs since_anchor) const;

  ThreadTracer& thread_;
  cuda::Device& device_;
  TimeNs anchored_{};  // CLOCK_MONOTONIC
  Tick anchor_;
  TimeNs first_time_{};  // first_time_, first_: both clocks at the start, for the tick's length
  Tick first_;
};

}  // namespace penstock::loader
