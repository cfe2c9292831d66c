// SPDX-License-Identifier: Apache-2.0
//
// Takes counters and facts of the GPUs from NVML, through a separate process (nvml_process.h). If
// that process cannot start, fails, crashes or hangs, nobody waits for it. The fact gpu.nvml says
// what happened. Not thread-safe.
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
  // Starts the process; if that fails, writes the reason as a fact. Requires: all arguments outlive
  // this object.
  GpuSampler(wire::FileHeader& header, const traces::RecordingDrain& drain, Liveness& liveness,
             EnrichingPacker& out);
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // Takes the records that have come. Never waits for the process. Cost: microseconds. It costs
  // more when NVML has listed processes (once a second), and when it has listed no process of ours
  // (FindOpened(), every 5 s), since then each traced process is looked up in /proc.
  void Tick(TimeNs now);
  // Takes the last records, writes the facts that are known only at the end, and ends the process.
  void Stop(TimeNs now);

 private:
  struct Device {
    // Bytes by pid, as listed by NVML so far; -1: NVML does not know the bytes.
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
  // Finds devices whose file a traced process has open. In a container NVML's pids are not the pids
  // of our /proc, so its lists do not show which traced process uses a device.
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
  std::vector<char> unread_;                 // bytes of a record that has not come as a whole yet
  std::deque<traces::CounterSample> early_;  // samples that are kept until a process is known
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
