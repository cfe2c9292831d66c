// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/own_time.h"

#include <algorithm>
#include <utility>

namespace penstock::traces {
namespace {

std::size_t PlaceOf(StageId stage) {
  return static_cast<std::size_t>(stage);
}

std::int64_t NotNegative(std::int64_t value) {
  return std::max<std::int64_t>(value, 0);
}

// CPU time of a part that takes `wall`; -1 stays -1.
std::int64_t KnownCpu(std::int64_t cpu, std::int64_t wall) {
  return cpu < 0 ? -1 : std::min(cpu, wall);
}

// The part of a read's busy time that falls into [start, end). A coalesced read lasts from opening
// the file to the last read, so it may begin in one span and end in another.
std::int64_t BusyWithin(std::int64_t read_start, std::int64_t read_end, std::int64_t busy,
                        std::int64_t start, std::int64_t end) {
  if (read_end <= read_start) return read_start >= start && read_start <= end ? busy : 0;
  const std::int64_t common = std::min(read_end, end) - std::max(read_start, start);
  if (common <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<double>(busy) * static_cast<double>(common) /
                                   static_cast<double>(read_end - read_start));
}

// Ranges of the program and of devices do not nest with other spans.
bool Nests(StageId stage) {
  return PlaceOf(stage) < wire::kStageCount && stage != StageId::kMark &&
         stage != StageId::kKernel && stage != StageId::kCopy && stage != StageId::kCall;
}

// The share of augmenting in CPU time that augmenting has in common with untimed parts.
std::int64_t AugmentCpu(std::int64_t cpu, std::int64_t augment, std::int64_t untimed) {
  const std::int64_t computing = augment + untimed;
  if (computing <= 0) return 0;
  const std::int64_t given = std::min(NotNegative(cpu), computing);
  const std::int64_t others = static_cast<std::int64_t>(
      static_cast<double>(given) * static_cast<double>(untimed) / static_cast<double>(computing));
  return std::min(augment, given - others);
}

}  // namespace

bool OwnTimeSweep::IsOpen(StageId stage) const {
  return open_[PlaceOf(stage)] > 0;
}

void OwnTimeSweep::Add(std::int64_t row, const Span& span, bool opens) {
  while (!stack_.empty() && stack_.back().end <= span.start.value) Close();
  std::erase_if(reads_, [&](const ActiveRead& read) { return read.end <= span.start.value; });
  if (span.stage == StageId::kRead) return AddRead(row, span);
  if (!Nests(span.stage)) {
    OwnTime time;
    time.own = NotNegative(span.duration.value);
    time.own_cpu = KnownCpu(span.cpu.value, time.own);
    return sink_(row, span, time);
  }
  Open open;
  open.row = row;
  open.span = span;
  open.end = std::max(span.start.value, span.end().value);
  if (!stack_.empty()) open.end = std::min(open.end, stack_.back().end);
  open.outermost = !IsOpen(span.stage);
  open.opens = opens && (span.flags & wire::kFlagError) == 0;
  const bool begins = span.stage == StageId::kSample || span.stage == StageId::kFetch;
  if (begins && open.outermost) GiveOpenings();
  open.last = span.start.value;
  for (Open& around : stack_) around.last = std::max(around.last, open.end);
  for (const ActiveRead& read : reads_) {
    open.read += BusyWithin(read.start, read.end, read.busy, span.start.value, open.end);
  }
  ++open_[PlaceOf(span.stage)];
  stack_.push_back(open);
}

void OwnTimeSweep::AddRead(std::int64_t row, const Span& span) {
  ActiveRead read;
  read.start = span.start.value;
  read.end = std::max(span.start.value, span.end().value);
  read.whole = span.busy.value < 0;
  read.busy = read.whole ? NotNegative(span.duration.value)
                         : std::clamp<std::int64_t>(span.busy.value, 0, read.end - read.start);
  // A whole read inside another one does not count again.
  const bool covered = read.whole && std::any_of(reads_.begin(), reads_.end(), [&](const auto& r) {
                         return r.whole && r.end >= read.end;
                       });
  OwnTime time;
  if (!covered) {
    for (Open& open : stack_) {
      open.read += BusyWithin(read.start, read.end, read.busy, open.span.start.value, open.end);
      open.before += NotNegative(read.start - open.last);
      open.last = std::max(open.last, read.end);
    }
    reads_.push_back(read);
    time.own = read.busy;
  }
  sink_(row, span, time);
}

void OwnTimeSweep::Finish() {
  while (!stack_.empty()) Close();
  GiveOpenings();
  reads_.clear();
}

void OwnTimeSweep::Close() {
  const Open open = stack_.back();
  stack_.pop_back();
  --open_[PlaceOf(open.span.stage)];
  const StageId stage = open.span.stage;
  OwnTime time;
  if (stage == StageId::kAugment) {
    time = CloseAugment(open);
  } else if (!open.outermost) {
    // The span of the same stage around it counts it.
  } else if (stage == StageId::kDecode || stage == StageId::kTokenize) {
    time = CloseTold(open);
  } else if (stage == StageId::kSample) {
    time = CloseSample(open);
  } else if (stage == StageId::kFetch) {
    time = CloseFetch(open);
  } else if (stage == StageId::kCollate) {
    time = CloseCollate(open);
  } else {
    time.own = open.wall();
    time.own_cpu = KnownCpu(open.span.cpu.value, time.own);
  }
  if (stage != StageId::kDecode || time.own < 0) return sink_(open.row, open.span, time);
  if (open.opens) {
    constexpr std::size_t kMost = 64;  // a program may open images and never decode them
    openings_.push_back({open.row, open.span, time});
    if (openings_.size() > kMost) GiveOpening();
    return;
  }
  if (!openings_.empty()) {
    // Images are assumed to be decoded in the order in which they were opened.
    const OwnTime opened = std::exchange(openings_.front().time, {});
    time.own += opened.own;
    if (opened.own_cpu >= 0) time.own_cpu = NotNegative(time.own_cpu) + opened.own_cpu;
    GiveOpening();
  }
  sink_(open.row, open.span, time);
}

void OwnTimeSweep::GiveOpening() {
  const Opening opening = openings_.front();
  openings_.pop_front();
  sink_(opening.row, opening.span, opening.time);
}

void OwnTimeSweep::GiveOpenings() {
  while (!openings_.empty()) GiveOpening();
}

OwnTime OwnTimeSweep::CloseTold(const Open& open) {
  const bool decodes = open.span.stage == StageId::kDecode;
  const Part& other = decodes ? open.tokenize : open.decode;
  OwnTime time;
  time.own = NotNegative(open.wall() - open.read - other.wall);
  const bool timed = open.span.cpu.value >= 0;
  if (timed) time.own_cpu = std::min(time.own, NotNegative(open.span.cpu.value - other.cpu));
  for (Open& around : stack_) {
    Part& part = decodes ? around.decode : around.tokenize;
    part.wall += time.own;
    if (timed) {
      part.cpu += time.own_cpu;
    } else {
      around.untimed += time.own;
    }
  }
  return time;
}

OwnTime OwnTimeSweep::CloseAugment(const Open& open) {
  const bool timed = open.span.cpu.value >= 0;
  Part total;
  total.wall = NotNegative(open.wall() - open.read - open.told());
  if (timed) {
    total.cpu = std::min(total.wall, NotNegative(open.span.cpu.value - open.told_cpu()));
  }
  const auto parent = std::find_if(stack_.rbegin(), stack_.rend(), [](const Open& around) {
    return around.span.stage == StageId::kAugment;
  });
  if (parent != stack_.rend()) {
    parent->child.wall += total.wall;
    parent->child.cpu += total.cpu;
  }
  OwnTime time;
  time.own = NotNegative(total.wall - open.child.wall);
  if (timed) time.own_cpu = std::min(time.own, NotNegative(total.cpu - open.child.cpu));
  if (!open.outermost || IsOpen(StageId::kSample)) return time;
  time.augment = total.wall;
  time.augment_cpu = timed ? total.cpu : -1;
  for (Open& around : stack_) {
    around.augment.wall += total.wall;
    around.augment.cpu += total.cpu;
  }
  return time;
}

OwnTime OwnTimeSweep::CloseSample(const Open& open) {
  GiveOpenings();
  OwnTime time;
  time.own = open.wall();
  time.own_cpu = KnownCpu(open.span.cpu.value, time.own);
  time.augment = NotNegative(open.wall() - open.read - open.told());
  if (open.span.cpu.value >= 0) {
    time.augment_cpu =
        AugmentCpu(open.span.cpu.value - open.told_cpu(), time.augment, open.untimed);
    // Without computing right before a read, the thread waited for the file or for other readers.
    const std::int64_t queued = NotNegative(std::min(open.before, time.augment - time.augment_cpu));
    if (queued > 0) time.queued = queued;
    time.augment -= queued;
  }
  for (Open& around : stack_) {
    around.read += NotNegative(time.queued);
    around.augment.wall += time.augment;
    around.augment.cpu += NotNegative(time.augment_cpu);
    ++around.samples;
  }
  return time;
}

// Without samples, augmenting is what the other stages leave of the fetch.
OwnTime OwnTimeSweep::CloseFetch(const Open& open) {
  GiveOpenings();
  OwnTime time;
  time.own = open.wall();
  time.own_cpu = KnownCpu(open.span.cpu.value, time.own);
  if (open.samples > 0 || open.augment.wall > 0) return time;
  const std::int64_t augment =
      NotNegative(open.wall() - open.read - open.told() - open.collate.wall);
  if (augment == 0) return time;
  time.augment = augment;
  if (open.span.cpu.value >= 0) {
    time.augment_cpu =
        AugmentCpu(open.span.cpu.value - open.told_cpu() - open.collate.cpu, augment, open.untimed);
  }
  return time;
}

OwnTime OwnTimeSweep::CloseCollate(const Open& open) {
  OwnTime time;
  time.own = NotNegative(open.wall() - open.read - open.told() - open.augment.wall);
  if (open.span.cpu.value >= 0) {
    const std::int64_t cpu = open.span.cpu.value - open.told_cpu() - open.augment.cpu;
    time.own_cpu = std::min(time.own, NotNegative(cpu));
  }
  for (Open& around : stack_) {
    around.collate.wall += time.own;
    around.collate.cpu += NotNegative(time.own_cpu);
  }
  return time;
}

}  // namespace penstock::traces
