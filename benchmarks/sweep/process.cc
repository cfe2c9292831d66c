// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace penstock::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOut = std::size_t{4} << 20;
constexpr std::size_t kMostErr = std::size_t{64} << 10;
constexpr auto kGrace = std::chrono::seconds(10);
constexpr int kTickMs = 20;

// Collects one output of the program.
class Pipe {
 public:
  explicit Pipe(std::size_t most) : most_(most) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    CloseWriter();
    CloseReader();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  [[nodiscard]] bool open() const { return ends_[0] >= 0; }
  void CloseWriter() { Close(ends_[1]); }

  // Reads the available bytes without waiting.
  void Take() {
    std::array<char, 65536> buffer;
    while (open()) {
      pollfd ready{reader(), POLLIN, 0};
      if (::poll(&ready, 1, 0) <= 0) return;
      const ssize_t count = ::read(reader(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        CloseReader();
        return;
      }
      text_.append(buffer.data(), static_cast<std::size_t>(count));
      if (text_.size() > 2 * most_) text_.erase(0, text_.size() - most_);
    }
  }

  std::string Text() {
    if (text_.size() > most_) text_.erase(0, text_.size() - most_);
    return std::move(text_);
  }

 private:
  static void Close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  void CloseReader() { Close(ends_[0]); }

  std::array<int, 2> ends_{-1, -1};
  std::size_t most_;
  std::string text_;
};

// Errors: kEnvironment.
Result<pid_t> Start(const std::vector<std::string>& argv, const sigset_t& mask, const Pipe& out,
                    const Pipe& err) {
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.writer(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.writer(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: cannot be run: {}", argv.front(), std::strerror(error)));
  }
  return pid;
}

}  // namespace

Result<Finished> RunProcess(const std::vector<std::string>& argv, const ProcessLimits& limits,
                            const std::stop_token& stop) {
  Pipe out(kMostOut);
  Pipe err(kMostErr);
  if (!out.open() || !err.open()) {
    return Fail(ErrorKind::kEnvironment, fmt::format("no pipe: {}", std::strerror(errno)));
  }
  const auto started = Clock::now();
  const Result<pid_t> pid = Start(argv, limits.signal_mask, out, err);
  PENSTOCK_TRY(pid);
  out.CloseWriter();
  err.CloseWriter();
  Finished finished;
  Clock::time_point kill_at = Clock::time_point::max();
  // Does not wait for the end of the pipes: processes that outlive the program may hold them.
  while (::waitpid(*pid, &finished.status, WNOHANG) == 0) {
    std::array<pollfd, 2> ready{{{out.reader(), POLLIN, 0}, {err.reader(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), kTickMs);  // a closed pipe is -1, which poll() skips
    out.Take();
    err.Take();
    const auto now = Clock::now();
    const double elapsed = std::chrono::duration<double>(now - started).count();
    const bool late = limits.timeout_s > 0 && elapsed > limits.timeout_s;
    if ((late || stop.stop_requested()) && kill_at == Clock::time_point::max()) {
      finished.timed_out = late;
      kill_at = now + kGrace;
      ::kill(-*pid, SIGINT);
    } else if (now > kill_at) {
      ::kill(-*pid, SIGKILL);
    }
  }
  finished.wall_s = std::chrono::duration<double>(Clock::now() - started).count();
  out.Take();
  err.Take();
  finished.out = out.Text();
  finished.err = err.Text();
  return finished;
}

std::string EndOf(const Finished& finished) {
  if (finished.timed_out) return "time was up";
  if (WIFSIGNALED(finished.status)) {
    return fmt::format("killed by signal {}", WTERMSIG(finished.status));
  }
  const int status = WEXITSTATUS(finished.status);
  return status == 0 ? std::string() : fmt::format("status {}", status);
}

std::string LastLine(const std::string& text) {
  std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of("\r\n", end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace penstock::sweep
