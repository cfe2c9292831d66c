// SPDX-License-Identifier: Apache-2.0
//
// The work of the launcher while the command runs: it waits for the command, passes signals on,
// shows the collector's reports, and tells the collector how the command ended.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/record/collect/arena.h"
#include "agent/record/collect/channel.h"
#include "agent/record/launch/command.h"
#include "agent/record/launch/group_watch.h"
#include "agent/record/launch/progress.h"
#include "agent/record/options.h"

namespace penstock::record {

struct Outcome {
  int start_error = 0;      // errno if the command could not be started
  bool no_process = false;  // fork failed
  int wait_status = 0;
  bool complete = false;  // the trace is complete, under its final name
  bool collector_died = false;
  std::string trouble;             // one line, or empty
  std::vector<std::string> notes;  // lines for the user
  std::filesystem::path output;    // where the trace is
  Message totals;                  // values[] of the whole recording
};

class Supervisor {
 public:
  // Requires: `options` and `arena` outlive this object.
  Supervisor(const Options& options, Channel channel, pid_t collector, const Arena& arena,
             bool show_progress);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Starts the command and returns when both it and the collector have ended.
  Outcome Run(const std::vector<std::string>& environment);

 private:
  void BlockSignals();
  void RestoreSignals();
  void WaitOnce(int timeout_ms);
  [[nodiscard]] int NextSignal(int* code) const;
  void TakeSignals();
  void PassOn(int signal, bool from_kernel);
  void TakeMessages();
  void LookForCollector(int options);
  void OnMessage(const Message& message);
  void OnCommandExit();
  void ReapCommand();
  void StepStop();
  void Interrupt(int signal);
  void AwaitCollector();

  const Options& options_;
  Channel channel_;
  pid_t collector_;
  const Arena& arena_;
  Progress progress_;
  SignalState signals_;
  sigset_t taken_{};
  GroupWatch group_;
  int signal_fd_ = -1;
  pid_t command_ = -1;
  bool exited_ = false;  // the command has ended; it is a zombie until reaped_
  bool reaped_ = false;
  bool sampled_ = false;   // the collector's last sample of the command is taken, or will never be
  bool finished_ = false;  // kFinished has come
  TimeNs exit_seen_;
  // With --stop, which signal is sent next. 0: none yet; 1: SIGINT to the command; 2: SIGINT to
  // training processes; 3: SIGTERM to all of them; 4: none any more.
  int stop_step_ = 0;
  TimeNs stop_at_;
  Outcome outcome_;
};

}  // namespace penstock::record
