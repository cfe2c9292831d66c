// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/own_time.h"

#include <algorithm>

namespace penstock::traces {

void OwnTimeSweep::OnCounted(const Counted& counted) {
  if (counted.opening) return;  // the decode counts it
  if (counted.synthetic && counted.stage == StageId::kRead) {
    time_.queued = counted.wall;
  } else if (counted.synthetic) {
    time_.augment = counted.wall;
    time_.augment_cpu = counted.cpu;
  } else if (counted.outermost || counted.stage == StageId::kAugment) {
    time_.own = counted.whole();
    time_.own_cpu = counted.cpu;
    if (counted.stage != StageId::kRead && counted.cpu < 0) {  // a range of the program
      time_.own_cpu = std::min(counted.span->cpu.value, counted.wall);
    }
    if (counted.opened_cpu >= 0) {
      time_.own_cpu = std::max<std::int64_t>(time_.own_cpu, 0) + counted.opened_cpu;
    }
  }
}

void OwnTimeSweep::OnDone(std::int64_t row, const Span& span) {
  sink_(row, span, time_);
  time_ = {};
}

}  // namespace penstock::traces
