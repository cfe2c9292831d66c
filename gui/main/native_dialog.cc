// SPDX-License-Identifier: Apache-2.0
#include "gui/main/native_dialog.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string_view>
#include <utility>

extern "C" char** environ;

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;

// In the order of preference. The first three take the same arguments.
constexpr std::array<std::string_view, 4> kPrograms = {"zenity", "qarma", "matedialog", "kdialog"};
constexpr const char* kPatterns =
    "*.penstock *.recording *.part *.json *.json.gz *.sqlite *.pftrace *.perfetto-trace *.pfw "
    "*.pfw.gz";

fs::path Find(const std::string& search_path) {
  for (const std::string_view name : kPrograms) {
    std::istringstream folders(search_path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (folder.empty() || folder.front() != '/') continue;
      const fs::path program = fs::path(folder) / name;
      if (::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return {};
}

// Starts the program in its own process group, with its standard output going to `write`. Returns
// -1 if it does not start.
pid_t Spawn(const std::vector<std::string>& words, int write) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, words.front().c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text.size() > 64 * 1024) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

NativeDialog::NativeDialog(const std::string& search_path, std::function<void()> wake)
    : program_(Find(search_path)), wake_(std::move(wake)) {}

NativeDialog::~NativeDialog() {
  {
    const std::lock_guard lock(mutex_);
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
  }
  if (thread_.joinable()) thread_.join();
}

std::vector<std::string> NativeDialog::Words(const fs::path& program, DialogPurpose purpose,
                                             const std::string& title, const fs::path& at) {
  std::vector<std::string> words = {program.string()};
  const bool save = purpose == DialogPurpose::kSave;
  // The folder to begin in ends with a slash; otherwise its last part would be taken for a file.
  std::string start = at.string();
  if (!save && !start.empty() && start.back() != '/') start += '/';
  if (program.filename() == "kdialog") {
    words.insert(words.end(), {"--title", title, save ? "--getsavefilename" : "--getopenfilename",
                               start.empty() ? "." : start});
    if (!save) words.push_back(std::string(kPatterns) + "|Penstock\n*|*");
    return words;
  }
  words.insert(words.end(), {"--file-selection", "--title=" + title});
  if (!start.empty()) words.push_back("--filename=" + start);
  if (save) {
    words.insert(words.end(), {"--save", "--confirm-overwrite"});
  } else {
    words.insert(words.end(),
                 {std::string("--file-filter=Penstock | ") + kPatterns, "--file-filter=* | *"});
  }
  return words;
}

void NativeDialog::Start(DialogPurpose purpose, const std::string& title, const fs::path& at) {
  outcome_ = DialogOutcome{};
  done_.store(false, std::memory_order_relaxed);
  std::array<int, 2> ends{-1, -1};
  pid_t pid = -1;
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    pid = Spawn(Words(program_, purpose, title, at), ends[1]);
    ::close(ends[1]);
  }
  {
    const std::lock_guard lock(mutex_);
    pid_ = pid;
  }
  thread_ = std::thread([this, fd = ends[0]] { Wait(fd); });
}

void NativeDialog::Wait(int output) {
  pid_t pid = -1;
  {
    const std::lock_guard lock(mutex_);
    pid = pid_;
  }
  std::string text;
  int status = -1;
  if (pid > 0) {
    text = ReadAll(output);
    // WNOWAIT leaves the process unreaped, so that its id stays its own until the lock is held.
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    const std::lock_guard lock(mutex_);
    ::waitpid(pid, &status, 0);
    pid_ = -1;
  }
  if (output >= 0) ::close(output);
  if (const std::size_t end = text.find('\n'); end != std::string::npos) text.resize(end);
  const int code = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 0 && !text.empty()) {
    outcome_ = {DialogOutcome::Kind::kChosen, text};
  } else if (code == 0 || code == 1) {
    outcome_.kind = DialogOutcome::Kind::kCancelled;
  }
  done_.store(true, std::memory_order_release);
  wake_();
}

std::optional<DialogOutcome> NativeDialog::Take() {
  if (!thread_.joinable() || !done_.load(std::memory_order_acquire)) return std::nullopt;
  thread_.join();
  thread_ = std::thread();
  if (outcome_.kind == DialogOutcome::Kind::kFailed)
    program_.clear();  // it would fail next time too
  return std::move(outcome_);
}

}  // namespace penstock::gui
