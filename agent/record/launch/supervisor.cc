// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "agent/record/sample/clock.h"
#include "agent/record/sample/liveness.h"
#include "traces/base/json_text.h"
#include "traces/base/say.h"

namespace penstock::record {
namespace {

constexpr TimeNs kSamplePatience{500'000'000};        // for the collector, to look at the zombie
constexpr TimeNs kInterruptPatience{2'000'000'000};   // then training processes get SIGINT
constexpr TimeNs kTerminatePatience{10'000'000'000};  // then these and the command get SIGTERM
constexpr std::array kForwarded = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};

}  // namespace

Supervisor::Supervisor(const Options& options, Channel channel, pid_t collector, const Arena& arena,
                       bool show_progress)
    : options_(options),
      channel_(std::move(channel)),
      collector_(collector),
      arena_(arena),
      progress_(show_progress) {
  outcome_.output = options.output;
}

Supervisor::~Supervisor() {
  if (signal_fd_ >= 0) close(signal_fd_);
}

void Supervisor::BlockSignals() {
  sigemptyset(&taken_);
  sigaddset(&taken_, SIGCHLD);
  for (const int signal : kForwarded) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    // Signals that were ignored at the start (a hangup under nohup, an interrupt in the background
    // of a script) are ignored by the command too, and not passed on.
    if (action.sa_handler != SIG_IGN) sigaddset(&taken_, signal);
  }
  // If we inherited SIGCHLD as ignored, the kernel would reap children without telling us.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &signals_.child);
  sigprocmask(SIG_BLOCK, &taken_, &signals_.mask);
  signal_fd_ = signalfd(-1, &taken_, SFD_CLOEXEC | SFD_NONBLOCK);
}

void Supervisor::RestoreSignals() {
  int code = 0;  // takes signals that are pending for us: one may have ended the command
  while (NextSignal(&code) != 0) {
  }
  sigprocmask(SIG_SETMASK, &signals_.mask, nullptr);
}

Outcome Supervisor::Run(const std::vector<std::string>& environment) {
  BlockSignals();
  const Started started = Start(options_.command, environment, signals_, channel_);
  if (started.error != 0) {
    outcome_.start_error = started.error;
    outcome_.no_process = !started.forked;
    Message discard;
    discard.type = MessageType::kDiscard;
    channel_.Send(discard);
    Reap(collector_);
    RestoreSignals();
    sigaction(SIGCHLD, &signals_.child, nullptr);  // the command may still run, untraced
    return outcome_;
  }
  command_ = started.pid;
  // From here on we must not be ended by a message that nobody reads (2>&1 | head) or by a file at
  // its size limit, since our exit status must be the command's. The command does not inherit these
  // settings.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  group_.Start();
  while (!reaped_) {
    const bool soon = stop_step_ == 1 || stop_step_ == 2 || exited_ || signal_fd_ < 0;
    WaitOnce(soon ? 50 : 1000);
    TakeMessages();
    if (!channel_.is_open()) LookForCollector(WNOHANG);
    TakeSignals();
    StepStop();
    ReapCommand();
  }
  // From here on Ctrl-C ends this process. The collector still finishes the trace by itself.
  RestoreSignals();
  AwaitCollector();
  LookForCollector(0);
  return outcome_;
}

void Supervisor::WaitOnce(int timeout_ms) {
  std::array<pollfd, 2> waiting = {{{signal_fd_, POLLIN, 0}, {channel_.fd(), POLLIN, 0}}};
  poll(waiting.data(), channel_.is_open() ? 2 : 1, timeout_ms);
}

// Returns a pending signal and sets `code` to its si_code; 0 if there is none. Uses sigtimedwait()
// if there was no descriptor left for a signalfd.
int Supervisor::NextSignal(int* code) const {
  if (signal_fd_ < 0) {
    siginfo_t info{};
    const timespec at_once{};
    const int signal = sigtimedwait(&taken_, &info, &at_once);
    *code = info.si_code;
    return signal > 0 ? signal : 0;
  }
  signalfd_siginfo info{};
  if (read(signal_fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  *code = info.ssi_code;
  return static_cast<int>(info.ssi_signo);
}

void Supervisor::TakeSignals() {
  int code = 0;
  while (const int signal = NextSignal(&code)) {
    if (signal != SIGCHLD && !reaped_) PassOn(signal, code > 0);
  }
  OnCommandExit();
}

// Passes a signal on, unless the command has got it already: a program that is interrupted twice
// may end without cleaning up. The kernel sends Ctrl-C to the whole group. It sends a hangup of the
// terminal only to the leader of the session; we are the leader if a terminal or ssh has started
// us.
void Supervisor::PassOn(int signal, bool from_kernel) {
  const bool same_group = getpgid(command_) == getpgrp();
  if (same_group && group_.Got(signal)) return;
  // A signal that the kernel sends to our group is not meant for a command that has left the group.
  if (from_kernel && (!same_group || !group_.IsOn())) return;
  kill(command_, signal);
}

void Supervisor::OnCommandExit() {
  if (exited_) return;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(command_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != command_) {
    return;
  }
  exited_ = true;
  exit_seen_ = MonotonicNow();
  Message message;
  message.type = MessageType::kExited;
  message.values[1] = static_cast<std::uint64_t>(exit_seen_.value);
  message.status =
      info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
  // The collector reads the last counters of the zombie before we reap it.
  if (!channel_.is_open() || finished_) {
    sampled_ = true;
  } else if (!channel_.Send(message)) {
    channel_.Close();  // else the collector waits for ever; now it finishes as if we were killed
    sampled_ = true;
  }
}

void Supervisor::ReapCommand() {
  if (!exited_ || reaped_) return;
  if (!sampled_ && MonotonicNow() - exit_seen_ < kSamplePatience) return;
  outcome_.wait_status = Reap(command_);
  reaped_ = true;
}

void Supervisor::TakeMessages() {
  while (channel_.is_open()) {
    Message message;
    const Channel::Event event = channel_.Receive(&message, 0);
    if (event == Channel::Event::kNothing) return;
    if (event == Channel::Event::kMessage) {
      OnMessage(message);
      continue;
    }
    channel_.Close();
    sampled_ = true;
  }
}

// Looks whether the collector has ended, and how. It usually ends when it closes the channel. If
// the channel has failed instead, the command must be reaped, since the collector waits for that.
void Supervisor::LookForCollector(int options) {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = collector_ > 0 ? waitpid(collector_, &status, options) : 0;
  } while (ended < 0 && errno == EINTR);
  if (ended <= 0) return;
  collector_ = -1;
  const bool clean = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
  if (!finished_ && clean) outcome_.complete = WEXITSTATUS(status) == 0;
  outcome_.collector_died = !finished_ && !clean;
  if (outcome_.collector_died && !options_.quiet && !reaped_) {
    progress_.Clear();
    SayError("penstock-record", "the collector has died; the command goes on");
  }
}

void Supervisor::OnMessage(const Message& message) {
  switch (message.type) {
    case MessageType::kProgress:
      progress_.Show(message);
      break;
    case MessageType::kSampled:
      sampled_ = true;
      break;
    case MessageType::kPlaced:
      outcome_.output = message.text();
      break;
    case MessageType::kNote:
      outcome_.notes.emplace_back(message.text());
      break;
    case MessageType::kStopped:
      progress_.Clear();
      if (options_.stop) stop_step_ = 1;
      break;
    case MessageType::kFinished:
      finished_ = true;
      sampled_ = true;
      progress_.Clear();
      outcome_.complete = message.status == 0;
      outcome_.trouble = message.text();
      outcome_.totals = message;
      if (!exited_ && !options_.stop && !options_.quiet && outcome_.complete) {
        SayError("penstock-record",
                 VisibleText(outcome_.output.string()) + " is complete; the command runs on");
      }
      break;
    default:
      break;
  }
}

void Supervisor::StepStop() {
  if (stop_step_ == 0 || exited_) return;
  const TimeNs now = MonotonicNow();
  if (stop_step_ == 1) {
    kill(command_, SIGINT);
    stop_at_ = now;
    stop_step_ = 2;
  } else if (stop_step_ == 2 && now - stop_at_ >= kInterruptPatience) {
    // A shell or another launcher between us and the training processes may not have passed the
    // signal on.
    Interrupt(SIGINT);
    stop_step_ = 3;
  } else if (stop_step_ == 3 && now - stop_at_ >= kTerminatePatience) {
    Interrupt(SIGTERM);
    kill(command_, SIGTERM);
    stop_step_ = 4;
  }
}

void Supervisor::Interrupt(int signal) {
  const TimeNs now = MonotonicNow();
  for (const wire::ProcessSlot& slot : arena_.header().processes) {
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != wire::kProcessLive) continue;
    if (__atomic_load_n(&slot.role, __ATOMIC_RELAXED) != wire::kRoleConsumer) continue;
    // Makes one Liveness for each process, since a Liveness searches only once a second for a
    // process of another pid namespace.
    Liveness liveness(arena_.header());
    const auto pid = liveness.HostPid({slot.pid, slot.process_start}, now);
    if (pid && static_cast<pid_t>(*pid) != command_) kill(static_cast<pid_t>(*pid), signal);
  }
}

void Supervisor::AwaitCollector() {
  const TimeNs begin = MonotonicNow();
  while (channel_.is_open()) {
    std::array<pollfd, 1> waiting = {{{channel_.fd(), POLLIN, 0}}};
    poll(waiting.data(), 1, 500);
    TakeMessages();
    if (channel_.is_open() && MonotonicNow() - begin > TimeNs{500'000'000}) {
      progress_.Say("penstock: writing the trace");
    }
  }
  progress_.Clear();
}

}  // namespace penstock::record
