// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/arena.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/core/segment.h"
#include "agent/record/sample/proc_fs.h"

namespace penstock::record {
namespace {

using agent::kSegmentPrefix;

constexpr std::uint64_t kSmallest = wire::kHeaderSize + 8ull * wire::kChunkSize;
// If /dev/shm has less room than this, the ring does not use it: DataLoader passes batches through
// it.
constexpr std::uint64_t kEnoughShm = 1ull << 30;

std::size_t SizeOf(Bytes buffer) {
  return wire::kHeaderSize + std::size_t{ChunksIn(buffer)} * wire::kChunkSize;
}

bool Allocate(int fd, std::size_t size) {
  return posix_fallocate(fd, 0, static_cast<off_t>(size)) == 0;
}

bool HasRoom(const std::filesystem::path& folder, std::size_t size) {
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) return false;
  const auto block = static_cast<std::uint64_t>(info.f_bsize);
  return info.f_bavail * block >= 4 * std::uint64_t{size} && info.f_blocks * block >= kEnoughShm;
}

std::uint64_t Random() {
  std::uint64_t value = 0;
  if (getrandom(&value, sizeof value, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof value)) {
    value = static_cast<std::uint64_t>(MonotonicNow().value) * 0x9e3779b97f4a7c15u;
  }
  return value;
}

// Makes a file of that size with all its blocks allocated. -1 if that fails; no file is left then.
int CreateFile(const std::string& path, std::size_t size) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -1;
  if (Allocate(fd, size)) return fd;
  close(fd);
  unlink(path.c_str());
  return -1;
}

// A ring whose collector was killed is kept this long for `penstock recover`.
constexpr std::time_t kRecoverable = 6 * 3600;

// Removes rings whose recorder and collector were both killed: nobody then holds the lock on the
// file. Pids cannot show this, since containers may share the folder.
void RemoveStale(const std::filesystem::path& folder) {
  const std::string prefix = fmt::format("penstock-{}-", getuid());
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename().string().rfind(prefix, 0) != 0) continue;
    const int fd = open(it->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat info {};
    if (fd >= 0 && fstat(fd, &info) == 0 && std::time(nullptr) - info.st_ctime > kRecoverable &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
      unlink(it->path().c_str());
    }
    if (fd >= 0) close(fd);
  }
}

int CreateMemory(std::size_t size, std::string* path) {
  const int fd = memfd_create("penstock-arena", MFD_CLOEXEC);
  if (fd < 0) return -1;
  *path = fmt::format("/proc/{}/fd/{}", getpid(), fd);
  // Without /proc, or with the /proc of another namespace, agents could not find the memfd.
  const int probe = open(path->c_str(), O_RDWR | O_CLOEXEC);
  if (probe >= 0) {
    struct stat ours {};
    struct stat found {};
    const bool same = fstat(fd, &ours) == 0 && fstat(probe, &found) == 0 &&
                      ours.st_ino == found.st_ino && ours.st_dev == found.st_dev;
    close(probe);
    if (same && Allocate(fd, size)) return fd;
  }
  close(fd);
  return -1;
}

// The name of a ring in a segment. It contains the uuid, since another segment may have the same
// number later.
std::string NameOf(int segment, const wire::FileHeader& header) {
  return fmt::format("{}{}:{:016x}", kSegmentPrefix, segment, header.uuid[0]);
}

bool IsOurs(const shmid_ds& info) {
  return info.shm_perm.uid == geteuid() && info.shm_perm.cuid == geteuid();
}

// Does what RemoveStale() does for segments that nobody has attached and nobody has recovered. All
// users of a host share a limit of 4,096 segments, so if there are many, the oldest are removed
// sooner.
void RemoveStaleSegments() {
  constexpr std::time_t kYoung = 10;  // a new one is not attached yet
  constexpr std::size_t kMostLeft = 64;
  std::vector<std::pair<std::time_t, int>> left;
  shmid_ds info{};
  const int highest = shmctl(0, SHM_INFO, &info);
  for (int i = 0; i <= highest; ++i) {
    info = {};
    const int id = shmctl(i, SHM_STAT, &info);
    if (id < 0 || !IsOurs(info) || info.shm_nattch != 0 || info.shm_segsz < kSmallest) continue;
    left.emplace_back(std::max(info.shm_dtime, info.shm_ctime), id);
  }
  std::sort(left.begin(), left.end());
  const std::time_t now = std::time(nullptr);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool many = left.size() - i > kMostLeft;
    if (now - left[i].first < (many ? kYoung : kRecoverable)) break;
    // Attached only now, since attaching renews the time at which the segment was left.
    void* at = shmat(left[i].second, nullptr, SHM_RDONLY);
    if (at == reinterpret_cast<void*>(-1)) continue;
    const bool recording = std::memcmp(at, wire::kMagic, sizeof wire::kMagic) == 0;
    shmdt(at);
    if (recording) shmctl(left[i].second, IPC_RMID, nullptr);
  }
}

void CopyText(char* to, std::size_t size, std::string_view text) {
  const std::size_t count = std::min(size - 1, text.size());
  std::memcpy(to, text.data(), count);
  to[count] = 0;
}

}  // namespace

std::uint32_t ChunksIn(Bytes buffer) {
  if (buffer.value <= wire::kHeaderSize) return 0;
  return static_cast<std::uint32_t>((buffer.value - wire::kHeaderSize) / wire::kChunkSize);
}

void FormatRing(std::span<std::byte> memory, const Clock& clock) {
  auto* header = reinterpret_cast<wire::FileHeader*>(memory.data());
  const auto chunks =
      static_cast<std::uint32_t>((memory.size() - wire::kHeaderSize) / wire::kChunkSize);
  header->major = wire::kMajor;
  header->minor = wire::kMinor;
  header->header_size = wire::kHeaderSize;
  header->chunk_size = wire::kChunkSize;
  header->record_size = wire::kRecordSize;
  header->mode = wire::kRing;
  header->clock = clock.kind();
  header->ticks_per_second = clock.ticks_per_second();
  header->uuid[0] = Random();
  header->uuid[1] = Random();
  const auto boot = ReadFile("/proc/sys/kernel/random/boot_id");
  CopyText(header->boot_id, sizeof header->boot_id, boot ? Trimmed(*boot) : "");
  gethostname(header->host, sizeof header->host - 1);
  header->collector_pid = static_cast<std::uint32_t>(getpid());
  // As in the agent: if qemu runs this process, /proc/self/stat is not what other processes see.
  auto stat = ReadFile(fmt::format("/proc/self/task/{}/stat", getpid()), 4096);
  if (!stat) stat = ReadFile("/proc/self/stat", 4096);
  const auto own = stat ? ParseStat(*stat) : std::nullopt;
  header->collector_start = own ? own->start : 0;
  const TimeOffsets offsets = OwnTimeOffsets();
  header->monotonic_offset_ns = offsets.monotonic.value;
  header->boottime_offset_ns = offsets.boottime.value;
  header->chunk_count = chunks;
  AppendAnchor(*header, clock.Anchor());
  for (std::uint32_t i = 0; i < chunks; ++i) {
    auto* chunk = reinterpret_cast<wire::ChunkHeader*>(memory.data() + wire::kHeaderSize +
                                                       std::size_t{i} * wire::kChunkSize);
    chunk->magic = wire::kChunkMagic;
    chunk->index = i;
    __atomic_store_n(&chunk->state, wire::kChunkFree, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&header->recording, 1u, __ATOMIC_RELAXED);
  std::uint64_t magic = 0;
  std::memcpy(&magic, wire::kMagic, sizeof magic);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(header->magic), magic, __ATOMIC_RELEASE);
}

// Errors: kEnvironment.
Result<Arena> Arena::MakeSegment(std::size_t size) {
  const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
  void* memory = id >= 0 ? shmat(id, nullptr, 0) : reinterpret_cast<void*>(-1);
  if (memory == reinterpret_cast<void*>(-1)) {
    const int error = errno;
    if (id >= 0) shmctl(id, IPC_RMID, nullptr);
    return Fail(ErrorKind::kEnvironment,
                fmt::format("no System V shared memory: {}", std::strerror(error)));
  }
  madvise(memory, size, MADV_DONTDUMP);
  // Touches every page here, so that the command does not spend the time for it.
  std::memset(memory, 0, size);
  Arena arena;
  arena.memory_ = {static_cast<std::byte*>(memory), size};
  arena.segment_ = id;
  arena.unlink_ = true;
  return arena;
}

// Errors: kInput, kEnvironment: see Open().
Result<Arena> Arena::OpenSegment(const std::string& path) {
  const char* text = path.c_str() + sizeof kSegmentPrefix - 1;
  char* end = nullptr;
  const long id = std::strtol(text, &end, 10);
  shmid_ds info{};
  const bool known = end != text && *end == ':' && id >= 0 && id <= INT_MAX &&
                     shmctl(static_cast<int>(id), IPC_STAT, &info) == 0;
  if (!known || !IsOurs(info) || info.shm_segsz < kSmallest) {
    return Fail(ErrorKind::kInput, fmt::format("{}: no such shared memory of this user", path));
  }
  void* memory = shmat(static_cast<int>(id), nullptr, 0);
  if (memory == reinterpret_cast<void*>(-1)) {
    return Fail(ErrorKind::kEnvironment, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  Arena arena;
  arena.memory_ = {static_cast<std::byte*>(memory), info.shm_segsz};
  arena.segment_ = static_cast<int>(id);
  arena.path_ = path;
  if (NameOf(arena.segment_, arena.header()) != path) {
    return Fail(ErrorKind::kInput, fmt::format("{}: belongs to another recording by now", path));
  }
  arena.unlink_ = true;
  return arena;
}

Result<Arena> Arena::Map(int fd, std::string path, bool unlink, std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    close(fd);
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: cannot be mapped: {}", path, std::strerror(error)));
  }
  Arena arena;
  arena.memory_ = {static_cast<std::byte*>(memory), size};
  arena.path_ = std::move(path);
  arena.unlink_ = unlink;
  arena.fd_ = fd;
  return arena;
}

Result<Arena> Arena::MapNew(int fd, const std::string& path, std::size_t size) {
  Result<Arena> arena = Map(fd, path, true, size);
  if (!arena) ::unlink(path.c_str());  // nothing was recorded yet
  return arena;
}

Result<Arena> Arena::Create(const ArenaRequest& request, const Clock& clock) {
  const auto try_size = [&](std::size_t size) -> Result<Arena> {
    if (request.use_segment) {
      if (auto segment = MakeSegment(size)) return segment;
    }
    if (HasRoom(request.shm_folder, size)) {
      std::string path =
          request.shm_folder / fmt::format("penstock-{}-{}-{:016x}", getuid(), getpid(), Random());
      const int fd = CreateFile(path, size);
      if (fd >= 0) {
        flock(fd, LOCK_SH);  // says that the file is in use: see RemoveStale()
        return MapNew(fd, path, size);
      }
    }
    if (request.use_memfd) {
      std::string path;
      const int fd = CreateMemory(size, &path);
      if (fd >= 0) return Map(fd, path, false, size);
    }
    if (!request.beside.empty()) {
      const int fd = CreateFile(request.beside, size);
      if (fd >= 0) return MapNew(fd, request.beside, size);
    }
    return Fail(ErrorKind::kEnvironment, "no memory to share with the command (/dev/shm, memfd)");
  };
  RemoveStale(request.shm_folder);
  if (request.use_segment) RemoveStaleSegments();
  Result<Arena> arena = Fail(ErrorKind::kEnvironment, "the buffer is too small");
  for (std::uint64_t size = request.buffer.value; size >= kSmallest; size /= 2) {
    arena = try_size(SizeOf(Bytes{size}));
    if (!arena) continue;
    FormatRing(arena->memory_, clock);
    if (arena->segment_ >= 0) arena->path_ = NameOf(arena->segment_, arena->header());
    return arena;
  }
  return arena;
}

Result<Arena> Arena::Open(const std::string& path) {
  if (path.rfind(kSegmentPrefix, 0) == 0) return OpenSegment(path);
  const bool is_memfd = path.rfind("/proc/", 0) == 0;  // a link to a file without a name
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | (is_memfd ? 0 : O_NOFOLLOW));
  struct stat info {};
  if (fd >= 0 && fstat(fd, &info) == 0 && (!S_ISREG(info.st_mode) || info.st_uid != geteuid())) {
    close(fd);
    return Fail(ErrorKind::kInput, fmt::format("{}: is not a file of this user", path));
  }
  if (fd < 0 || fstat(fd, &info) != 0) {
    const int error = errno;
    const bool is_gone = error == ENOENT || error == ENOTDIR || error == ELOOP;
    if (fd >= 0) close(fd);
    return Fail(is_gone ? ErrorKind::kInput : ErrorKind::kEnvironment,
                fmt::format("{}: {}", path, std::strerror(error)));
  }
  if (info.st_size < static_cast<off_t>(wire::kHeaderSize + wire::kChunkSize)) {
    close(fd);
    return Fail(ErrorKind::kInput, fmt::format("{}: too short", path));
  }
  flock(fd, LOCK_SH | LOCK_NB);
  return Map(fd, path, !is_memfd, static_cast<std::size_t>(info.st_size));
}

Arena::Arena(Arena&& other) noexcept {
  *this = std::move(other);
}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(path_, other.path_);
  std::swap(unlink_, other.unlink_);
  std::swap(fd_, other.fd_);
  std::swap(segment_, other.segment_);
  return *this;
}

Arena::~Arena() {
  if (segment_ >= 0 && !memory_.empty()) {
    shmdt(memory_.data());
  } else if (!memory_.empty()) {
    munmap(memory_.data(), memory_.size());
  }
  if (fd_ >= 0) close(fd_);
}

wire::FileHeader& Arena::header() const {
  return *reinterpret_cast<wire::FileHeader*>(memory_.data());
}

wire::ChunkHeader& Arena::chunk(std::uint32_t index) const {
  return *reinterpret_cast<wire::ChunkHeader*>(memory_.data() + wire::kHeaderSize +
                                               std::size_t{index} * wire::kChunkSize);
}

void Arena::Unlink() {
  if (unlink_ && segment_ >= 0) {
    shmctl(segment_, IPC_RMID, nullptr);
  } else if (unlink_) {
    unlink(path_.c_str());
  }
  unlink_ = false;
}

}  // namespace penstock::record
