// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/stager.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "agent/core/staging.h"
#include "agent/record/sample/spare_memory.h"

namespace penstock::record {
namespace {

constexpr std::string_view kFolderName = "penstock-stage-";
constexpr std::size_t kCopyPart = 1u << 20;
constexpr std::size_t kMostQueued = 1u << 16;
constexpr std::size_t kLongestFolder = 250;  // the longest that fits into the agent's buffer
constexpr double kKeepFree = 0.05;           // share of the file system
constexpr std::int64_t kSettled = 2;         // seconds: see IsSettled()

// False if the file was written a moment ago. Time stamps advance in steps of some milliseconds
// (seconds on some network file systems). So such a file may be written again without a change of
// its time stamp.
bool IsSettled(const struct stat& st) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec - std::max(st.st_mtim.tv_sec, st.st_ctim.tv_sec) > kSettled;
}

// Whether this is a database. Programs lock parts of a database against each other, and a lock on a
// copy would lock nothing.
bool LocksItself(const std::string& path) {
  constexpr std::array<std::string_view, 11> kNames = {".db",   ".db3",  ".sqlite", ".sqlite3",
                                                       ".mdb",  ".lmdb", ".h5",     ".hdf5",
                                                       ".lock", ".wal",  ".duckdb"};
  const std::string end = std::filesystem::path(path).extension().string();
  return std::find(kNames.begin(), kNames.end(), end) != kNames.end();
}

std::string Name(const struct stat& st) {
  char name[128];
  return {name, agent::CopyName(st, name, sizeof name)};
}

class File {
 public:
  File(const std::string& path, int flags, int mode = 0)
      : fd_(open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

bool WriteAll(int fd, const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t count = write(fd, from, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

Result<std::string> MakeStage(const std::string& place) {
  std::string folder = fmt::format("{}/{}XXXXXX", place, kFolderName);
  if (folder.size() > kLongestFolder) {
    return Fail(ErrorKind::kUsage, fmt::format("--stage: {}: the name is too long", place));
  }
  if (mkdtemp(folder.data()) == nullptr) {
    return Fail(ErrorKind::kUsage, fmt::format("--stage: {}: {}", place, std::strerror(errno)));
  }
  return folder;
}

void RemoveStage(const std::string& folder) {
  std::error_code ignored;
  // Another folder may be the one that the user named, with the user's files in it.
  const bool ours = std::filesystem::path(folder).filename().string().rfind(kFolderName, 0) == 0;
  if (ours) std::filesystem::remove_all(folder, ignored);
}

Stager::Stager(std::string folder) : folder_(std::move(folder)) {
  struct statfs fs {};
  memory_ =
      statfs(folder_.c_str(), &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
  if (memory_) room_ = MemoryToSpare();
  struct stat st {};
  if (stat(folder_.c_str(), &st) == 0) device_ = st.st_dev;
  thread_ = std::thread([this] { Work(); });
}

Stager::~Stager() {
  Stop();
}

void Stager::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Stager::Stopped() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stop_;
}

bool Stager::Offer(const std::string& path) {
  if (gave_up_.load(std::memory_order_relaxed)) return true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return true;
    if (queue_.size() >= kMostQueued) return false;
    queue_.push_back(path);
  }
  wake_.notify_one();
  return true;
}

std::string Stager::OriginalOf(std::string_view path) {
  if (path.substr(0, folder_.size()) != folder_) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = originals_.find(std::string(path));
  return found != originals_.end() ? found->second : std::string();
}

void Stager::Work() {
  for (;;) {
    std::string path;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      path = std::move(queue_.front());
      queue_.pop_front();
    }
    if (!gave_up_.load(std::memory_order_relaxed)) Copy(path);
  }
}

void Stager::GiveUp(const std::string& why) {
  outcome_.trouble = why;
  gave_up_.store(true, std::memory_order_relaxed);
}

bool Stager::HasRoom(std::uint64_t size) {
  struct statvfs fs {};
  if (statvfs(folder_.c_str(), &fs) != 0) {
    GiveUp(std::strerror(errno));
    return false;
  }
  const double block = static_cast<double>(fs.f_frsize);
  const double free = static_cast<double>(fs.f_bavail) * block;
  const double keep = kKeepFree * static_cast<double>(fs.f_blocks) * block;
  const bool spare =
      !memory_ || (outcome_.bytes.value + size <= room_.value && MemoryToSpare().value > size);
  if (spare && free - keep > static_cast<double>(size)) {
    return true;
  }
  GiveUp(fmt::format("no room for more than {} files", outcome_.files));
  return false;
}

void Stager::Copy(const std::string& path) {
  if (LocksItself(path)) return;
  const File from(path, O_RDONLY | O_NONBLOCK);
  struct stat before {};
  if (from.fd() < 0 || fstat(from.fd(), &before) != 0 || !S_ISREG(before.st_mode) ||
      before.st_size <= 0 || before.st_dev == device_ || !IsSettled(before)) {
    return;
  }
  const std::string name = Name(before);
  const std::string copy = folder_ + "/" + name;
  struct stat there {};
  if (name.empty() || lstat(copy.c_str(), &there) == 0) return;  // copied under another path
  const auto size = static_cast<std::uint64_t>(before.st_size);
  if (!HasRoom(size)) return;
  const std::string part = folder_ + "/part";
  const File to(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (to.fd() < 0) {
    GiveUp(std::strerror(errno));
    return;
  }
  part_.resize(kCopyPart);
  std::uint64_t copied = 0;
  ssize_t got = 0;
  bool written = true;
  // A copy may take minutes, and at the end of a run nobody needs it any more.
  while (written && copied <= size && !Stopped() &&
         (got = read(from.fd(), part_.data(), part_.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    written = WriteAll(to.fd(), part_.data(), static_cast<std::size_t>(got));
    copied += static_cast<std::uint64_t>(got);
  }
  if (!written) GiveUp(std::strerror(errno));
  struct stat after {};
  // Access time 0 marks a copy that nobody has read. outcome() counts the copies that were read.
  const timespec times[2] = {{0, 0}, before.st_mtim};
  const bool whole = written && got == 0 && copied == size && fstat(from.fd(), &after) == 0 &&
                     Name(after) == name && futimens(to.fd(), times) == 0 &&
                     fchmod(to.fd(), (before.st_mode & 0777) | 0400) == 0;
  if (whole) {  // noted before a process can open the copy
    const std::lock_guard<std::mutex> lock(mutex_);
    originals_.emplace(copy, path);
  }
  if (!whole || rename(part.c_str(), copy.c_str()) != 0) {
    unlink(part.c_str());
    return;
  }
  copies_.push_back(copy);
  ++outcome_.files;
  outcome_.bytes.value += size;
}

Stager::Outcome Stager::outcome() const {
  Outcome outcome = outcome_;
  struct statvfs fs {};
  outcome.use_known = statvfs(folder_.c_str(), &fs) == 0 && (fs.f_flag & ST_NOATIME) == 0;
  for (const std::string& copy : copies_) {
    struct stat st {};
    if (lstat(copy.c_str(), &st) == 0 && st.st_atim.tv_sec != 0) ++outcome.used;
  }
  return outcome;
}

StringId StagingPacker::Named(StringId id, std::string_view text) {
  if (text.empty() || text.front() != '/') return id;
  const bool offered = awaited_.erase(id.value) > 0 && stager_.Offer(std::string(text));
  if (!offered) names_.try_emplace(id.value, text);
  return id;
}

void StagingPacker::AddSpan(ThreadId thread, const traces::Span& span) {
  if (span.stage == traces::StageId::kRead && span.object.value != 0) {
    if (const auto name = names_.find(span.object.value); name != names_.end()) {
      if (!name->second.empty() && stager_.Offer(name->second)) std::string().swap(name->second);
    } else {
      awaited_.insert(span.object.value);
    }
  }
  inner().AddSpan(thread, span);
}

}  // namespace penstock::record
