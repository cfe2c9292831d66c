// SPDX-License-Identifier: Apache-2.0
//
// Collects what an importer finds in another tool's file, and makes a trace of it. Processes,
// threads and streams are known by their names in that file. Waits and deliveries come from the
// ranges that PyTorch's profiler writes, and from AddWait(). Not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traces/pack.h"

namespace penstock::traces {

// What was imported, and what was not, by kind, for people.
struct ImportSummary {
  std::string format;  // "PyTorch profiler", ...
  std::uint64_t spans = 0;
  std::uint64_t batches = 0;  // recognised deliveries of a DataLoader
  std::uint64_t counters = 0;
  std::map<std::string, std::uint64_t> left_out;
};

class Foreign {
 public:
  explicit Foreign(Packer& out) : out_(out) {}

  // The thread that the file calls (pid, tid). These may be numbers or names.
  [[nodiscard]] ThreadId Thread(std::string_view pid, std::string_view tid);
  // The stream of a device, as a thread of process `pid`. If `pid` is "", Finish() gives it to the
  // process of the thread with the most Calls(), or to the first process if there were no calls.
  [[nodiscard]] ThreadId Lane(std::uint32_t device, std::uint32_t stream,
                              std::string_view pid = "");
  void NameProcess(std::string_view pid, std::string_view name);
  void NameThread(std::string_view pid, std::string_view tid, std::string_view name);
  // The info of a process, which the caller may complete before another process comes.
  [[nodiscard]] ProcessInfo& Process(std::string_view pid);
  // Lets Thread(pid, tid) return thread (pid, of) from now on: in the file, `tid` is a second track
  // of thread `of`.
  void Alias(std::string_view pid, std::string_view tid, std::string_view of);
  // Counts a call of this thread to a device's API: see Lane().
  void Calls(ThreadId thread);
  // From now on a tid with the highest bit set is the stream of a device, as in our own exports. In
  // other files such a number is half of a pthread_t, and the thread gets another number.
  void KeepLanes() { keeps_lanes_ = true; }

  void Add(ThreadId thread, Span span);
  // Adds a range that the program or a library named. If it is PyTorch's range of a wait for a
  // DataLoader, AddWait() adds it instead.
  // Source: torch/utils/data/dataloader.py, _BaseDataLoaderIter._profile_name.
  void AddRange(ThreadId thread, Span span, std::string_view name, std::string_view domain);
  // Adds a wait of the program for its next batch, and the delivery at its end.
  void AddWait(ThreadId thread, Span span);
  void AddCounter(std::string_view pid, std::string_view name, TimeNs at, std::int64_t value);
  void AddEvent(const Event& event);
  void LeaveOut(const std::string& kind, std::uint64_t count = 1) {
    summary_.left_out[kind] += count;
  }
  // Whether a packed trace can hold a span with these times. A span with other times would make its
  // whole block unreadable.
  [[nodiscard]] static bool Plausible(TimeNs start, TimeNs duration);

  [[nodiscard]] Packer& out() { return out_; }
  [[nodiscard]] ImportSummary& summary() { return summary_; }

  // Writes the final processes and threads, and the facts of the loader.
  void Finish();

 private:
  struct ThreadKey {
    std::string pid, tid;  // as in the file
    bool operator==(const ThreadKey&) const = default;
  };
  struct ThreadKeyHash {
    std::size_t operator()(const ThreadKey& key) const {
      return std::hash<std::string>()(key.pid) * 31 + std::hash<std::string>()(key.tid);
    }
  };

  std::size_t ProcessIndex(std::string_view pid);
  static std::uint32_t Number(std::string_view word, std::uint32_t otherwise);

  Packer& out_;
  ImportSummary summary_;
  std::unordered_map<std::string, std::size_t> process_of_;
  std::vector<ProcessInfo> processes_;
  std::vector<ProcessId> process_ids_;
  std::unordered_map<ThreadKey, ThreadId, ThreadKeyHash> thread_of_;
  struct LaneKey {
    std::string pid;  // "": not known
    std::uint32_t device, stream;
    auto operator<=>(const LaneKey&) const = default;
  };
  std::map<LaneKey, ThreadId> lanes_;
  std::vector<ThreadInfo> threads_;               // index = ThreadId
  std::map<std::uint32_t, std::uint64_t> calls_;  // thread -> calls of a device
  std::map<std::uint32_t, std::uint32_t> waits_;  // thread -> batches delivered to it
  std::set<std::uint32_t> no_workers_;            // threads that wait for a loader without workers
  std::set<std::uint32_t> backward_;              // threads that run backward passes
  std::uint32_t given_ = 0;                       // how many pids and tids are not the file's
  bool keeps_lanes_ = false;
};

}  // namespace penstock::traces
