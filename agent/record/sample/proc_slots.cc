// SPDX-License-Identifier: Apache-2.0
//
// The part of ProcSampler that frees the slots and the memory of programs that have ended.
#include <algorithm>
#include <utility>
#include <vector>

#include "agent/record/sample/proc_sampler.h"

namespace penstock::record {
namespace {

constexpr TimeNs kFreePeriod{50'000'000};
constexpr TimeNs kSlotRest{150'000'000};  // longer than the collector waits between two drains
constexpr TimeNs kForgetPeriod{1'000'000'000};

}  // namespace

void ProcSampler::FreeEnded(TimeNs now) {
  if (now < next_free_) return;
  next_free_ = now + kFreePeriod;
  RecycleSlots(now);
  ForgetEnded(now);
}

// Whether the slot belongs to a program that has ended, and a drain has run since then.
bool ProcSampler::MayFree(std::uint32_t index, TimeNs now) {
  const wire::ProcessSlot& slot = header_.processes[index];
  const std::uint32_t state = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
  TimeNs& replaced = replaced_[index];
  if (state != wire::kProcessReplaced) replaced = {};
  if (state == wire::kProcessReplaced) {
    // The process runs another program by now (exec). Only the slot's state kProcessReplaced tells
    // the drain that nobody writes into the earlier program's chunks any more.
    if (replaced.value == 0) replaced = now;
    return now - replaced > kSlotRest;
  }
  if (state != wire::kProcessLive) return false;
  const auto tracked = tracked_.find({slot.pid, slot.process_start});
  // A process that the drain has not announced keeps its slot, since the drain reads from the slot
  // what the process is.
  ProcessId known;
  return tracked != tracked_.end() && tracked->second.gone &&
         now - tracked->second.gone_at > kSlotRest &&
         drain_.ProcessOf(slot.pid, slot.process_start, &known);
}

void ProcSampler::RecycleSlots(TimeNs now) {
  std::vector<std::uint32_t> ended;
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    const std::uint32_t state = __atomic_load_n(&header_.processes[i].state, __ATOMIC_RELAXED);
    used += state != wire::kProcessFree ? 1u : 0u;
    if (MayFree(i, now)) ended.push_back(i);
  }
  if (used < wire::kMaxProcesses / 4) return;
  for (const std::uint32_t i : ended) {
    wire::ProcessSlot& slot = header_.processes[i];
    // The first process is not forgotten, since counters of the host belong to it.
    if (__atomic_load_n(&slot.state, __ATOMIC_RELAXED) == wire::kProcessLive &&
        ProcessKey{slot.pid, slot.process_start} != first_) {
      ended_.emplace_back(slot.pid, slot.process_start);
    }
    replaced_[i] = {};
    __atomic_store_n(&slot.state, std::uint32_t{wire::kProcessFree}, __ATOMIC_RELEASE);
  }
}

void ProcSampler::ForgetEnded(TimeNs now) {
  if (ended_.empty() || now < next_forget_) return;
  next_forget_ = now + kForgetPeriod;
  const auto before = ended_;
  drain_.Retire(ended_, out_);
  for (const auto& [pid, start] : before) {
    if (std::find(ended_.begin(), ended_.end(), std::pair(pid, start)) != ended_.end()) continue;
    const ProcessKey key{pid, start};
    out_.Forget(key);
    liveness_.Forget(key);
    tracked_.erase(key);
  }
}

}  // namespace penstock::record
