// SPDX-License-Identifier: Apache-2.0
#include "agent/record/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "agent/record/clock.h"
#include "agent/record/liveness.h"

namespace penstock::record {
namespace {

constexpr TimeNs kSamplePatience{500'000'000};
constexpr TimeNs kInterruptPatience{2'000'000'000};   // then the traced consumers as well
constexpr TimeNs kTerminatePatience{10'000'000'000};  // then SIGTERM
constexpr std::array kForwarded = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

}  // namespace

Supervisor::Supervisor(const Options& options, Channel channel, pid_t collector, const Arena& arena,
                       bool show_progress)
    : options_(options),
      channel_(std::move(channel)),
      collector_(collector),
      arena_(arena),
      progress_(show_progress) {}

Supervisor::~Supervisor() {
  if (signal_fd_ >= 0) close(signal_fd_);
}

void Supervisor::BlockSignals() {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  for (const int signal : kForwarded) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    // Under nohup a hangup is ignored, by the command as well.
    if (action.sa_handler != SIG_IGN) sigaddset(&taken, signal);
  }
  // SIGCHLD may have been inherited as ignored: children would then be reaped unseen.
  std::signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &taken, &signals_.mask);
  signal_fd_ = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &signals_.interrupt);
  sigaction(SIGQUIT, &ignore, &signals_.quit);
}

void Supervisor::RestoreSignals() {
  sigaction(SIGINT, &signals_.interrupt, nullptr);
  sigaction(SIGQUIT, &signals_.quit, nullptr);
  sigprocmask(SIG_SETMASK, &signals_.mask, nullptr);
}

Outcome Supervisor::Run(const std::vector<std::string>& environment) {
  BlockSignals();
  const Started started = Start(options_.command, environment, signals_, channel_);
  if (started.error != 0) {
    outcome_.start_error = started.error;
    Message discard;
    discard.type = MessageType::kDiscard;
    channel_.Send(discard);
    waitpid(collector_, nullptr, 0);
    RestoreSignals();
    return outcome_;
  }
  command_ = started.pid;
  while (!reaped_) {
    WaitOnce(stop_step_ == 1 || stop_step_ == 2 || exited_ ? 50 : 1000);
    TakeMessages();
    TakeSignals();
    StepStop();
    ReapCommand();
  }
  // From here on Ctrl-C ends the wait, not the trace: the collector finishes by itself.
  RestoreSignals();
  AwaitCollector();
  return outcome_;
}

void Supervisor::WaitOnce(int timeout_ms) {
  std::array<pollfd, 2> waiting = {{{signal_fd_, POLLIN, 0}, {channel_.fd(), POLLIN, 0}}};
  poll(waiting.data(), channel_.is_open() ? 2 : 1, timeout_ms);
}

void Supervisor::TakeSignals() {
  signalfd_siginfo info{};
  while (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    // What the kernel sent (a hangup of the terminal) went to the whole group already.
    if (signal != SIGCHLD && info.ssi_code <= 0 && !reaped_) kill(command_, signal);
  }
  OnCommandExit();
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
  message.status =
      info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
  // The collector reads the zombie's last counters before it is reaped.
  if (!channel_.is_open() || finished_ || !channel_.Send(message)) sampled_ = true;
}

void Supervisor::ReapCommand() {
  if (!exited_ || reaped_) return;
  if (!sampled_ && MonotonicNow() - exit_seen_ < kSamplePatience) return;
  waitpid(command_, &outcome_.wait_status, 0);
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
    int status = 0;
    waitpid(collector_, &status, 0);
    collector_ = -1;
    const bool clean = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
    if (!finished_ && clean) outcome_.complete = WEXITSTATUS(status) == 0;
    outcome_.collector_died = !finished_ && !clean;
    if (outcome_.collector_died && !options_.quiet) {
      progress_.Clear();
      fmt::print(stderr, "penstock-record: the collector has died; the command goes on\n");
    }
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
        fmt::print(stderr, "penstock-record: {} is complete; the command runs on\n",
                   options_.output.string());
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
    // A shell or launcher in between does not pass it on as a terminal's group would get it.
    Interrupt(SIGINT);
    stop_step_ = 3;
  } else if (stop_step_ == 3 && now - stop_at_ >= kTerminatePatience) {
    Interrupt(SIGTERM);
    kill(command_, SIGTERM);
    stop_step_ = 4;
  }
}

void Supervisor::Interrupt(int signal) {
  Liveness liveness(arena_.header());
  const TimeNs now = MonotonicNow();
  for (const wire::ProcessSlot& slot : arena_.header().processes) {
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != wire::kProcessLive) continue;
    if (__atomic_load_n(&slot.role, __ATOMIC_RELAXED) != wire::kRoleConsumer) continue;
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
