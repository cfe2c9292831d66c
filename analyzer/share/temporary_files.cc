// SPDX-License-Identifier: Apache-2.0
#include "analyzer/share/temporary_files.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "traces/base/file.h"

namespace penstock::analyzer {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

std::atomic<const char* const*> g_names{nullptr};  // what the handler removes

// The process id in a name: 4711 for "b.zip.4711.trace" or "b.zip.4711.trace.tmp"; 0 for a name of
// another form.
pid_t OwnerOf(std::string_view name, std::string_view begins) {
  if (!name.starts_with(begins)) return 0;
  name.remove_prefix(begins.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
  const bool ours = error == std::errc{} && pid > 0 && (rest == ".trace" || rest == ".trace.tmp");
  return ours ? pid : 0;
}

bool IsAlive(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

}  // namespace

// Calls only functions that a signal handler may call. Source: signal-safety(7).
void TemporaryFiles::RemoveAndDie(int signal) {
  if (const char* const* name = g_names.exchange(nullptr)) {
    for (; *name != nullptr; ++name) ::unlink(*name);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // takes effect when this handler returns
}

TemporaryFiles::TemporaryFiles(std::vector<std::filesystem::path> paths) {
  for (const std::filesystem::path& path : paths) paths_.push_back(path.string());
  for (const std::string& path : paths_) names_.push_back(path.c_str());
  names_.push_back(nullptr);
  g_names = names_.data();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction remove {};
    remove.sa_handler = &RemoveAndDie;
    sigfillset(&remove.sa_mask);
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &remove, nullptr);
  }
}

TemporaryFiles::~TemporaryFiles() {
  // The files are removed before the handler is. A signal between the two would otherwise end the
  // process and leave the files.
  std::error_code ignored;
  for (const std::string& path : paths_) std::filesystem::remove(path, ignored);
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  g_names = nullptr;
}

std::filesystem::path TemporaryTrace(const std::filesystem::path& output) {
  return fmt::format("{}.{}.trace", output.string(), ::getpid());
}

void RemoveAbandonedTraces(const std::filesystem::path& output) {
  const std::string begins = output.filename().string() + ".";
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const pid_t owner = OwnerOf(at->path().filename().string(), begins);
    if (owner == 0 || (owner != ::getpid() && IsAlive(owner))) continue;
    std::error_code stays;
    if (FileLock::Take(at->path())) std::filesystem::remove(at->path(), stays);
  }
}

}  // namespace penstock::analyzer
