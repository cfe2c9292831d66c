// SPDX-License-Identifier: Apache-2.0
//
// The processes of a recording by (pid, start time): from their slots in the header, or from their
// chunks if no slot was left. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/pack.h"
#include "traces/wire.h"

namespace penstock::traces {

class RecordingProcesses {
 public:
  // Takes the state of slot number `index`; Publish() reports what changed. A process that has
  // called exec has several slots.
  void Sync(std::uint32_t index, const wire::ProcessSlot& slot, wire::FileMode mode, Packer& out);
  // Adds bytes that threads of the process were counting when they were killed.
  void AddOpen(ProcessId id, std::uint64_t bytes);
  // Call this when all chunks were drained since the last Sync(). If the counts of a process have
  // not changed since then, they belong to exactly what was drained.
  void Settle(const wire::FileHeader& header);
  // The process of a chunk; it is added if no slot described it.
  [[nodiscard]] ProcessId Get(std::uint32_t pid, std::uint64_t process_start, Packer& out);
  [[nodiscard]] bool Find(std::uint32_t pid, std::uint64_t process_start, ProcessId* id) const;
  // Finds the process that had `pid` most recently; false if none did.
  [[nodiscard]] bool FindPid(std::uint32_t pid, ProcessId* id) const;

  // Takes a text of a process: "key=value", a command line, or a library.
  void Text(ProcessId id, wire::TextType type, std::string_view text);
  // Passes to the packer what changed through Text().
  void Publish(Packer& out);

  // Forgets a dead process.
  void Retire(const std::pair<std::uint32_t, std::uint64_t>& process, Packer& out);

  // Makes facts of the process `root` facts of the run. If `root` is 0, those of the first process.
  void PromoteFacts(std::uint32_t root, Packer& out) const;
  [[nodiscard]] std::uint64_t Dropped() const;

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  struct Counts {
    std::uint64_t hooked = 0;
    std::uint64_t kernel = 0;
    std::uint64_t dataset = 0;
    std::uint64_t network = 0;
    std::uint64_t mapped = 0;
    std::uint64_t lost = 0;
    std::uint64_t claimed = 0;
    std::uint64_t network_lost = 0;
    std::uint64_t network_claimed = 0;
    std::uint64_t dropped = 0;
    std::uint64_t misses = 0;
    bool operator==(const Counts&) const = default;
  };
  struct Entry {
    ProcessInfo info;
    ProcessId id;
    std::vector<std::pair<std::uint32_t, Counts>> slots;  // number and counts of each slot
    bool dirty = false;
    std::int32_t told_rank = -1;  // from its process group, which overrides variables
    std::int32_t told_world = -1;
  };
  static Counts Read(const wire::ProcessSlot& slot, wire::FileMode mode);
  static bool Sum(Entry& entry);
  void SyncRank(const wire::ProcessSlot& slot, Entry& entry);
  static void TakeRank(std::string_view key, std::string_view value, Entry& entry);
  Entry& Reach(const Key& key, Packer& out);

  std::vector<Entry> entries_;
  std::map<Key, std::size_t> by_key_;
  std::uint64_t dropped_before_ = 0;  // records dropped by processes that were forgotten
};

}  // namespace penstock::traces
