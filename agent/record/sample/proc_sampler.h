// SPDX-License-Identifier: Apache-2.0
//
// Takes counters of every traced process from the kernel: CPU, memory, faults, bytes read, and the
// pair (bytes hooked, bytes the kernel counted) from which coverage is computed. The traced program
// does no work for this. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/record/sample/enrich.h"
#include "agent/record/sample/host_sampler.h"
#include "agent/record/sample/io_history.h"
#include "agent/record/sample/liveness.h"
#include "traces/recording/recording.h"
#include "traces/wire.h"

namespace penstock::record {

// How often smaps_rollup is read. To answer, the kernel walks all pages of the process, at about 20
// us a megabyte, and holds the process's memory lock meanwhile.
struct MemoryWalks {
  bool on = true;
  TimeNs every;  // period for each process; 0: as often as the budget allows
};

class ProcSampler {
 public:
  // Requires: all arguments outlive this object.
  ProcSampler(wire::FileHeader& header, traces::RecordingDrain& drain, Liveness& liveness,
              EnrichingPacker& out, MemoryWalks walks);

  // Takes all samples that are due. Cost: a few microseconds for each process ten times a second,
  // and for all walks of page tables and maps together about 0.1 % of the machine's CPU time
  // (WalkBudget). If MemoryWalks::every is set, walks may take a twentieth of a core for each
  // process instead.
  void Tick(TimeNs now);
  // If slots run short, frees the slots of programs that have ended, and forgets their processes.
  // Call it after a drain, and not while draining has stopped (a full disk): the drain cannot read
  // a slot that was freed.
  void FreeEnded(TimeNs now);
  // Takes a last sample of every process that still runs or has just become a zombie.
  void SampleAll(TimeNs now);
  // Number of traced processes that ran at the last Tick().
  [[nodiscard]] std::uint32_t running() const { return running_; }
  // The number of walks of page tables so far, and the CPU time of these walks and of reading maps.
  [[nodiscard]] std::uint64_t walks() const { return walk_count_; }
  [[nodiscard]] TimeNs walks_cpu() const { return budget_.spent(); }

 private:
  // Limits the CPU time for walks of page tables (smaps_rollup: 5 ms for 250 MB) and maps, since a
  // program that keeps every core busy loses that time.
  class WalkBudget {
   public:
    explicit WalkBudget(std::uint64_t cores) : cores_(cores) {}
    [[nodiscard]] bool Allows(TimeNs now, TimeNs cost);
    void Spend(TimeNs cost) { spent_.value += cost.value; }
    [[nodiscard]] TimeNs spent() const { return spent_; }

   private:
    std::uint64_t cores_;
    TimeNs begin_;  // when Allows() was called first
    TimeNs spent_;
  };

  struct Tracked {
    bool gone = false;
    TimeNs gone_at;
    std::uint32_t host_pid = 0;
    TimeNs first;  // when it was first found in /proc
    TimeNs next_stat;
    TimeNs next_io;
    TimeNs next_tell;  // when counters are written next; they are read more often
    TimeNs next_tell_io;
    TimeNs next_memory;
    TimeNs next_maps;
    int scans = 0;
    bool is_worker = false;
    bool wants_memory = false;  // the process is big, or part of a loader
    TimeNs memory_cost;         // of the last walk; 0: none yet
    std::uint64_t rss = 0;
    std::uint64_t children_ticks = 0;  // the value of children_cpu_ns that was written last
    IoHistory io;
  };

  void Sample(const wire::ProcessSlot& slot, ProcessKey key, Tracked& tracked, TimeNs now,
              bool last);
  bool SampleStat(ProcessKey key, Tracked& tracked, TimeNs now);
  void SampleIo(const wire::ProcessSlot& slot, ProcessKey key, Tracked& tracked, TimeNs now);
  void OnGone(const wire::ProcessSlot& slot, ProcessKey key, const Tracked& tracked);
  // Writes the total CPU time of a process that has ended by itself, since its last sample has only
  // a part of that time.
  void TellCpuAtEnd(const wire::ProcessSlot& slot, ProcessKey key, TimeNs now);
  // Samples anonymous memory, which the kernel counts without a walk.
  void SampleAnonymous(ProcessKey key, const Tracked& tracked, TimeNs now);
  void SampleMemory(ProcessKey key, Tracked& tracked, TimeNs now);
  [[nodiscard]] TimeNs NextWalk(const Tracked& tracked, TimeNs now, TimeNs took) const;
  // Walks the process that has waited longest, if the budget allows it.
  void SampleMemoryInTurn(TimeNs now);
  void ScanMaps(ProcessKey key, Tracked& tracked, TimeNs now);
  void SampleHost(TimeNs now, bool last);
  bool MayFree(std::uint32_t index, TimeNs now);
  // Frees slots: a loader that starts new workers in every epoch would use up all slots.
  void RecycleSlots(TimeNs now);
  // Forgets processes whose slots were freed, once all of their records are on disk.
  void ForgetEnded(TimeNs now);
  void Add(ProcessKey key, StringId name, std::uint64_t value, TimeNs now);

  wire::FileHeader& header_;
  traces::RecordingDrain& drain_;
  Liveness& liveness_;
  EnrichingPacker& out_;
  std::map<ProcessKey, Tracked> tracked_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ended_;  // processes whose slots were freed
  std::array<TimeNs, wire::kMaxProcesses> replaced_{};          // when a slot was first seen as
                                                                // kProcessReplaced; 0: never
  TimeNs next_free_;
  TimeNs next_forget_;
  WalkBudget budget_;
  MemoryWalks walks_;
  bool quiet_ = false;  // Add() writes nothing
  std::uint64_t walk_count_ = 0;
  std::optional<TimeNs> first_worker_;  // when the first worker was seen
  HostSampler host_;
  ProcessKey first_;  // counters of the host belong to it
  bool has_first_ = false;
  std::uint32_t running_ = 0;
  TimeNs next_tick_;
  std::uint64_t page_size_;
  std::uint64_t clock_ticks_;
  StringId cpu_ns_, children_cpu_ns_, run_delay_ns_, rss_bytes_, minor_faults_, major_faults_,
      threads_, disk_read_bytes_, rchar_bytes_, pss_bytes_, uss_bytes_, private_dirty_bytes_,
      anonymous_bytes_, pss_anon_bytes_, swap_bytes_, rss_anon_bytes_;
};

}  // namespace penstock::record
