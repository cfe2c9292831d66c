// SPDX-License-Identifier: Apache-2.0
//
// Takes counters and facts of the GPUs from NVML, through a process of its own (nvml_process.h). If
// that process is missing, fails, crashes or hangs, nobody waits for it. The fact gpu.nvml holds
// the outcome. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/record/sample/enrich.h"
#include "agent/record/sample/liveness.h"
#include "agent/record/sample/nvml_process.h"
#include "traces/recording/recording.h"
#include "traces/wire.h"

namespace penstock::record {

class GpuSampler {
 public:
  // Starts the process; if it cannot, that becomes a fact. Requires: all arguments outlive this
  // object.
  GpuSampler(wire::FileHeader& header, const traces::RecordingDrain& drain, Liveness& liveness,
             EnrichingPacker& out);
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // Takes what has come. Never waits for the process. Cost: microseconds; more where NVML lists
  // processes (once a second), or where it names none of ours (FindOpened(), every 5 s), since each
  // traced process is then looked up in /proc.
  void Tick(TimeNs now);
  // Does the same for the last time, writes the facts that are known only now, and ends the
  // process.
  void Stop(TimeNs now);

 private:
  struct Device {
    // Bytes by pid, as NVML has listed them so far; -1: it does not know the bytes.
    std::map<std::uint32_t, std::int64_t> listing;
    // Traced processes that NVML has listed, by the pids that they see themselves.
    std::set<std::uint32_t> owners;
    std::string minor;
    bool opened = false;  // a traced process has its device file open
  };

  void Read(TimeNs now);
  void Take(const GpuRecord& record, TimeNs now);
  void TakeListing(Device& device, const GpuRecord& record, TimeNs now);
  void AddCounter(const GpuRecord& record);
  // Whether the drain has announced a process.
  [[nodiscard]] bool KnowsProcess() const;
  // Traced processes by their pids in our /proc.
  [[nodiscard]] std::map<std::uint32_t, ProcessKey> HostPids(TimeNs now);
  // Finds devices whose file a traced process has open. In a container NVML's pids are not those of
  // our /proc, so its lists do not tell who uses a device.
  void FindOpened(TimeNs now);
  void Watch(TimeNs now);
  void SetStatus(const std::string& text);
  void WriteDevices();
  void End();

  wire::FileHeader& header_;
  const traces::RecordingDrain& drain_;
  Liveness& liveness_;
  EnrichingPacker& out_;
  GpuProgress* progress_ = nullptr;
  pid_t child_ = -1;
  int fd_ = -1;
  std::vector<char> unread_;                 // the first part of a record
  std::deque<traces::CounterSample> early_;  // samples that wait until a process is known
  bool process_known_ = false;               // KnowsProcess() was true
  std::map<std::int32_t, Device> devices_;
  std::map<std::int32_t, std::string> models_;
  struct Told {
    StringId name;
    TimeNs next;  // no sample before this time is written: kGpuPerAge
  };
  std::map<std::string, Told, std::less<>> names_;
  TimeNs first_counter_;
  std::string status_;
  std::uint64_t samples_ = 0;
  std::uint64_t last_count_ = 0;
  TimeNs moved_;  // when `count` was last seen to grow
  TimeNs next_opened_;
  bool answered_ = false;  // the process has described the devices
};

}  // namespace penstock::record
