// SPDX-License-Identifier: Apache-2.0
#include "traces/nesting.h"

#include <algorithm>
#include <utility>

namespace penstock::traces {
namespace {

std::size_t IndexOf(StageId stage) {
  return static_cast<std::size_t>(stage);
}

// The part of `busy` that falls into [start, end). The span of a coalesced read lasts from opening
// the file to the last read. So it may begin before a decode span whose decoder reads the rest of
// the file.
std::int64_t Overlap(std::int64_t read_start, std::int64_t read_end, std::int64_t busy,
                     std::int64_t start, std::int64_t end) {
  const std::int64_t common = std::min(read_end, end) - std::max(read_start, start);
  if (read_end <= read_start) return read_start >= start && read_start <= end ? busy : 0;
  if (common <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<double>(busy) * static_cast<double>(common) /
                                   static_cast<double>(read_end - read_start));
}

std::int64_t AtLeastZero(std::int64_t value) {
  return std::max<std::int64_t>(value, 0);
}

// A thread cannot use more CPU time than wall time, but the two clocks differ a little.
std::int64_t CpuWithin(std::int64_t cpu, std::int64_t wall) {
  return cpu < 0 ? -1 : std::min(cpu, wall);
}

}  // namespace

bool NestingSweep::IsOpen(StageId stage) const {
  const std::size_t index = IndexOf(stage);
  return index < open_.size() && open_[index] > 0;
}

void NestingSweep::Add(const Span& span, bool opens, std::int64_t row) {
  while (!stack_.empty() && stack_.back().end <= span.start.value) Close();
  std::erase_if(reads_, [&](const ActiveRead& read) { return read.end <= span.start.value; });
  if (IndexOf(span.stage) >= open_.size()) return sink_.OnDone(row, span);  // of a later version
  if (span.stage == StageId::kRead) return AddRead(span, row);
  if (span.stage == StageId::kMark || span.stage == StageId::kKernel ||
      span.stage == StageId::kCopy || span.stage == StageId::kCall) {
    Counted counted;  // ranges of the program and of devices do not nest with our spans
    counted.span = &span;
    counted.stage = span.stage;
    counted.wall = AtLeastZero(span.duration.value);
    sink_.OnCounted(counted);
    return sink_.OnDone(row, span);
  }
  Open open;
  open.span = span;
  open.row = row;
  open.end = std::max(span.start.value, span.end().value);
  if (!stack_.empty()) open.end = std::min(open.end, stack_.back().end);
  open.outermost = !IsOpen(span.stage);
  open.opens = opens && (span.flags & wire::kFlagError) == 0;
  const bool begins = span.stage == StageId::kSample || span.stage == StageId::kFetch;
  if (begins && open.outermost) EmitOpenings();
  open.last = span.start.value;
  for (Open& around : stack_) around.last = std::max(around.last, open.end);
  for (const ActiveRead& read : reads_) {
    open.inside.read += Overlap(read.start, read.end, read.busy, span.start.value, open.end);
  }
  ++open_[IndexOf(span.stage)];
  stack_.push_back(open);
}

void NestingSweep::AddRead(const Span& span, std::int64_t row) {
  ActiveRead read;
  read.start = span.start.value;
  read.end = std::max(span.start.value, span.end().value);
  read.whole = span.busy.value < 0;
  read.busy = read.whole ? AtLeastZero(span.duration.value)
                         : std::clamp<std::int64_t>(span.busy.value, 0, read.end - read.start);
  const bool covered = read.whole && std::any_of(reads_.begin(), reads_.end(), [&](const auto& r) {
                         return r.whole && r.end >= read.end;
                       });
  if (!covered) {
    for (Open& open : stack_) {
      open.inside.read += Overlap(read.start, read.end, read.busy, open.span.start.value, open.end);
      if (open.inside.read_bytes == 0) open.inside.read_file = span.object;
      open.inside.read_bytes += span.bytes.value;
      open.before += AtLeastZero(read.start - open.last);
      open.last = std::max(open.last, read.end);
    }
    reads_.push_back(read);
  }
  Counted counted;
  counted.span = &span;
  counted.stage = StageId::kRead;
  counted.wall = read.busy;
  counted.outermost = !covered;
  sink_.OnCounted(counted);
  sink_.OnDone(row, span);
}

void NestingSweep::Finish() {
  while (!stack_.empty()) Close();
  EmitOpenings();
  reads_.clear();
}

void NestingSweep::Close() {
  const Open open = stack_.back();
  stack_.pop_back();
  --open_[IndexOf(open.span.stage)];
  switch (open.span.stage) {
    case StageId::kDecode:
    case StageId::kTokenize:
      CloseTold(open);
      break;
    case StageId::kAugment:
      CloseAugment(open);
      break;
    case StageId::kSample:
      CloseSample(open);
      break;
    case StageId::kFetch:
      CloseFetch(open);
      break;
    case StageId::kCollate:
      CloseCollate(open);
      break;
    default:
      CloseOther(open);
      break;
  }
  const bool opening = open.span.stage == StageId::kDecode && open.outermost && open.opens;
  if (!opening) sink_.OnDone(open.row, open.span);  // EmitOpening() does it
}

Counted NestingSweep::CountedOf(const Open& open, std::int64_t wall, std::int64_t cpu,
                                const Inside& inside) const {
  Counted counted;
  counted.span = &open.span;
  counted.stage = open.span.stage;
  counted.wall = AtLeastZero(wall);
  counted.cpu = CpuWithin(cpu, counted.wall);
  counted.outermost = open.outermost;
  counted.apart = !IsOpen(StageId::kSample) && !IsOpen(StageId::kFetch);
  counted.inside = inside;
  return counted;
}

void NestingSweep::Emit(const Open& open, std::int64_t wall, std::int64_t cpu,
                        const Inside& inside) {
  sink_.OnCounted(CountedOf(open, wall, cpu, inside));
}

// Emits the oldest opening. `is_part`: the next decode decodes the opened image.
void NestingSweep::EmitOpening(bool is_part) {
  Opening opening = std::move(openings_.front());
  openings_.pop_front();
  opening.counted.span = &opening.span;
  opening.counted.opening = is_part;
  sink_.OnCounted(opening.counted);
  sink_.OnDone(opening.row, opening.span);
}

void NestingSweep::EmitOpenings() {
  while (!openings_.empty()) EmitOpening(false);
}

// Closes a decode or tokenize span.
void NestingSweep::CloseTold(const Open& open) {
  if (!open.outermost) return;  // the span of the same stage around it counts it
  const Inside& inside = open.inside;
  const bool decodes = open.span.stage == StageId::kDecode;
  const std::int64_t other = decodes ? inside.tokenize : inside.decode;
  const std::int64_t other_cpu = decodes ? inside.tokenize_cpu : inside.decode_cpu;
  const std::int64_t wall = AtLeastZero(open.end - open.span.start.value - inside.read - other);
  const std::int64_t cpu =
      open.span.cpu.value < 0 ? -1 : CpuWithin(AtLeastZero(open.span.cpu.value - other_cpu), wall);
  for (Open& around : stack_) {
    (decodes ? around.inside.decode : around.inside.tokenize) += wall;
    (decodes ? around.inside.decode_cpu : around.inside.tokenize_cpu) += AtLeastZero(cpu);
    if (cpu >= 0) continue;
    (decodes ? around.inside.decode_untimed : around.inside.tokenize_untimed) += wall;
  }
  Counted counted = CountedOf(open, wall, cpu, inside);
  if (decodes && open.opens) {
    constexpr std::size_t kMost = 64;  // a program may open images and never decode them
    openings_.push_back({counted, open.span, open.row});
    if (openings_.size() > kMost) EmitOpening(false);
    return;
  }
  if (decodes && !openings_.empty()) {
    // Images are assumed to be decoded in the order in which they were opened.
    counted.opened = openings_.front().counted.wall;
    counted.opened_cpu = openings_.front().counted.cpu;
    EmitOpening(true);
  }
  sink_.OnCounted(counted);
}

// A named transform owns its time without the transforms, reads, decodes and tokenizers inside it.
// The time of an outermost transform outside of samples also counts as augmenting: such a transform
// works on whole batches, or belongs to another library's loader. CloseSample() counts the
// augmenting inside samples.
void NestingSweep::CloseAugment(const Open& open) {
  const Inside& inside = open.inside;
  const std::int64_t total =
      AtLeastZero(open.end - open.span.start.value - inside.read - inside.told());
  const bool timed = open.span.cpu.value >= 0;
  const std::int64_t total_cpu =
      timed ? std::min(total, AtLeastZero(open.span.cpu.value - inside.told_cpu())) : 0;
  for (auto around = stack_.rbegin(); around != stack_.rend(); ++around) {
    if (around->span.stage != StageId::kAugment) continue;
    around->child += total;
    around->child_cpu += total_cpu;
    break;
  }
  if (open.outermost && !IsOpen(StageId::kSample)) {
    for (Open& around : stack_) {
      around.inside.augment += total;
      around.inside.augment_cpu += total_cpu;
    }
    Counted counted;
    counted.span = &open.span;
    counted.stage = StageId::kAugment;
    counted.wall = total;
    counted.cpu = timed ? total_cpu : -1;
    counted.synthetic = true;
    counted.apart = !IsOpen(StageId::kFetch);
    sink_.OnCounted(counted);
  }
  Open child = open;
  child.outermost = false;
  Emit(child, total - open.child, timed ? AtLeastZero(total_cpu - open.child_cpu) : -1, inside);
}

// Shares the CPU time of a sample or fetch, without that of its timed parts, among augmenting and
// the decoding and tokenizing whose CPU time was not recorded. Returns the rest, which is that of
// reads: they carry no CPU time of their own. This is exact if the other parts compute without
// waiting. If there are more runnable threads than cores, reads get too little.
std::int64_t NestingSweep::ShareCpu(std::int64_t cpu, Inside& inside) {
  const std::int64_t computing = inside.augment + inside.untimed();
  const std::int64_t given = std::min(cpu, computing);
  const double share =
      computing > 0 ? static_cast<double>(given) / static_cast<double>(computing) : 0;
  const auto part = [&](std::int64_t wall) {
    return static_cast<std::int64_t>(share * static_cast<double>(wall));
  };
  const std::int64_t decode = part(inside.decode_untimed);
  const std::int64_t tokenize = part(inside.tokenize_untimed);
  // Parts are rounded down, so without a bound the rest could exceed the time of augmenting.
  inside.augment_cpu = std::min(inside.augment, given - decode - tokenize);
  inside.decode_cpu += decode;
  inside.tokenize_cpu += tokenize;
  for (Open& around : stack_) {
    around.inside.decode_cpu += decode;
    around.inside.tokenize_cpu += tokenize;
  }
  return cpu - given;
}

// Augmenting is everything that a dataset does besides reading, decoding and tokenizing, with or
// without a name. If nothing was computed right before a read, this time belongs
// to the read: the thread waits for a lock that readers take in turn, or for a directory on remote
// storage.
void NestingSweep::CloseSample(const Open& open) {
  if (!open.outermost) return;  // the sample of a dataset that another one wraps
  EmitOpenings();
  Inside inside = open.inside;
  const std::int64_t wall = open.end - open.span.start.value;
  inside.augment = AtLeastZero(wall - inside.read - inside.told());
  const bool timed = open.span.cpu.value >= 0;
  if (timed) {
    const std::int64_t rest =
        ShareCpu(AtLeastZero(open.span.cpu.value - inside.told_cpu()), inside);
    inside.queued = AtLeastZero(std::min(open.before, inside.augment - inside.augment_cpu));
    inside.augment -= inside.queued;
    inside.read += inside.queued;
    inside.read_cpu = std::min(rest, inside.read);
  }
  for (Open& around : stack_) {
    around.inside.read += inside.queued;
    around.inside.queued += inside.queued;
    around.inside.augment += inside.augment;
    around.inside.augment_cpu += inside.augment_cpu;
    around.inside.read_cpu += inside.read_cpu;
    ++around.inside.samples;
  }
  Counted augment;
  augment.span = &open.span;
  augment.stage = StageId::kAugment;
  augment.wall = inside.augment;
  augment.cpu = timed ? inside.augment_cpu : -1;
  augment.synthetic = true;
  sink_.OnCounted(augment);
  if (inside.queued > 0) {
    Counted queued;
    queued.span = &open.span;
    queued.stage = StageId::kRead;
    queued.wall = inside.queued;
    queued.synthetic = true;
    sink_.OnCounted(queued);
  }
  Emit(open, wall, open.span.cpu.value, inside);
}

// Without samples (the dataset has __getitems__, or its samples are not hooked), augmenting is what
// the other stages leave of the fetch.
void NestingSweep::CloseFetch(const Open& open) {
  if (!open.outermost) return;
  EmitOpenings();
  Inside inside = open.inside;
  const std::int64_t wall = open.end - open.span.start.value;
  if (inside.samples == 0 && inside.augment == 0) {
    inside.augment = AtLeastZero(wall - inside.read - inside.told() - inside.collate);
    if (open.span.cpu.value >= 0) {
      const std::int64_t rest = ShareCpu(
          AtLeastZero(open.span.cpu.value - inside.told_cpu() - inside.collate_cpu), inside);
      inside.read_cpu = std::min(rest, inside.read);
    }
    Counted augment;
    augment.span = &open.span;
    augment.stage = StageId::kAugment;
    augment.wall = inside.augment;
    augment.cpu = open.span.cpu.value >= 0 ? inside.augment_cpu : -1;
    augment.synthetic = true;
    if (inside.augment > 0) sink_.OnCounted(augment);
  }
  Emit(open, wall, open.span.cpu.value, inside);
}

void NestingSweep::CloseCollate(const Open& open) {
  if (!open.outermost) return;
  const std::int64_t wall = AtLeastZero(open.end - open.span.start.value - open.inside.read -
                                        open.inside.told() - open.inside.augment);
  std::int64_t cpu = open.span.cpu.value;
  if (cpu >= 0) cpu = AtLeastZero(cpu - open.inside.told_cpu() - open.inside.augment_cpu);
  cpu = CpuWithin(cpu, wall);
  for (Open& around : stack_) {
    around.inside.collate += wall;
    around.inside.collate_cpu += AtLeastZero(cpu);
  }
  Emit(open, wall, cpu, open.inside);
}

// A loop that uses two loaders waits for one of them inside the step of the other. That is waiting.
void NestingSweep::CloseOther(const Open& open) {
  if (!open.outermost) return;
  std::int64_t wall = open.end - open.span.start.value;
  if (open.span.stage == StageId::kWait) {
    for (Open& around : stack_) around.inside.wait += wall;
  } else if (open.span.stage == StageId::kStep) {
    wall -= open.inside.wait;
  }
  Emit(open, wall, open.span.cpu.value, open.inside);
}

}  // namespace penstock::traces
