// SPDX-License-Identifier: Apache-2.0
//
// The process that drains the ring while the command runs. It has a session of its own, so a signal
// that kills the command or the launcher does not kill it, and it can finish the trace. It prints
// nothing: its messages go through the channel.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/record/collect/arena.h"
#include "agent/record/collect/channel.h"
#include "agent/record/collect/run_facts.h"
#include "agent/record/collect/stager.h"
#include "agent/record/options.h"
#include "agent/record/sample/clock.h"
#include "agent/record/sample/enrich.h"
#include "agent/record/sample/gpu_sampler.h"
#include "agent/record/sample/liveness.h"
#include "agent/record/sample/proc_sampler.h"
#include "traces/recording/recording.h"

namespace penstock::record {

struct CollectorConfig {
  Options options;  // with an absolute path of the output
  bool force_monotonic = false;
  bool send_progress = false;
  int nice = 5;            // added to the launcher's niceness
  std::string shm_folder;  // folder for the ring's file; empty: try a segment first
  bool use_memfd = true;
  std::map<std::string, std::string> facts;  // facts about preparations for the run
};

// Counts how long the disk has been full. Meanwhile the recording stays in the ring.
class FullDisk {
 public:
  void Begin(TimeNs now) {
    if (!since_) since_ = now;
  }
  void End(TimeNs now) {
    before_ = Total(now);
    since_.reset();
  }
  [[nodiscard]] bool is_full() const { return since_.has_value(); }
  // How long the disk has been full until `now`. This may be a moment before Begin(), such as the
  // end of the command when only the last flush found the disk full; time after `now` does not
  // count.
  [[nodiscard]] TimeNs Total(TimeNs now) const {
    return since_ && now > *since_ ? before_ + (now - *since_) : before_;
  }

 private:
  std::optional<TimeNs> since_;
  TimeNs before_;
};

class Collector {
 public:
  Collector(CollectorConfig config, Channel channel);

  // Records until the end. Returns the exit status of this process: 1 if the trace could not be
  // finished, else 0. It is 0 also if the output or the ring could not be made (the launcher gets
  // kRefused), if the recording was discarded or nothing was recorded, and if the output failed
  // midway and was finished with a shorter trace (kFinished says so). Requires: a process of its
  // own (see DetachProcess()).
  int Run();

 private:
  using DeadCheck = std::function<bool(std::uint32_t, std::uint64_t, std::uint32_t)>;

  Result<void> Open();
  // Makes the file of the trace, under the name that was asked for or under another name in the
  // same folder. Errors: kOutput, kUsage.
  Result<void> OpenOutput();
  // False if the launcher is gone or too slow.
  bool Send(MessageType type, const std::string& text = {});
  // Ends the copying for --stage and writes its result as facts.
  void EndStage();
  // Takes messages until `until`. False if the command was never run.
  bool Listen(TimeNs until);
  void OnMessage(const Message& message);
  void Work(TimeNs now);
  // Writes the drained records to disk and gives their chunks back to the agents.
  void Flush(TimeNs now);
  [[nodiscard]] bool Ended(TimeNs now);
  void CheckLimits(TimeNs now);
  void StopRecording(const std::string& why);
  void DrainLast();
  int Finish();
  void Discard();
  void Progress(TimeNs now);
  void FillValues(Message& message, TimeNs now) const;
  [[nodiscard]] TimeNs Pause(std::uint64_t taken, TimeNs worked) const;

  CollectorConfig config_;
  Channel channel_;
  Clock clock_;
  std::optional<Arena> arena_;
  std::unique_ptr<Stager> stager_;  // nullptr: nothing is copied
  std::unique_ptr<EnrichingPacker> packer_;
  std::unique_ptr<RunFacts> facts_;  // writes to packer_
  std::unique_ptr<traces::RecordingDrain> drain_;
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<ProcSampler> sampler_;
  std::unique_ptr<GpuSampler> gpu_;  // nullptr: not asked for
  DeadCheck is_dead_;

  TimeNs begin_;                   // when the ring was made
  std::optional<TimeNs> started_;  // when the command started
  TimeNs realtime_begin_;
  std::optional<TimeNs> end_;     // end of the recording; nullopt: it is still on
  std::optional<TimeNs> exited_;  // when the command ended
  TimeNs next_second_;
  TimeNs next_flush_;
  TimeNs pause_;
  ProcessKey command_;
  std::int32_t exit_status_ = -1;  // wait status of the command; negative: not known
  bool launcher_gone_ = false;
  bool discard_ = false;
  bool limit_reached_ = false;
  std::string stopped_;  // why the recording ended before the command
  std::string trouble_;  // why the output could not be written; "": no failure
  FullDisk disk_;
};

}  // namespace penstock::record
