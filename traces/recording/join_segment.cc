// SPDX-License-Identifier: Apache-2.0
#include "traces/recording/join_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "traces/base/small_file.h"
#include "traces/recording/recording_chunk.h"

namespace penstock::traces {
namespace {

// Attaches the segment that the header names.
class AttachedSegment {
 public:
  AttachedSegment() = default;
  AttachedSegment(const AttachedSegment&) = delete;
  AttachedSegment& operator=(const AttachedSegment&) = delete;
  ~AttachedSegment() {
    if (memory_ != nullptr) ::shmdt(memory_);
  }

  bool Attach(const wire::FileHeader& wanted) {
    const int id = IdOf(wanted);
    shmid_ds info{};
    if (id < 0 || ::shmctl(id, IPC_STAT, &info) != 0 || info.shm_perm.uid != ::geteuid() ||
        info.shm_perm.cuid != ::geteuid() || info.shm_segsz < wire::kHeaderSize) {
      return false;
    }
    void* at = ::shmat(id, nullptr, SHM_RDONLY);
    if (at == reinterpret_cast<void*>(-1)) return false;
    memory_ = static_cast<std::byte*>(at);
    size_ = info.shm_segsz;
    others_ = info.shm_nattch;
    const wire::FileHeader& h = header();
    return std::memcmp(h.magic, wire::kMagic, sizeof h.magic) == 0 && h.uuid[0] == wanted.uuid[0] &&
           h.uuid[1] == wanted.uuid[1] && h.segment == wanted.segment;
  }

  static int IdOf(const wire::FileHeader& header) {
    if (header.segment == 0 || header.mode != wire::kLinear ||
        __atomic_load_n(&header.sealed, __ATOMIC_ACQUIRE) != 0) {
      return -1;
    }
    const auto boot = ReadFile("/proc/sys/kernel/random/boot_id", 64);
    const std::string theirs(header.boot_id, strnlen(header.boot_id, sizeof header.boot_id));
    if (boot && !theirs.empty() && boot->compare(0, theirs.size(), theirs) != 0) return -1;
    return static_cast<int>(header.segment) - 1;
  }

  [[nodiscard]] const wire::FileHeader& header() const {
    return *reinterpret_cast<const wire::FileHeader*>(memory_);
  }
  [[nodiscard]] std::uint64_t others() const { return others_; }  // processes attached before us
  [[nodiscard]] std::size_t chunks() const {
    return std::min<std::size_t>(header().chunk_count,
                                 (size_ - wire::kHeaderSize) / wire::kChunkSize);
  }
  [[nodiscard]] std::span<std::byte> chunk(std::size_t i) const {
    return {memory_ + wire::kHeaderSize + i * wire::kChunkSize, wire::kChunkSize};
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t others_ = 0;
};

using ChunkBytes = std::array<std::byte, wire::kChunkSize>;

struct Copies {
  std::unique_ptr<wire::FileHeader> header = std::make_unique<wire::FileHeader>();
  std::vector<std::unique_ptr<ChunkBytes>> chunks;
};

wire::ChunkHeader& HeaderOf(ChunkBytes& chunk) {
  return *reinterpret_cast<wire::ChunkHeader*>(chunk.data());
}

// A copy of a chunk at one moment, although its thread may be writing it. nullptr: it is free, or
// changed its owner three times while it was copied.
std::unique_ptr<ChunkBytes> CopyChunk(const ChunkView& chunk, std::span<const std::byte> bytes) {
  auto copy = std::make_unique<ChunkBytes>();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const wire::ChunkHeader& h = chunk.header();
    const std::uint32_t pid = chunk.pid();
    if (pid == 0 || chunk.state() == wire::kChunkFree) return nullptr;
    const std::uint32_t index = __atomic_load_n(&h.index, __ATOMIC_ACQUIRE);
    const std::uint32_t sequence = __atomic_load_n(&h.sequence, __ATOMIC_ACQUIRE);
    const ChunkView::PendingReads pending = chunk.Pending();
    const std::uint32_t committed = pending.committed;
    std::memcpy(copy->data(), bytes.data(), bytes.size());
    FinishReads();
    if (__atomic_load_n(&h.index, __ATOMIC_RELAXED) == index &&
        __atomic_load_n(&h.sequence, __ATOMIC_RELAXED) == sequence && chunk.pid() == pid &&
        chunk.committed() >= committed) {
      wire::ChunkHeader& copied = HeaderOf(*copy);
      copied.committed = committed;
      copied.closing = pending.closing;
      copied.counting = pending.counting;
      std::copy(std::begin(pending.reads), std::end(pending.reads), std::begin(copied.pending));
      return copy;
    }
  }
  return nullptr;
}

bool IsSameUse(const wire::ChunkHeader& a, const wire::ChunkHeader& b) {
  return a.magic == b.magic && a.pid == b.pid && a.tid == b.tid && a.writer == b.writer &&
         a.process_start == b.process_start && a.sequence == b.sequence;
}

// The counters of a process.
std::array<std::uint64_t, 6> CountsOf(const wire::ProcessSlot& slot) {
  const auto load = [](const std::uint64_t& field) {
    return __atomic_load_n(&field, __ATOMIC_RELAXED);
  };
  return {load(slot.bytes_dataset), load(slot.bytes_network), load(slot.bytes_lost),
          load(slot.network_lost),  load(slot.bytes_claimed), load(slot.network_claimed)};
}

// Copies the chunks first and the header last, so that the header counts at least what the chunks
// contain. Marks processes whose counts changed meanwhile with kFeatureMoving.
Copies CopySegment(const AttachedSegment& segment) {
  Copies copies;
  std::vector<std::array<std::uint64_t, 6>> before;
  for (const wire::ProcessSlot& slot : segment.header().processes) {
    before.push_back(CountsOf(slot));
  }
  for (std::size_t i = 0; i < segment.chunks(); ++i) {
    const std::span<std::byte> bytes = segment.chunk(i);
    auto copy = CopyChunk(ChunkView(bytes), bytes);
    if (copy) copies.chunks.push_back(std::move(copy));
  }
  std::memcpy(copies.header.get(), &segment.header(), sizeof(wire::FileHeader));
  for (std::size_t i = 0; i < before.size(); ++i) {
    wire::ProcessSlot& slot = copies.header->processes[i];
    slot.features |= CountsOf(slot) != before[i] ? wire::kFeatureMoving : 0;
  }
  return copies;
}

const wire::FileHeader* RecordingHeader(const MappedFile& file) {
  if (file.bytes().size() < wire::kHeaderSize ||
      std::memcmp(file.bytes().data(), wire::kMagic, sizeof wire::kMagic) != 0) {
    return nullptr;
  }
  const auto* header = reinterpret_cast<const wire::FileHeader*>(file.bytes().data());
  return header->major == wire::kMajor ? header : nullptr;
}

std::size_t OffsetOf(std::size_t index) {
  return wire::kHeaderSize + index * wire::kChunkSize;
}

// Places a chunk without records: either its thread has just written its records to the file under
// the same number, or there were none yet. Its header may hold open operations and pending reads.
void PlaceEmpty(ChunkBytes& chunk, std::span<std::byte> image, std::size_t& end) {
  const std::size_t at = OffsetOf(HeaderOf(chunk).index);
  auto& there = *reinterpret_cast<wire::ChunkHeader*>(image.data() + at);
  if (there.pid != 0 && IsSameUse(there, HeaderOf(chunk))) {
    const std::uint32_t committed = there.committed;
    std::memcpy(&there, chunk.data(), wire::kChunkHeaderSize);
    there.committed = committed;
    return;
  }
  const std::size_t to = there.pid == 0 ? at : std::exchange(end, end + wire::kChunkSize);
  std::memcpy(image.data() + to, chunk.data(), wire::kChunkSize);
}

void Place(Copies& copies, MappedFile& file) {
  std::size_t last = 0;
  for (const auto& chunk : copies.chunks) {
    last = std::max<std::size_t>(last, HeaderOf(*chunk).index + std::size_t{1});
  }
  const std::size_t in_file =
      (file.bytes().size() - wire::kHeaderSize + wire::kChunkSize - 1) / wire::kChunkSize;
  std::size_t end = OffsetOf(std::max(last, in_file));
  if (!file.Grow(end + copies.chunks.size() * wire::kChunkSize)) return;
  const std::span<std::byte> image = file.writable();
  for (const auto& chunk : copies.chunks) {
    if (HeaderOf(*chunk).committed != 0) {
      std::memcpy(image.data() + OffsetOf(HeaderOf(*chunk).index), chunk->data(), wire::kChunkSize);
    }
  }
  for (const auto& chunk : copies.chunks) {
    if (HeaderOf(*chunk).committed == 0) PlaceEmpty(*chunk, image, end);
  }
  copies.header->sealed = 1;
  std::memcpy(image.data(), copies.header.get(), sizeof(wire::FileHeader));
}

// Whether the copies fit together. An attacker or a damaged byte could ask for a file of any size.
bool IsPlausible(const Copies& copies, std::size_t file_size) {
  const std::size_t most = file_size / wire::kChunkSize + (std::size_t{1} << 17);
  return std::all_of(copies.chunks.begin(), copies.chunks.end(),
                     [&](const auto& chunk) { return HeaderOf(*chunk).index < most; });
}

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

bool WriteAt(int fd, std::span<const std::byte> bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    offset += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace

SegmentState SegmentOf(const wire::FileHeader& header) {
  AttachedSegment segment;
  if (!segment.Attach(header)) return SegmentState::kNone;
  return segment.others() != 0 ? SegmentState::kInUse : SegmentState::kLeft;
}

Result<MappedFile> OpenWithSegment(const std::filesystem::path& path) {
  auto file = MappedFile::Open(path);
  const wire::FileHeader* header = file ? RecordingHeader(*file) : nullptr;
  AttachedSegment segment;
  if (header == nullptr || !segment.Attach(*header)) {
    // The recording was finished after we had read the header, so now the file is complete.
    if (header != nullptr && header->segment != 0) return MappedFile::Open(path);
    return file;
  }
  // The segment is copied before the file is read. So a chunk that is written to the file in
  // between is found twice. In the other order it could be missed.
  Copies copies = CopySegment(segment);
  file = MappedFile::Open(path);
  header = file ? RecordingHeader(*file) : nullptr;
  if (header == nullptr || header->uuid[1] != copies.header->uuid[1] ||
      (header->sealed != 0 && copies.header->sealed != 0) ||
      !IsPlausible(copies, file->bytes().size())) {
    return file;
  }
  Place(copies, *file);
  return file;
}

Result<void> FinishFromSegment(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: cannot be opened: {}", path.string(), ErrorText(errno)));
  }
  const auto close_it = [&](Result<void> result) {
    ::flock(fd, LOCK_UN);
    ::close(fd);
    return result;
  };
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd);
    return Fail(ErrorKind::kEnvironment,
                fmt::format("{}: is being written by another program", path.string()));
  }
  auto header = std::make_unique<wire::FileHeader>();
  AttachedSegment segment;
  if (::pread(fd, header.get(), sizeof *header, 0) != static_cast<ssize_t>(sizeof *header) ||
      !segment.Attach(*header)) {
    return close_it(
        Fail(ErrorKind::kInput,
             fmt::format("{}: nothing of it is left in the memory of this host", path.string())));
  }
  if (segment.others() != 0) {
    return close_it(
        Fail(ErrorKind::kEnvironment, fmt::format("{}: is still being recorded", path.string())));
  }
  auto joined = OpenWithSegment(path);
  if (!joined) return close_it(tl::unexpected<Error>(joined.error()));
  const std::span<const std::byte> image = joined->bytes();
  const std::size_t size =
      wire::kHeaderSize + (image.size() - wire::kHeaderSize) / wire::kChunkSize * wire::kChunkSize;
  const auto chunks = static_cast<std::uint32_t>((size - wire::kHeaderSize) / wire::kChunkSize);
  // The header is written last: until it says that the file is complete, readers use the segment.
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const std::size_t at = OffsetOf(i);
    const auto& chunk = *reinterpret_cast<const wire::ChunkHeader*>(image.data() + at);
    if (chunk.pid == 0) continue;
    used = i + 1;
    if (!WriteAt(fd, image.subspan(at, wire::kChunkSize), at)) {
      return close_it(Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written: {}; free some "
                                                           "space and try again",
                                                           path.string(), ErrorText(errno))));
    }
  }
  std::memcpy(header.get(), image.data(), sizeof *header);
  header->next_chunk = std::max(header->next_chunk, used);
  header->allocated_chunks = header->next_chunk;
  header->sealed = 1;
  if (::ftruncate(fd, static_cast<off_t>(OffsetOf(header->next_chunk))) != 0 ||
      ::fdatasync(fd) != 0 || !WriteAt(fd, std::as_bytes(std::span(header.get(), 1)), 0) ||
      ::fdatasync(fd) != 0) {
    return close_it(Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written: {}", path.string(),
                                                         ErrorText(errno))));
  }
  ::shmctl(static_cast<int>(header->segment) - 1, IPC_RMID, nullptr);
  return close_it({});
}

}  // namespace penstock::traces
