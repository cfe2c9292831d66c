// SPDX-License-Identifier: Apache-2.0

#include "agent/linear.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include <initializer_list>

#include "agent/process.h"
#include "agent/recorder.h"
#include "agent/strings.h"
#include "agent/sys.h"
#include "agent/time_namespace.h"

namespace penstock::agent {
namespace {

// The file grows by this many chunks (4 MiB) at a time.
constexpr uint32_t kGrowChunks = 64;
constexpr long kExist = -17;  // EEXIST

// Of the kernel: some programs preload a library that tells them another time.
uint64_t ClockNs(clockid_t clock) {
  struct timespec t = {};
  sys::Call(SYS_clock_gettime, clock, sys::Pointer(&t));
  const uint64_t ns =
      static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
  return clock == CLOCK_MONOTONIC ? ns - static_cast<uint64_t>(g_clock_shift) : ns;
}

// Growing past RLIMIT_FSIZE would raise SIGXFSZ in the traced program.
bool WithinSizeLimit(uint64_t size) {
  struct rlimit limit;
  if (sys::Call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, sys::Pointer(&limit)) != 0) {
    return false;
  }
  return limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

// Backs [offset, offset + size) with blocks, so that a store can never meet a full disk (SIGBUS).
// Harmless to a range that is in use. `*unsupported`: the file system cannot do it at all.
bool Allocate(int fd, uint64_t offset, uint64_t size, bool* unsupported) {
  if (!WithinSizeLimit(offset + size)) {
    return false;
  }
  const long r =
      sys::Call(SYS_fallocate, fd, 0, static_cast<long>(offset), static_cast<long>(size));
  *unsupported = r == -95 /* EOPNOTSUPP */ || r == -38 /* ENOSYS */;
  return r == 0;
}

// The same by writing zeros: only for a range that nobody else uses.
bool ZeroFill(int fd, uint64_t offset, uint64_t size) {
  static const char kZeros[4096] = {};
  for (uint64_t at = offset; at < offset + size; at += sizeof kZeros) {
    if (sys::Pwrite(fd, kZeros, sizeof kZeros, at) != static_cast<long>(sizeof kZeros)) {
      return false;
    }
  }
  return true;
}

bool AllocateOwn(int fd, uint64_t offset, uint64_t size) {
  bool unsupported = false;
  return Allocate(fd, offset, size, &unsupported) || (unsupported && ZeroFill(fd, offset, size));
}

void FillHeader(wire::FileHeader* h) {
  h->major = wire::kMajor;
  h->minor = wire::kMinor;
  h->header_size = wire::kHeaderSize;
  h->chunk_size = wire::kChunkSize;
  h->record_size = wire::kRecordSize;
  h->mode = wire::kLinear;
  g_tsc = !g_config.monotonic && TscIsClock();
  h->clock = g_tsc ? wire::kClockTsc : wire::kClockMonotonic;
  h->uuid[0] = wire::HashOf(g_config.run, Length(g_config.run));
  h->uuid[1] = ClockNs(CLOCK_REALTIME);
  sys::ReadFile("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof h->boot_id);
  sys::ReadFile("/proc/sys/kernel/hostname", h->host, sizeof h->host);
  for (char* p : {h->boot_id, h->host}) {
    size_t n = Length(p);
    if (n > 0 && p[n - 1] == '\n') {
      p[n - 1] = 0;
    }
  }
  h->root_pid = sys::Pid();
  const TimeOffsets offsets = OwnTimeOffsets();
  h->monotonic_offset_ns = offsets.monotonic_ns;
  h->boottime_offset_ns = offsets.boottime_ns;
  h->recording = 1;
  h->max_chunks = g_config.max_bytes / wire::kChunkSize;
  h->batch_limit = g_config.batches;
  // Two anchors 2 ms apart give the reader a first rate; those of the chunks refine it.
  const wire::ClockAnchor first = TakeAnchor();
  struct timespec wait = {0, 2000000};
  if (g_tsc) {
    sys::Call(SYS_nanosleep, sys::Pointer(&wait), 0);
  }
  const wire::ClockAnchor second = TakeAnchor();
  h->ticks_per_second = 1000000000u;
  if (g_tsc && second.monotonic_ns > first.monotonic_ns) {
    h->ticks_per_second =
        static_cast<uint64_t>(static_cast<double>(second.ticks - first.ticks) * 1e9 /
                              static_cast<double>(second.monotonic_ns - first.monotonic_ns));
  }
  h->anchors[0] = first;
  h->anchors[1] = second;
  h->anchor_count = 2;
  __builtin_memcpy(h->magic, wire::kMagic, sizeof wire::kMagic);
}

bool IsRecordingOfThisRun(const char* path) {
  int fd = sys::Open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  wire::FileHeader head;  // only the first fields are read
  constexpr size_t kNeed = offsetof(wire::FileHeader, boot_id);
  const bool read = sys::Read(fd, &head, kNeed) == static_cast<long>(kNeed);
  sys::Close(fd);
  return read && __builtin_memcmp(head.magic, wire::kMagic, sizeof wire::kMagic) == 0 &&
         head.uuid[0] == wire::HashOf(g_config.run, Length(g_config.run));
}

}  // namespace

bool TscIsClock() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) {
    return false;
  }
  char source[32];
  return sys::ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                       sizeof source) > 0 &&
         StartsWith(source, "tsc");
#else
  return false;
#endif
}

wire::ClockAnchor TakeAnchor() {
  wire::ClockAnchor best = {};
  uint64_t best_width = ~uint64_t{0};
  for (int i = 0; i < 4; ++i) {
    const uint64_t before = ClockNs(CLOCK_MONOTONIC);
    const uint64_t ticks = Now();
    const uint64_t after = ClockNs(CLOCK_MONOTONIC);
    if (after - before < best_width) {
      best_width = after - before;
      best.monotonic_ns = before + (after - before) / 2;
      best.ticks = g_tsc ? ticks : best.monotonic_ns;
    }
  }
  best.realtime_ns = ClockNs(CLOCK_REALTIME) - (ClockNs(CLOCK_MONOTONIC) - best.monotonic_ns);
  return best;
}

void RemoveStaleRecording() {
  char magic[8] = {};
  int fd = sys::Open(g_config.out, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  const bool read = sys::Read(fd, magic, sizeof magic) == static_cast<long>(sizeof magic);
  sys::Close(fd);
  if (read && __builtin_memcmp(magic, wire::kMagic, sizeof magic) == 0 &&
      !IsRecordingOfThisRun(g_config.out)) {
    sys::Call(SYS_unlinkat, AT_FDCWD, sys::Pointer(g_config.out), 0);
  }
}

namespace {

// A file with a whole header and nothing else.
bool WriteHeader(int fd) {
  if (!AllocateOwn(fd, 0, wire::kHeaderSize)) {
    return false;
  }
  void* memory = sys::Map(nullptr, wire::kHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == nullptr) {
    return false;
  }
  FillHeader(static_cast<wire::FileHeader*>(memory));
  sys::Unmap(memory, wire::kHeaderSize);
  return true;
}

// Made whole without a name, then linked: no process ever sees half a header, and one that is
// killed here leaves nothing. False: this file system, or this /proc, has no such thing.
bool LinkNameless() {
  char folder[4096];
  Text text{folder, sizeof folder};
  text.Add(g_config.out, static_cast<size_t>(BaseName(g_config.out) - g_config.out));
  const int fd = text.cut ? -1 : sys::Open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0644);
  if (fd < 0) {
    return false;
  }
  char name[40];
  Text link{name, sizeof name};
  link.Add("/proc/self/fd/").Number(static_cast<uint64_t>(fd));
  const long linked = WriteHeader(fd)
                          ? sys::Call(SYS_linkat, AT_FDCWD, sys::Pointer(name), AT_FDCWD,
                                      sys::Pointer(g_config.out), AT_SYMLINK_FOLLOW)
                          : -1;
  sys::Close(fd);
  return linked == 0 || (linked == kExist && IsRecordingOfThisRun(g_config.out));
}

}  // namespace

bool PrepareLinear() {
  if (IsRecordingOfThisRun(g_config.out) || LinkNameless()) {
    return true;
  }
  char temporary[4200];
  Text name{temporary, sizeof temporary};
  name.Add(g_config.out).Add(".").Number(sys::Pid()).Add(".tmp");
  if (name.cut) {
    return false;
  }
  int fd = sys::Open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    return false;
  }
  bool ok = WriteHeader(fd);
  sys::Close(fd);
  if (ok) {
    const long linked = sys::Call(SYS_linkat, AT_FDCWD, sys::Pointer(temporary), AT_FDCWD,
                                  sys::Pointer(g_config.out), 0);
    ok = linked == 0 || (linked == kExist && IsRecordingOfThisRun(g_config.out));
    if (linked != 0 && linked != kExist) {
      // File systems without hard links.
      ok = sys::Call(SYS_renameat2, AT_FDCWD, sys::Pointer(temporary), AT_FDCWD,
                     sys::Pointer(g_config.out), 1 /* RENAME_NOREPLACE */) == 0;
    }
  }
  sys::Call(SYS_unlinkat, AT_FDCWD, sys::Pointer(temporary), 0);
  return ok;
}

wire::ChunkHeader* ClaimLinearChunk(uint32_t* index) {
  const uint32_t mine = __atomic_fetch_add(&g_header->next_chunk, 1u, __ATOMIC_RELAXED);
  if (mine >= g_header->max_chunks) {
    return nullptr;
  }
  int fd = sys::Open(g_config.out, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return nullptr;
  }
  wire::ChunkHeader* chunk = nullptr;
  const uint64_t offset = wire::kHeaderSize + uint64_t{mine} * wire::kChunkSize;
  uint32_t have = __atomic_load_n(&g_header->allocated_chunks, __ATOMIC_ACQUIRE);
  bool ok = mine < have;
  if (!ok) {
    // Two processes may grow the same range: allocating twice does no harm.
    uint32_t want = mine + kGrowChunks - mine % kGrowChunks;
    want = want <= g_header->max_chunks ? want : static_cast<uint32_t>(g_header->max_chunks);
    const uint64_t from = wire::kHeaderSize + uint64_t{have} * wire::kChunkSize;
    bool unsupported = false;
    ok = Allocate(fd, from, uint64_t{want - have} * wire::kChunkSize, &unsupported);
    if (!ok) {  // little room left, or no such call: this one chunk alone, then
      ok = AllocateOwn(fd, offset, wire::kChunkSize);
      want = have;
    }
    while (ok && have < want &&  // NOLINT: the exchange reloads `have`
           !__atomic_compare_exchange_n(&g_header->allocated_chunks, &have, want, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
    }
  }
  if (ok) {
    chunk = static_cast<wire::ChunkHeader*>(
        sys::Map(nullptr, wire::kChunkSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset));
  }
  sys::Close(fd);
  *index = mine;
  return chunk;
}

}  // namespace penstock::agent
