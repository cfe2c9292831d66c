// SPDX-License-Identifier: Apache-2.0
//
// Counters and facts of the GPUs from NVML, through a process of its own (nvml_process.h): whether
// that one is missing, fails, crashes or hangs, nobody ever waits for it. What it came to is the
// fact gpu.nvml. Not thread-safe.
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
  // Requires: all outlive this. Starts the process; failing to is a fact like any other.
  GpuSampler(wire::FileHeader& header, const traces::RecordingDrain& drain, Liveness& liveness,
             EnrichingPacker& out);
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // Takes what has come. Cost: microseconds; never blocks.
  void Tick(TimeNs now);
  // The same for the last time, writes the facts that are known only now, and ends the process.
  void Stop(TimeNs now);

 private:
  struct Device {
    std::map<std::uint32_t, std::int64_t> listing;  // host pids and bytes, while they come
    std::set<std::uint32_t> owners;                 // traced processes, as they see themselves
    std::string minor;
    bool opened = false;  // a traced process has its device file open
  };

  void Read(TimeNs now);
  void Take(const GpuRecord& record, TimeNs now);
  void TakeListing(Device& device, const GpuRecord& record, TimeNs now);
  void AddCounter(const GpuRecord& record);
  // Traced processes and their pids here.
  [[nodiscard]] std::map<std::uint32_t, ProcessKey> HostPids(TimeNs now);
  // In a container NVML tells pids that mean nothing here; open device files are what is left.
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
  std::vector<char> unread_;                 // less than a record
  std::deque<traces::CounterSample> early_;  // before any process was known
  std::map<std::int32_t, Device> devices_;
  std::map<std::int32_t, std::string> models_;
  struct Told {
    StringId name;
    TimeNs next;  // a long run is told less often: see ProcSampler
  };
  std::map<std::string, Told, std::less<>> names_;
  TimeNs first_counter_;
  std::string status_;
  std::uint64_t samples_ = 0;
  std::uint64_t last_count_ = 0;
  TimeNs moved_;  // when `count` was last seen to grow
  TimeNs next_opened_;
  bool answered_ = false;  // it has described the devices
};

}  // namespace penstock::record
