// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/liveness.h"

#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace penstock::record {
namespace {

constexpr std::size_t kCachedThreads = 1u << 16;
constexpr TimeNs kForeignScanPause{1'000'000'000};

}  // namespace

Liveness::Liveness(const wire::FileHeader& header, std::string proc)
    : header_(header), proc_(std::move(proc)) {
  struct stat info {};
  if (stat((proc_ + "/self/ns/pid").c_str(), &info) == 0) own_namespace_ = info.st_ino;
}

std::optional<ProcStat> Liveness::StatOf(const std::string& folder) const {
  const auto text = ReadFile(folder + "/stat", 4096);
  if (!text) return std::nullopt;
  return ParseStat(*text);
}

// False also if the folder could not be read, because the kernel is short of memory or descriptors.
// Otherwise a chunk into which a thread still writes might be given to another thread.
bool Liveness::IsGone(const std::string& folder, std::uint32_t pid) const {
  struct stat info {};
  if (stat(folder.c_str(), &info) == 0) return false;
  if (errno == ENOENT || errno == ESRCH) return true;
  return proc_ == "/proc" && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

bool Liveness::IsForeign(ProcessKey process) {
  if (const auto known = is_foreign_.find(process); known != is_foreign_.end())
    return known->second;
  for (const wire::ProcessSlot& slot : header_.processes) {
    const std::uint32_t state = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
    if (state == wire::kProcessFree || state == wire::kProcessClaimed) continue;
    if (slot.pid != process.pid || slot.process_start != process.start) continue;
    const std::uint64_t theirs = slot.pid_namespace;
    return is_foreign_[process] = own_namespace_ != 0 && theirs != 0 && theirs != own_namespace_;
  }
  return false;
}

std::optional<std::uint32_t> Liveness::FindForeign(ProcessKey process, TimeNs now) {
  if (!foreign_.contains(process)) {
    if (now - foreign_scan_ < kForeignScanPause) return std::nullopt;  // ask again later
    foreign_scan_ = now;
    const auto found = ScanForeign(process);
    if (!found) return std::nullopt;
    foreign_[process] = *found;
  }
  const std::uint32_t pid = foreign_[process];
  return pid != 0 ? std::optional(pid) : std::nullopt;
}

std::optional<std::uint32_t> Liveness::ScanForeign(ProcessKey process) const {
  bool all_seen = true;
  std::error_code error;
  for (std::filesystem::directory_iterator it(proc_, error), end; !error && it != end;
       it.increment(error)) {
    const std::string folder = it->path().string();
    const auto pid = ParseNumber(it->path().filename().string());
    if (!pid) continue;
    const auto stat = StatOf(folder);
    const auto status = stat && stat->start == process.start ? ReadFile(folder + "/status")
                                                             : std::optional<std::string>("");
    if (!stat || !status) {
      all_seen = all_seen && IsGone(folder, static_cast<std::uint32_t>(*pid));
      continue;
    }
    if (InnerPid(*status) == process.pid) return static_cast<std::uint32_t>(*pid);
  }
  return all_seen && !error ? std::optional(0U) : std::nullopt;
}

std::optional<std::uint32_t> Liveness::HostPid(ProcessKey process, TimeNs now) {
  const auto pid = IsForeign(process) ? FindForeign(process, now) : std::optional(process.pid);
  const auto stat = pid ? StatOf(fmt::format("{}/{}", proc_, *pid)) : std::nullopt;
  if (!stat || (process.start != 0 && stat->start != process.start)) return std::nullopt;
  return pid;
}

bool Liveness::ProcessRuns(ProcessKey process, TimeNs now) {
  const auto pid = IsForeign(process) ? FindForeign(process, now) : std::optional(process.pid);
  // A process of another namespace counts as running until it was searched for.
  if (!pid) return !foreign_.contains(process);
  const std::string folder = fmt::format("{}/{}", proc_, *pid);
  const auto stat = StatOf(folder);
  if (!stat) return !IsGone(folder, *pid);
  if (process.start != 0 && stat->start != process.start) return false;
  // If the first thread has ended before the others, the process is no zombie yet.
  return !stat->gone() || stat->threads > 1;
}

bool Liveness::ThreadIsDead(ProcessKey process, std::uint32_t tid, TimeNs now) {
  Answer& answer = threads_[{process, tid}];
  // Even the answer "dead" is kept only for a moment, since a later thread of the process may get
  // this tid.
  if (answer.asked.value != 0 && now - answer.asked < patience_) return answer.dead;
  answer.asked = now;
  if (tid == 0 || IsForeign(process)) {
    answer.dead = !ProcessRuns(process, now);
  } else {
    const std::string folder = fmt::format("{}/{}", proc_, process.pid);
    const auto whole = StatOf(folder);
    if (!whole) {
      answer.dead = IsGone(folder, process.pid);
    } else if (process.start != 0 && whole->start != process.start) {
      answer.dead = true;
    } else {
      const std::string of_thread = fmt::format("{}/task/{}", folder, tid);
      const auto thread = StatOf(of_thread);
      answer.dead = thread ? thread->gone() : IsGone(of_thread, tid);
    }
  }
  const bool dead = answer.dead;
  if (threads_.size() > kCachedThreads) Prune(now);
  return dead;
}

void Liveness::Forget(ProcessKey process) {
  is_foreign_.erase(process);
  foreign_.erase(process);
  const auto first = threads_.lower_bound({process, 0});
  auto last = first;
  while (last != threads_.end() && last->first.first == process) ++last;
  threads_.erase(first, last);
}

void Liveness::Prune(TimeNs now) {
  for (auto it = threads_.begin(); it != threads_.end();) {
    it = it->second.dead || now - it->second.asked > patience_ ? threads_.erase(it) : ++it;
  }
}

}  // namespace penstock::record
