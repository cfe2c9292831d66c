// SPDX-License-Identifier: Apache-2.0
#include "traces/live_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <system_error>

#include "traces/base/small_file.h"
#include "traces/recording/join_segment.h"
#include "traces/wire.h"

namespace penstock::traces {
namespace {

constexpr std::time_t kFresh = 20;  // seconds; a collector writes at least every 5

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// See OutputFile: a writer holds a lock as long as it lives.
bool IsLocked(const std::filesystem::path& path) {
  const Descriptor file(path);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return false;
  // On a file system without locks, its age decides.
  return errno == EWOULDBLOCK || std::time(nullptr) - info.st_mtime < kFresh;
}

// When a process began, in clock ticks since boot; 0: there is no such process.
std::uint64_t StartOf(std::uint32_t pid) {
  const auto text = ReadFile(fmt::format("/proc/{}/stat", pid), 4096);
  const std::size_t name = text ? text->rfind(')') : std::string::npos;
  if (name == std::string::npos || name + 2 >= text->size()) return 0;
  const char state = (*text)[name + 2];
  if (state == 'Z' || state == 'X' || state == 'x') return 0;
  constexpr int kFields = 20;  // from the state to starttime, see proc(5)
  std::size_t at = name + 1;
  for (int field = 0; field < kFields; ++field) {
    at = text->find(' ', at);
    if (at == std::string::npos) return 0;
    ++at;
  }
  std::uint64_t start = 0;
  std::from_chars(text->data() + at, text->data() + text->size(), start);
  return start;
}

// Whether a process that writes this recording without a collector is alive.
bool IsRecorded(const std::filesystem::path& path) {
  const Descriptor file(path);
  const auto header = std::make_unique<wire::FileHeader>();
  if (file.get() < 0 || ::pread(file.get(), header.get(), sizeof *header, 0) !=
                            static_cast<ssize_t>(sizeof *header)) {
    return false;
  }
  if (std::memcmp(header->magic, wire::kMagic, sizeof wire::kMagic) != 0 ||
      header->major != wire::kMajor || header->mode != wire::kLinear) {
    return false;
  }
  if (header->segment != 0) return SegmentOf(*header) == SegmentState::kInUse;
  const auto boot = ReadFile("/proc/sys/kernel/random/boot_id", 64);
  const std::string theirs(header->boot_id, strnlen(header->boot_id, sizeof header->boot_id));
  if (boot && !theirs.empty() && boot->compare(0, theirs.size(), theirs) != 0) return false;
  for (const wire::ProcessSlot& slot : header->processes) {
    if (slot.state == wire::kProcessLive && slot.pid != 0 &&
        StartOf(slot.pid) == slot.process_start) {
      return true;
    }
  }
  return false;
}

}  // namespace

LiveFile LookAt(const std::filesystem::path& path) {
  std::filesystem::path whole = path;
  if (path.extension() == ".part") whole.replace_extension();
  std::filesystem::path part = whole;
  part += ".part";
  if (IsLocked(part)) return {part, LiveState::kWriting};
  std::error_code ignored;
  // The order matters: between two looks the file may be finished and lose the name .part.
  const bool asked_for = whole == path || !std::filesystem::exists(part, ignored);
  if (asked_for && std::filesystem::exists(whole, ignored)) {
    return {whole, IsRecorded(whole) ? LiveState::kWriting : LiveState::kComplete};
  }
  if (std::filesystem::exists(part, ignored)) return {part, LiveState::kDied};
  return {path, LiveState::kComplete};
}

}  // namespace penstock::traces
