// SPDX-License-Identifier: Apache-2.0
#include "analyzer/main/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/core.h>

extern char** environ;

namespace penstock::analyzer {
namespace {

constexpr std::array<int, 3> kCounted = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t g_interrupts = 0;
volatile std::sig_atomic_t g_interrupt = 0;  // the last signal

// Ignores signals until it is destroyed.
class IgnoreSignals {
 public:
  explicit IgnoreSignals(std::vector<int> signals)
      : signals_(std::move(signals)), before_(signals_.size()) {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &ignore, &before_[i]);
  }
  ~IgnoreSignals() {
    for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &before_[i], nullptr);
  }
  IgnoreSignals(const IgnoreSignals&) = delete;
  IgnoreSignals& operator=(const IgnoreSignals&) = delete;

  // Adds the signals that were not ignored before. A child must have them in their default state.
  void AddChanged(sigset_t& set) const {
    for (std::size_t i = 0; i < signals_.size(); ++i) {
      if (before_[i].sa_handler != SIG_IGN) sigaddset(&set, signals_[i]);
    }
  }

 private:
  std::vector<int> signals_;
  std::vector<struct sigaction> before_;
};

// Starts `words` with `out` and `error` as its streams. -1: the child keeps this process's stream.
Result<pid_t> Spawn(const std::vector<std::string>& words, const sigset_t& defaults, int out,
                    int error) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (error >= 0) posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) return pid;
  return Fail(ErrorKind::kEnvironment,
              fmt::format("{}: cannot be run: {}", words.front(), std::strerror(failed)));
}

int StatusOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

auto CannotWait(const std::string& name) {
  return Fail(ErrorKind::kEnvironment,
              fmt::format("{}: cannot be waited for: {}", name, std::strerror(errno)));
}

Result<int> WaitFor(pid_t pid, const std::string& name) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return CannotWait(name);
  }
  return StatusOf(status);
}

// A stream of the program, which is passed on to a stream of this process.
struct Stream {
  int read_end = -1;
  int write_end = -1;
  int to = -1;
  std::string line;

  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (read_end >= 0) close(read_end);
    CloseWriteEnd();
  }
  bool Open(int target) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    to = target;
    return true;
  }
  void CloseWriteEnd() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
  [[nodiscard]] bool open() const { return read_end >= 0; }

  // Reads once and passes the bytes on. Requires: there is something to read, or the end was
  // reached.
  void Take(const std::function<void(std::string_view)>& on_line) {
    char part[8192];
    const ssize_t got = read(read_end, part, sizeof part);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
      close(read_end);
      read_end = -1;
      return;
    }
    const std::string_view text(part, static_cast<std::size_t>(got));
    for (std::size_t written = 0; written < text.size();) {
      const ssize_t count = write(to, part + written, text.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;  // most likely no reader is left; the program goes on all the same
      written += static_cast<std::size_t>(count);
    }
    constexpr std::size_t kLongest = 1u << 16;
    for (const char c : text) {
      if (c == '\n' || c == '\r') {
        on_line(line);
        line.clear();
      } else if (line.size() < kLongest) {
        line += c;
      }
    }
  }
  void Finish(const std::function<void(std::string_view)>& on_line) {
    if (!line.empty()) on_line(line);
    line.clear();
  }
};

// Takes what comes within `timeout` milliseconds. Returns false if nothing came.
bool TakeOnce(std::array<Stream, 2>& streams, int timeout,
              const std::function<void(std::string_view)>& on_line) {
  std::array<pollfd, 2> waits{};
  for (std::size_t i = 0; i < streams.size(); ++i) waits[i] = {streams[i].read_end, POLLIN, 0};
  if (poll(waits.data(), waits.size(), timeout) <= 0) return false;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].open() && waits[i].revents != 0) streams[i].Take(on_line);
  }
  return true;
}

}  // namespace

CountInterrupts::CountInterrupts() : at_first_(g_interrupts) {
  struct sigaction count = {};
  count.sa_handler = [](int signal) {
    g_interrupts = g_interrupts + 1;
    g_interrupt = signal;
  };
  count.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kCounted.size(); ++i) {
    sigaction(kCounted[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kCounted[i], &count, nullptr);
  }
}

CountInterrupts::~CountInterrupts() {
  for (std::size_t i = 0; i < kCounted.size(); ++i) sigaction(kCounted[i], &before_[i], nullptr);
}

bool CountInterrupts::any() const {
  return g_interrupts != at_first_;
}

int CountInterrupts::status() {
  return 128 + g_interrupt;
}

sigset_t CountInterrupts::Changed() const {
  sigset_t set;
  sigemptyset(&set);
  for (std::size_t i = 0; i < kCounted.size(); ++i) {
    if (before_[i].sa_handler != SIG_IGN) sigaddset(&set, kCounted[i]);
  }
  return set;
}

Result<int> RunAndWait(const std::vector<std::string>& words) {
  // A terminal sends these signals to all of its foreground processes; system() ignores them too.
  const IgnoreSignals ignored({SIGINT, SIGQUIT});
  sigset_t defaults;
  sigemptyset(&defaults);
  ignored.AddChanged(defaults);
  const auto pid = Spawn(words, defaults, -1, -1);
  PENSTOCK_TRY(pid);
  return WaitFor(*pid, words.front());
}

Result<Watched> RunAndWatch(const std::vector<std::string>& words, bool to_error,
                            const std::function<void(std::string_view)>& on_line) {
  std::array<Stream, 2> streams;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (!streams[i].Open(to_error || i == 1 ? STDERR_FILENO : STDOUT_FILENO)) {
      return Fail(ErrorKind::kEnvironment,
                  fmt::format("{}: no pipe: {}", words.front(), std::strerror(errno)));
    }
  }
  const CountInterrupts counted;
  const IgnoreSignals ignored({SIGPIPE});  // the program goes on if no reader of its output is left
  sigset_t defaults = counted.Changed();
  ignored.AddChanged(defaults);
  const auto pid = Spawn(words, defaults, streams[0].write_end, streams[1].write_end);
  PENSTOCK_TRY(pid);
  for (Stream& stream : streams) stream.CloseWriteEnd();
  constexpr std::chrono::seconds kPatience{2};
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> interrupted;
  bool passed_on = false;
  std::optional<int> ended;
  while (!ended || streams[0].open() || streams[1].open()) {
    const bool open = streams[0].open() || streams[1].open();
    // A program that has closed both streams usually ends at once.
    const bool any = TakeOnce(streams, ended ? 0 : open ? 100 : 10, on_line);
    if (ended && !any) break;  // the pipe may stay open in a process that the program left behind
    if (counted.any() && !interrupted) interrupted = Clock::now();
    if (interrupted && !ended && !passed_on && Clock::now() - *interrupted >= kPatience) {
      passed_on = true;
      kill(*pid, SIGINT);
    }
    if (ended) continue;
    int status = 0;
    const pid_t done = waitpid(*pid, &status, WNOHANG);
    if (done == *pid) ended = StatusOf(status);
    if (done < 0 && errno != EINTR) return CannotWait(words.front());
  }
  for (Stream& stream : streams) stream.Finish(on_line);
  return Watched{*ended, counted.any()};
}

}  // namespace penstock::analyzer
