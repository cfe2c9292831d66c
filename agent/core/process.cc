// SPDX-License-Identifier: Apache-2.0

#include "agent/core/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "agent/core/linear.h"
#include "agent/core/pending_reads.h"
#include "agent/core/rank_facts.h"
#include "agent/core/recorder.h"
#include "agent/core/segment.h"
#include "agent/core/text.h"
#include "agent/core/thread_state.h"
#include "agent/system/descriptors.h"
#include "agent/system/memory_limits.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"
#include "agent/system/time_namespace.h"
#include "traces/hide_secrets.h"

namespace penstock::agent {

Config g_config = {};
wire::FileHeader* g_header = nullptr;
bool g_tsc = false;
uint64_t g_attached_at = 0;
int (*g_clock_gettime)(clockid_t, struct timespec*) = clock_gettime;
bool g_without_slot = false;
uint64_t g_ns_per_tick = 0;
uint64_t g_cpu_reuse_ticks = 0;

namespace {

constexpr uint32_t kOff = 0;
uint64_t g_unset_guard = 0;
uint32_t g_local_pid = 0;  // process that g_local counts for
uint32_t g_failed = 0;     // attaching failed: do not try again
uint64_t g_init_lock = 0;  // 0 free, else pid << 32 | tid of who is attaching

// The largest ring that we map.
constexpr uint64_t kMaxRing = uint64_t{16} << 30;

bool HeaderIsOurs(const wire::FileHeader* h) {
  return __builtin_memcmp(h->magic, wire::kMagic, sizeof wire::kMagic) == 0 &&
         h->major == wire::kMajor && h->header_size == wire::kHeaderSize &&
         h->chunk_size == wire::kChunkSize && h->record_size == wire::kRecordSize;
}

// Maps a ring that is a file of this user and keeps no descriptor open. Follows a link only in
// /proc: a memfd has no name but the kernel's link there.
void* MapRingFile(const char* path, size_t* size) {
  const bool proc = StartsWith(path, "/proc/");
  const int fd = sys::Open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | (proc ? 0 : O_NOFOLLOW));
  if (fd < 0) {
    return nullptr;
  }
  struct stat st;
  void* memory = nullptr;
  if (sys::Call(SYS_fstat, fd, sys::Pointer(&st)) == 0 && S_ISREG(st.st_mode) &&
      st.st_uid == static_cast<uint32_t>(sys::Call(SYS_geteuid)) &&
      static_cast<uint64_t>(st.st_size) >= wire::kHeaderSize &&
      static_cast<uint64_t>(st.st_size) <= kMaxRing) {
    *size = static_cast<size_t>(st.st_size);
    memory = sys::Map(nullptr, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  sys::Close(fd);
  return memory;
}

// The segment's number may belong to another recording by now, so the first half of its uuid is
// compared as well.
wire::FileHeader* AttachRingSegment(const char* id_and_uuid, size_t* size) {
  const int64_t id = ParseNumber(id_and_uuid);
  const char* uuid = Find(id_and_uuid, ":");
  auto* header = id >= 0 && id <= INT32_MAX && uuid != nullptr
                     ? static_cast<wire::FileHeader*>(AttachSegment(static_cast<int>(id), size))
                     : nullptr;
  if (header != nullptr &&
      (*size < wire::kHeaderSize || header->uuid[0] != ParseHexadecimal(uuid + 1))) {
    DetachSegment(header);
    return nullptr;
  }
  return header;
}

wire::FileHeader* AttachRing(const char* where, size_t* size) {
  return StartsWith(where, kSegmentPrefix)
             ? AttachRingSegment(where + sizeof kSegmentPrefix - 1, size)
             : static_cast<wire::FileHeader*>(MapRingFile(where, size));
}

bool Attach() {
  const bool ring = g_config.arena[0] != 0;
  size_t size = 0;
  wire::FileHeader* header = ring ? AttachRing(g_config.arena, &size) : AttachLinear(&size);
  if (header == nullptr) {
    return false;
  }
  const uint64_t need = wire::kHeaderSize + uint64_t{header->chunk_count} * wire::kChunkSize;
  if (!HeaderIsOurs(header) || header->mode != (ring ? wire::kRing : wire::kLinear) ||
      size < need) {
    sys::Unmap(header, size);
    return false;
  }
  g_tsc = header->clock == wire::kClockTsc;
  const uint64_t rate = header->ticks_per_second != 0 ? header->ticks_per_second : 1000000000u;
  g_ns_per_tick = (uint64_t{1000000000u} << 20) / rate;
  g_cpu_reuse_ticks = rate / 1000000u * 20;
  g_attached_at = Now();
  __atomic_store_n(&g_header, header, __ATOMIC_RELEASE);
  __atomic_store_n(&g_recording, &header->recording, __ATOMIC_RELEASE);
  return true;
}

// Makes a page that reads as zeros in every forked child, however it was forked.
bool MakeGuard() {
  void* page = sys::Map(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == nullptr) {
    return false;
  }
  if (sys::Call(SYS_madvise, sys::Pointer(page), 4096, 18 /* MADV_WIPEONFORK */) != 0) {
    // Before Linux 4.14 children keep their parent's token, which would mix the chunks of two
    // processes. So nothing is recorded on such a kernel.
    sys::Unmap(page, 4096);
    return false;
  }
  g_guard = static_cast<volatile uint64_t*>(page);
  SetScratchGuard(g_guard);
  return true;
}

// A thread that sees the token also sees the slot and everything else that was stored before the
// token.
void StoreToken(uint64_t token) {
  __atomic_store_n(g_guard, token, __ATOMIC_RELEASE);
}

uint32_t g_announce = 0;  // 1: command line and rank are still to be written

void EmitCommandLine() {
  if (g_config.no_command) {
    return;
  }
  PENSTOCK_SCRATCH(text);
  size_t size = sys::ReadFile("/proc/self/cmdline", text, 2048);
  while (size > 0 && text[size - 1] == 0) {
    --size;
  }
  size = traces::HideSecrets(text, size, 2048);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == 0) {
      text[i] = 0x1f;
    }
  }
  WriteText(wire::kTextCommand, 1, text, size);
}

// Takes the right to attach. False if another thread has attached (`*token` is set), has failed to
// attach, or takes longer than kPatience. Also false in a signal handler that interrupted this very
// thread while it attaches.
bool LockInit(uint64_t* token) {
  constexpr int kPatience = 2000;  // 100 us each: a slow disk may take long to make a file
  const uint64_t self = uint64_t{sys::Pid()} << 32 | sys::Tid();
  for (int i = 0; i < kPatience; ++i) {
    uint64_t holder = 0;
    if (__atomic_compare_exchange_n(&g_init_lock, &holder, self, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
      return true;
    }
    if (holder == self) {
      return false;
    }
    // A thread of the parent held the lock at the moment of the fork. That thread does not exist
    // here.
    if (holder >> 32 != self >> 32 &&
        __atomic_compare_exchange_n(&g_init_lock, &holder, self, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
    struct timespec pause = {0, 100000};
    sys::Call(SYS_nanosleep, sys::Pointer(&pause), 0);
    *token = LoadToken();
    if (*token != 0 || g_failed != 0) {
      return false;
    }
  }
  return false;
}

// Requires: g_init_lock.
bool Initialise() {
  if (g_guard == &g_unset_guard && !MakeGuard()) {
    return false;
  }
  if (g_header == nullptr && !Attach()) {
    return false;
  }
  if (*g_guard != 0) {
    return true;
  }
  g_slot = nullptr;
  g_slot_index = wire::kMaxProcesses;
  NoteTimeNamespace(g_header);
  if (!ClaimSlot()) {
    g_without_slot = true;
    return false;
  }
  // The token must be unique among the processes that come from this one by fork. Processes that
  // live at the same time differ in pid. Processes that live one after the other differ in start
  // time.
  const uint64_t token = ((g_slot->process_start << 32) ^ g_slot->pid) & ~kEnded;
  StoreToken(token != 0 ? token : 1);
  TrimIfTight();
  return true;
}

}  // namespace

volatile uint64_t* g_guard = &g_unset_guard;
const uint32_t* g_recording = &kOff;

bool EnsureProcess(uint64_t* token) {
  *token = LoadToken();
  if (*token != 0) {
    return true;
  }
  if (g_failed != 0) {
    return false;
  }
  if (!LockInit(token)) {
    return *token != 0;
  }
  *token = *g_guard;
  if (*token != 0) {  // the thread that held the lock before has attached
    __atomic_store_n(&g_init_lock, uint64_t{0}, __ATOMIC_RELEASE);
    return true;
  }
  if (g_local_pid != 0 && g_local_pid != sys::Pid()) {
    FreeScratchOfOthers();
    ForgetDescriptorsOfOthers();
    // A forked child does not count what its parent read, but inherits the parent's hooks and
    // mappings.
    const uint32_t inherited = g_local.features & (wire::kFeatureHooks | wire::kFeatureMapped);
    g_local = {};
    g_local.features = inherited;
  }
  g_local_pid = sys::Pid();
  const bool done = Initialise();
  *token = *g_guard;
  if (!done) {
    g_failed = 1;
    if (!g_without_slot) {
      __atomic_store_n(&g_recording, &kOff, __ATOMIC_RELEASE);
    }
  }
  __atomic_store_n(&g_init_lock, uint64_t{0}, __ATOMIC_RELEASE);
  if (done) {
    __atomic_store_n(&g_announce, 1u, __ATOMIC_RELEASE);
  }
  return done && *token != 0;
}

void AnnounceProcess() {
  if (__atomic_load_n(&g_announce, __ATOMIC_RELAXED) != 0 &&
      __atomic_exchange_n(&g_announce, 0u, __ATOMIC_ACQ_REL) != 0) {
    EmitCommandLine();
    WriteRankFacts();
  }
}

void StandDown(uint32_t feature) {
  if (ThreadState* s = Recording() ? Self() : nullptr; s != nullptr) {
    FlushReads(s);
    SetFeature(feature);
  }
  __atomic_store_n(&g_recording, &kOff, __ATOMIC_RELEASE);
  if (g_header != nullptr && g_header->mode == wire::kLinear && *g_guard != 0) {
    FinishLinear();  // nobody would write the remaining chunks later
  }
  g_failed = 1;
  TrimRing();  // now, since later the agent cannot react if the program locks its memory
  if (g_guard != &g_unset_guard) {
    *g_guard = 0;
  }
  sys::Shut();
  g_config.on = false;  // programs that it executes are not recorded either
  g_tsc = false;        // from now on Now() reads no clock and returns 0
}

bool RunsInMemoryOfParent() {
  // An ordinary forked child finds the guard wiped; a child in the same memory does not.
  return *g_guard != 0 && g_slot != nullptr && g_slot->pid != sys::Pid();
}

void EndProcess() {
  if (g_header == nullptr || *g_guard == 0 || g_slot == nullptr || g_slot->pid != sys::Pid()) {
    return;
  }
  // The collector looks only ten times a second, so the CPU time of a program that runs for a
  // moment is written here.
  struct timespec used = {0, 0};
  sys::Call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, sys::Pointer(&used));
  const uint64_t nanoseconds =
      static_cast<uint64_t>(used.tv_sec) * 1000000000u + static_cast<uint64_t>(used.tv_nsec);
  __atomic_store_n(&g_slot->cpu_at_end, nanoseconds, __ATOMIC_RELAXED);
  if (g_header->mode == wire::kLinear) FinishLinear();
}

void MarkEnded() {
  g_failed = 1;
  g_without_slot = true;
  StoreToken(*g_guard | kEnded);
}

void UnmarkEnded() {
  *g_guard = *g_guard & ~kEnded;
  g_without_slot = false;
  g_failed = 0;
}

void NoteProcess() {
  g_local_pid = sys::Pid();
}

}  // namespace penstock::agent
