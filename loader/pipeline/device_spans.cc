// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/device_spans.h"

#include "loader/pipeline/cost.h"

namespace penstock::loader {
namespace {

// A stamp is a float of milliseconds since the anchor: after five seconds its steps are 0.5 us.
constexpr TimeNs kAnchorEvery{5'000'000'000};

std::uint64_t Moved(std::uint64_t tick, double ticks) {
  return tick + static_cast<std::uint64_t>(static_cast<std::int64_t>(ticks));
}

}  // namespace

DeviceSpans::DeviceSpans(Tracer& tracer, ThreadTracer& thread, cuda::Device& device)
    : copy(tracer.Name("H2D pinned")),
      decode(tracer.Name("nvjpeg")),
      augment(tracer.Name("augment")),
      thread_(thread),
      device_(device),
      first_time_(SteadyNow()),
      first_(thread.Now()) {
  anchored_ = first_time_ - kAnchorEvery;
}

bool DeviceSpans::Due() const {
  return SteadyNow() - anchored_ >= kAnchorEvery;
}

void DeviceSpans::Anchor() {
  if (!Due()) return;
  const TimeNs before = SteadyNow();
  if (!device_.Anchor()) return;  // the work that follows reports the error
  const TimeNs after = SteadyNow();
  anchor_ = thread_.Now();
  anchored_ = before + TimeNs{(after - before).value / 2};
  // anchor_ was read `late` after anchored_, so TickAt() moves it back by that.
  const TimeNs late = SteadyNow() - anchored_;
  anchor_ = TickAt(TimeNs{-late.value});
}

Tick DeviceSpans::TickAt(TimeNs since_anchor) const {
  // The length of a tick of the tracer's clock, from the two readings that are farthest apart.
  const TimeNs now_time = SteadyNow();
  const Tick now = thread_.Now();
  const double elapsed = static_cast<double>((now_time - first_time_).value);
  if (elapsed <= 0) return anchor_;
  const double shift = static_cast<double>(since_anchor.value);
  Tick moved;
  moved.value =
      Moved(anchor_.value, shift * static_cast<double>(now.value - first_.value) / elapsed);
  moved.other =
      Moved(anchor_.other, shift * static_cast<double>(now.other - first_.other) / elapsed);
  return moved;
}

TimeNs DeviceSpans::Between(cuda::Stream& stream, unsigned from, unsigned to) const {
  const Result<TimeNs> begun = stream.SinceAnchor(from);
  const Result<TimeNs> ended = stream.SinceAnchor(to);
  return begun && ended ? *ended - *begun : TimeNs{};
}

void DeviceSpans::Emit(TimeNs begun, TimeNs ended, traces::StageId stage, NameId name,
                       const Place& place, Bytes bytes) {
  if (thread_.on()) thread_.Emit(stage, name, place, TickAt(begun), TickAt(ended), bytes);
}

void DeviceSpans::Emit(cuda::Stream& stream, unsigned from, unsigned to, traces::StageId stage,
                       NameId name, const Place& place, Bytes bytes) {
  if (!thread_.on()) return;
  const Result<TimeNs> begun = stream.SinceAnchor(from);
  const Result<TimeNs> ended = stream.SinceAnchor(to);
  if (begun && ended) Emit(*begun, *ended, stage, name, place, bytes);
}

}  // namespace penstock::loader
