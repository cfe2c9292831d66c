// SPDX-License-Identifier: Apache-2.0
#include "traces/recording/recording_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string>

namespace penstock::traces {
namespace {

constexpr std::size_t kMaxLibraries = 1024;
constexpr std::size_t kMaxFacts = 4096;

template <class T>
T Load(const T& field, int order = __ATOMIC_RELAXED) {
  return __atomic_load_n(&field, order);
}

// Sets `to` and reports whether that changed it.
template <class T>
bool Set(T& to, const T& value) {
  if (to == value) {
    return false;
  }
  to = value;
  return true;
}

// Facts of the run. Without a collector each agent records them as facts of its process.
constexpr std::array<std::string_view, 24> kRunFacts = {
    "host",
    "kernel",
    "cpu.model",
    "cpu.cores",
    "cpu.affinity",
    "cgroup.cpu_quota",
    "cgroup.memory_limit",
    "memory.total",
    "shm.size",
    "dataset.root",
    "dataset.storage",
    "gpu.model",
    "penstock.version",
    "python.version",
    "torch.version",
    "dataset.bytes",
    "gpu.driver",
    "gpu.count",
    "cuda.version",
    "numpy.version",
    "exit.status",
    "torchvision.version",
    "clock.namespace",
    "clock.offset_ns",
};

std::string Trimmed(const char* text, std::size_t size) {
  return {text, strnlen(text, size)};
}

}  // namespace

RecordingProcesses::Entry& RecordingProcesses::Reach(const Key& key, Packer& out) {
  const auto [at, inserted] = by_key_.try_emplace(key, entries_.size());
  if (inserted) {
    Entry& entry = entries_.emplace_back();
    entry.info.pid = key.first;
    entry.info.process_start = key.second;
    entry.id = out.AddProcess(entry.info);
  }
  return entries_[at->second];
}

RecordingProcesses::Counts RecordingProcesses::Read(const wire::ProcessSlot& slot,
                                                    wire::FileMode mode) {
  Counts counts;
  counts.hooked = Load(slot.bytes_hooked);
  if (mode == wire::kLinear) {
    // Without a collector nobody asks the kernel from outside, so the process's own pair of counts,
    // both from one moment, is used.
    const std::uint64_t last = Load(slot.rchar_last);
    const std::uint64_t first = Load(slot.rchar_at_start);
    if (last > first) {
      counts.hooked = Load(slot.hooked_last);
      counts.kernel = last - first;
    }
  }
  counts.dataset = Load(slot.bytes_dataset);
  counts.network = Load(slot.bytes_network);
  counts.mapped = Load(slot.bytes_mapped);
  counts.lost = Load(slot.bytes_lost);
  counts.claimed = Load(slot.bytes_claimed);
  counts.network_lost = Load(slot.network_lost);
  counts.network_claimed = Load(slot.network_claimed);
  counts.dropped = Load(slot.dropped);
  counts.misses = Load(slot.hook_misses);
  return counts;
}

// Adds up the counts of the slots and returns whether the info of the process has changed. A slot
// counts each byte once, but the info's bytes_dataset and bytes_network contain the lost and the
// claimed bytes too.
bool RecordingProcesses::Sum(Entry& entry) {
  Counts sum;
  for (const auto& [index, counts] : entry.slots) {
    sum.hooked += counts.hooked;
    sum.kernel += counts.kernel;
    sum.dataset += counts.dataset + counts.lost + counts.claimed;
    sum.network += counts.network + counts.network_lost + counts.network_claimed;
    sum.mapped += counts.mapped;
    sum.lost += counts.lost;
    sum.claimed += counts.claimed;
    sum.network_lost += counts.network_lost;
    sum.network_claimed += counts.network_claimed;
    sum.dropped += counts.dropped;
    sum.misses += counts.misses;
  }
  ProcessInfo& info = entry.info;
  bool changed = Set(info.bytes_hooked.value, sum.hooked);
  changed |= Set(info.bytes_kernel.value, sum.kernel);
  changed |= Set(info.bytes_dataset.value, sum.dataset);
  changed |= Set(info.bytes_network.value, sum.network);
  changed |= Set(info.bytes_mapped.value, sum.mapped);
  changed |= Set(info.bytes_lost.value, sum.lost);
  changed |= Set(info.bytes_claimed.value, sum.claimed);
  changed |= Set(info.network_lost.value, sum.network_lost);
  changed |= Set(info.network_claimed.value, sum.network_claimed);
  changed |= Set(info.dropped, sum.dropped);
  changed |= Set(info.hook_misses, sum.misses);
  return changed;
}

void RecordingProcesses::Sync(std::uint32_t index, const wire::ProcessSlot& slot,
                              wire::FileMode mode, Packer& out) {
  const std::uint32_t state = Load(slot.state, __ATOMIC_ACQUIRE);
  if ((state != wire::kProcessLive && state != wire::kProcessReplaced) || slot.pid == 0) {
    return;
  }
  Entry& entry = Reach({slot.pid, slot.process_start}, out);
  const auto known = std::find_if(entry.slots.begin(), entry.slots.end(),
                                  [index](const auto& one) { return one.first == index; });
  const Counts counts = Read(slot, mode);
  if (known == entry.slots.end()) {
    entry.slots.emplace_back(index, counts);
  } else {
    known->second = counts;
  }
  bool changed = Sum(entry);
  ProcessInfo& info = entry.info;
  changed |= Set(info.features, info.features | (Load(slot.features) & ~wire::kFeatureMoving));
  if (state == wire::kProcessLive) {
    const std::uint32_t role = Load(slot.role);
    changed |= Set(info.parent, slot.parent);
    changed |= Set(info.role, role <= wire::kRoleWorker ? static_cast<wire::ProcessRole>(role)
                                                        : wire::kRoleOther);
    changed |= Set(info.worker_id, Load(slot.worker_id));
    SyncRank(slot, entry);
    changed |= Set(info.comm, Trimmed(slot.comm, sizeof slot.comm));
  }
  entry.dirty = entry.dirty || changed;
}

void RecordingProcesses::AddOpen(ProcessId id, std::uint64_t bytes) {
  for (Entry& entry : entries_) {
    if (entry.id == id) {
      const std::uint64_t sum = entry.info.bytes_open.value + bytes;
      entry.info.bytes_open.value = sum >= bytes ? sum : ~std::uint64_t{0};
      entry.dirty = true;
    }
  }
}

void RecordingProcesses::Settle(const wire::FileHeader& header) {
  const wire::FileMode mode = header.mode == wire::kRing ? wire::kRing : wire::kLinear;
  for (Entry& entry : entries_) {
    bool counted = header.minor >= wire::kMinorCounted && !entry.slots.empty();
    for (const auto& [index, counts] : entry.slots) {
      const wire::ProcessSlot& slot = header.processes[index];
      const std::uint32_t state = Load(slot.state, __ATOMIC_ACQUIRE);
      const bool same =
          slot.pid == entry.info.pid && slot.process_start == entry.info.process_start;
      if (same && (state == wire::kProcessLive || state == wire::kProcessReplaced)) {
        counted = counted && Read(slot, mode) == counts &&
                  (Load(slot.features) & wire::kFeatureMoving) == 0;
      }
    }
    entry.dirty = entry.dirty || counted != entry.info.counted;
    entry.info.counted = counted;
  }
}

// A worker whose environment names no rank has its parent's rank. Where the process group has told
// a rank, it has told the world size before (torch_ranks.py).
void RecordingProcesses::SyncRank(const wire::ProcessSlot& slot, Entry& entry) {
  const ProcessInfo* parent = nullptr;
  ProcessId above;
  if (slot.rank < 0 && entry.told_rank < 0 && entry.info.role == wire::kRoleWorker &&
      FindPid(slot.parent, &above)) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [above](const Entry& one) { return one.id == above; });
    if (found != entries_.end() && &*found != &entry) parent = &found->info;
  }
  const bool told = entry.told_rank >= 0;
  bool changed = Set(entry.info.rank, told ? entry.told_rank : parent ? parent->rank : slot.rank);
  changed |= Set(entry.info.world_size, told     ? entry.told_world
                                        : parent ? parent->world_size
                                                 : slot.world_size);
  changed |= Set(entry.info.local_rank, parent != nullptr ? parent->local_rank : slot.local_rank);
  entry.dirty = entry.dirty || changed;
}

ProcessId RecordingProcesses::Get(std::uint32_t pid, std::uint64_t process_start, Packer& out) {
  return Reach({pid, process_start}, out).id;
}

bool RecordingProcesses::Find(std::uint32_t pid, std::uint64_t process_start, ProcessId* id) const {
  const auto found = by_key_.find({pid, process_start});
  if (found == by_key_.end()) {
    return false;
  }
  *id = entries_[found->second].id;
  return true;
}

bool RecordingProcesses::FindPid(std::uint32_t pid, ProcessId* id) const {
  // Keys ascend by start time within a pid.
  auto after = by_key_.upper_bound({pid, ~std::uint64_t{0}});
  if (after == by_key_.begin() || (--after)->first.first != pid) {
    return false;
  }
  *id = entries_[after->second].id;
  return true;
}

void RecordingProcesses::TakeRank(std::string_view key, std::string_view value, Entry& entry) {
  std::int32_t number = -1;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc() || number < 0) return;
  if (key == "rank.rank") entry.info.rank = entry.told_rank = number;
  if (key == "rank.world_size") entry.info.world_size = entry.told_world = number;
}

void RecordingProcesses::Text(ProcessId id, wire::TextType type, std::string_view text) {
  // Searched from the back: a long run has had many processes, and mostly new ones write texts.
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [id](const Entry& entry) { return entry.id == id; });
  if (found == entries_.rend()) {
    return;
  }
  ProcessInfo& info = found->info;
  found->dirty = true;
  if (type == wire::kTextFact) {
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && info.facts.size() < kMaxFacts) {
      info.facts[std::string(text.substr(0, equals))] = text.substr(equals + 1);
      TakeRank(text.substr(0, equals), text.substr(equals + 1), *found);
    }
  } else if (type == wire::kTextCommand) {
    info.command.clear();
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\x1f'), text.size());
      info.command.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else if (type == wire::kTextLibrary && info.libraries.size() < kMaxLibraries &&
             std::find(info.libraries.begin(), info.libraries.end(), text) ==
                 info.libraries.end()) {
    info.libraries.emplace_back(text);
  }
}

void RecordingProcesses::Publish(Packer& out) {
  for (Entry& entry : entries_) {
    if (entry.dirty) {
      entry.dirty = false;
      out.UpdateProcess(entry.id, entry.info);
    }
  }
}

void RecordingProcesses::Retire(const Key& process, Packer& out) {
  const auto found = by_key_.find(process);
  if (found == by_key_.end()) {
    return;
  }
  const std::size_t index = found->second;
  Entry& entry = entries_[index];
  if (entry.id == ProcessId{}) {
    return;  // kept, because the counters of the host belong to the first process
  }
  if (entry.dirty) {
    out.UpdateProcess(entry.id, entry.info);
  }
  dropped_before_ += entry.info.dropped;
  out.EndProcess(entry.id);
  by_key_.erase(found);
  if (index + 1 != entries_.size()) {
    entry = std::move(entries_.back());
    by_key_[{entry.info.pid, entry.info.process_start}] = index;
  }
  entries_.pop_back();
}

void RecordingProcesses::PromoteFacts(std::uint32_t root, Packer& out) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [root](const Entry& e) { return e.info.pid == root; });
  const Entry* entry = found != entries_.end() ? &*found
                       : entries_.empty()      ? nullptr
                                               : &entries_.front();
  if (entry == nullptr) {
    return;
  }
  for (const std::string_view key : kRunFacts) {
    const auto fact = entry->info.facts.find(std::string(key));
    if (fact != entry->info.facts.end()) {
      out.SetFact(key, fact->second);
    }
  }
  std::string command;
  for (const std::string& argument : entry->info.command) {
    command += command.empty() ? "" : " ";
    command += argument;
  }
  if (!command.empty()) {
    out.SetFact("command", command);
  }
}

std::uint64_t RecordingProcesses::Dropped() const {
  std::uint64_t sum = dropped_before_;
  for (const Entry& entry : entries_) {
    sum += entry.info.dropped;
  }
  return sum;
}

}  // namespace penstock::traces
