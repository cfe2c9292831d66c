// SPDX-License-Identifier: Apache-2.0
//
// Spans of what a device did, on the tracer's clock. A device stamps its marks from an anchor on;
// the anchor is set anew every few seconds between two readings of the CPU's clocks. Belongs to the
// thread that feeds the device.
#pragma once

#include <string_view>

#include "cuda/device.h"
#include "loader/trace/tracer.h"
#include "traces/base/units.h"

namespace penstock::loader {

class DeviceSpans {
 public:
  DeviceSpans(Tracer& tracer, ThreadTracer& thread, cuda::Device& device);

  // It is time for Anchor(): the stamps have lost a microsecond since the last.
  [[nodiscard]] bool Due() const;
  // Before a batch is queued, while no mark of an earlier one is still to be read: if it is due.
  void Anchor();
  // Length between two marks that have been passed; 0 where the device does not tell.
  [[nodiscard]] TimeNs Between(cuda::Stream& stream, unsigned from, unsigned to) const;
  // Records a stretch of the device's time as a span.
  void Emit(TimeNs begun, TimeNs ended, traces::StageId stage, NameId name, const Place& place,
            Bytes bytes);
  // Records the stay between two marks as a span.
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
  TimeNs first_time_{};  // two readings of both clocks, far apart, give the tick's length
  Tick first_;
};

}  // namespace penstock::loader
