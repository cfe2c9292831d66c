// SPDX-License-Identifier: Apache-2.0

#include "agent/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "agent/audit.h"
#include "agent/fd_table.h"
#include "agent/linear.h"
#include "agent/rank_facts.h"
#include "agent/recorder.h"
#include "agent/strings.h"
#include "agent/sys.h"
#include "agent/text.h"
#include "agent/thread_state.h"
#include "agent/time_namespace.h"

namespace penstock::agent {

Config g_config = {};
Counters g_local = {};
wire::FileHeader* g_header = nullptr;
wire::ProcessSlot* g_slot = nullptr;
uint32_t g_slot_index = wire::kMaxProcesses;
bool g_tsc = false;
int (*g_clock_gettime)(clockid_t, struct timespec*) = clock_gettime;
bool g_without_slot = false;
uint64_t g_ns_per_tick = 0;
uint64_t g_cpu_reuse_ticks = 0;

namespace {

constexpr uint32_t kOff = 0;
uint64_t g_unset_guard = 0;
uint32_t g_local_pid = 0;  // whose g_local is
uint32_t g_failed = 0;     // attaching failed: do not try again
uint64_t g_init_lock = 0;  // 0 free, else pid << 32 | tid of who is attaching
size_t g_mapped_size = 0;

// The smallest header a recording can have, and the biggest ring we are willing to map.
constexpr uint64_t kMaxArena = uint64_t{16} << 30;

uint64_t ProcessStart() {
  // Field 22 of /proc/self/stat; the command name (field 2) may hold spaces and parentheses.
  char text[1024];
  size_t size = sys::ReadFile("/proc/self/stat", text, sizeof text);
  const char* p = text + size;
  while (p > text && *p != ')') {
    --p;
  }
  for (int field = 2; field < 22 && *p != 0; ++p) {
    if (*p == ' ') {
      ++field;
    }
  }
  int64_t value = ParseNumber(p);
  value -= value < 0 ? 0 : g_start_shift;
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

bool HeaderIsOurs(const wire::FileHeader* h) {
  return __builtin_memcmp(h->magic, wire::kMagic, sizeof wire::kMagic) == 0 &&
         h->major == wire::kMajor && h->header_size == wire::kHeaderSize &&
         h->chunk_size == wire::kChunkSize && h->record_size == wire::kRecordSize;
}

// Maps `size` bytes of a file; no descriptor stays open.
void* MapFile(const char* path, uint64_t size) {
  int fd = sys::Open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return nullptr;
  }
  struct stat st;
  void* memory = nullptr;
  if (sys::Call(SYS_fstat, fd, sys::Pointer(&st)) == 0 &&
      static_cast<uint64_t>(st.st_size) >= wire::kHeaderSize &&
      static_cast<uint64_t>(st.st_size) <= kMaxArena) {
    g_mapped_size = size != 0 ? size : static_cast<size_t>(st.st_size);
    memory = sys::Map(nullptr, g_mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  sys::Close(fd);
  return memory;
}

bool Attach() {
  const bool ring = g_config.arena[0] != 0;
  if (!ring && !PrepareLinear()) {
    return false;
  }
  auto* header = static_cast<wire::FileHeader*>(ring ? MapFile(g_config.arena, 0)
                                                     : MapFile(g_config.out, wire::kHeaderSize));
  if (header == nullptr) {
    return false;
  }
  const uint64_t need =
      wire::kHeaderSize + (ring ? uint64_t{header->chunk_count} * wire::kChunkSize : 0);
  if (!HeaderIsOurs(header) || header->mode != (ring ? wire::kRing : wire::kLinear) ||
      g_mapped_size < need) {
    sys::Unmap(header, g_mapped_size);
    return false;
  }
  g_tsc = header->clock == wire::kClockTsc;
  const uint64_t rate = header->ticks_per_second != 0 ? header->ticks_per_second : 1000000000u;
  g_ns_per_tick = (uint64_t{1000000000u} << 20) / rate;
  g_cpu_reuse_ticks = rate / 1000000u * 20;
  g_header = header;
  __atomic_store_n(&g_recording, &header->recording, __ATOMIC_RELEASE);
  return true;
}

// A page that reads as zeros in every forked child, however it was forked.
bool MakeGuard() {
  void* page = sys::Map(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == nullptr) {
    return false;
  }
  if (sys::Call(SYS_madvise, sys::Pointer(page), 4096, 18 /* MADV_WIPEONFORK */) != 0) {
    // Kernels before 4.14: children then keep their parent's token, which would mix two
    // processes' chunks. Not recording is the safe answer.
    sys::Unmap(page, 4096);
    return false;
  }
  g_guard = static_cast<volatile uint64_t*>(page);
  return true;
}

void FillSlot(wire::ProcessSlot* slot) {
  slot->pid = sys::Pid();
  slot->parent = static_cast<uint32_t>(sys::Call(SYS_getppid));
  slot->role = wire::kRoleOther;
  slot->process_start = ProcessStart();
  struct stat st;
  slot->pid_namespace = sys::Call(SYS_newfstatat, AT_FDCWD, sys::Pointer("/proc/self/ns/pid"),
                                  sys::Pointer(&st), 0) == 0
                            ? st.st_ino
                            : 0;
  slot->bytes_hooked = 0;
  slot->bytes_dataset = 0;
  slot->bytes_network = 0;
  slot->bytes_mapped = 0;
  FoldLocals(slot);
  slot->dropped = 0;
  slot->features = g_local.features;
  slot->worker_id = -1;
  slot->rank = g_config.rank;
  slot->local_rank = g_config.local_rank;
  slot->world_size = g_config.world_size;
  slot->hook_misses = g_local.misses;
  // What was read before the hooks counted (the loader's own reads of libraries) is no gap.
  const uint64_t kernel = KernelReadBytes();
  slot->rchar_at_start = kernel > slot->bytes_hooked ? kernel - slot->bytes_hooked : 0;
  slot->rchar_last = kernel;
  slot->hooked_last = slot->bytes_hooked;
  size_t n = sys::ReadFile("/proc/self/comm", slot->comm, sizeof slot->comm);
  if (n > 0 && slot->comm[n - 1] == '\n') {
    slot->comm[n - 1] = 0;
  }
}

// The program that ran in this process before exec() has a slot that counts no longer.
void RetireEarlierSlot(const wire::ProcessSlot* own) {
  for (uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    wire::ProcessSlot* slot = &g_header->processes[i];
    const uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    if (state == wire::kProcessFree) {
      return;  // slots are handed out from the front
    }
    if (slot != own && state == wire::kProcessLive && slot->pid == own->pid &&
        slot->process_start == own->process_start) {
      __atomic_store_n(&slot->state, uint32_t{wire::kProcessReplaced}, __ATOMIC_RELEASE);
    }
  }
}

bool ClaimSlot() {
  for (uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    wire::ProcessSlot* slot = &g_header->processes[i];
    uint32_t expected = wire::kProcessFree;
    if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) == wire::kProcessFree &&
        __atomic_compare_exchange_n(&slot->state, &expected, uint32_t{wire::kProcessClaimed}, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      FillSlot(slot);
      RetireEarlierSlot(slot);
      g_slot = slot;
      StartAudit();
      __atomic_store_n(&slot->state, uint32_t{wire::kProcessLive}, __ATOMIC_RELEASE);
      g_slot = slot;
      g_slot_index = i;
      return true;
    }
  }
  return false;
}

uint32_t g_announce = 0;  // the command line has yet to be written

void EmitCommandLine() {
  char text[2048];
  size_t size = sys::ReadFile("/proc/self/cmdline", text, sizeof text);
  while (size > 0 && text[size - 1] == 0) {
    --size;
  }
  for (size_t i = 0; i < size; ++i) {
    if (text[i] == 0) {
      text[i] = 0x1f;
    }
  }
  WriteText(wire::kTextCommand, 1, text, size);
}

// Takes the right to attach. False: another thread has attached (`*token` is set) or this very
// thread is attaching and was interrupted by a signal handler that reads.
bool LockInit(uint64_t* token) {
  constexpr int kPatience = 2000;  // 100 us each: a disk that is slow to make a file
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
    // Held by a thread of the parent at the moment of the fork: it does not exist here.
    if (holder >> 32 != self >> 32 &&
        __atomic_compare_exchange_n(&g_init_lock, &holder, self, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
    struct timespec pause = {0, 100000};
    sys::Call(SYS_nanosleep, sys::Pointer(&pause), 0);
    *token = *g_guard;
    if (*token != 0 || g_failed != 0) {
      return false;
    }
  }
  return false;
}

// Under g_init_lock.
bool Initialise() {
  if (g_guard == &g_unset_guard && !MakeGuard()) {
    return false;
  }
  if (g_header == nullptr && !Attach()) {
    return false;
  }
  if (*g_guard == 0) {
    g_slot = nullptr;
    g_slot_index = wire::kMaxProcesses;
    NoteTimeNamespace(g_header);
    if (!ClaimSlot()) {
      g_without_slot = true;
      return false;
    }
    // Unique among the processes that share this memory image: the pid does, forked children of
    // one program have different ones as long as both live.
    const uint64_t token = (g_slot->process_start << 32) ^ g_slot->pid;
    *g_guard = token != 0 ? token : 1;
    return true;
  }
  return true;
}

}  // namespace

volatile uint64_t* g_guard = &g_unset_guard;
const uint32_t* g_recording = &kOff;

bool EnsureProcess(uint64_t* token) {
  *token = *g_guard;
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
  if (*token != 0) {  // done by the thread that held the lock before
    __atomic_store_n(&g_init_lock, uint64_t{0}, __ATOMIC_RELEASE);
    return true;
  }
  if (g_local_pid != 0 && g_local_pid != sys::Pid()) {
    g_local = {};  // a forked child: what its parent read is the parent's, attached or not
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

wire::ChunkHeader* ClaimChunk(wire::ChunkHeader* previous, uint32_t tid, uint32_t sequence,
                              uint64_t dropped, uint32_t writer, const char* name) {
  wire::ChunkHeader* chunk = nullptr;
  uint32_t index = 0;
  if (g_header->mode == wire::kRing) {
    auto* base = reinterpret_cast<char*>(g_header) + wire::kHeaderSize;
    for (index = 0; index < g_header->chunk_count && chunk == nullptr; ++index) {
      auto* candidate =
          reinterpret_cast<wire::ChunkHeader*>(base + uint64_t{index} * wire::kChunkSize);
      uint32_t expected = wire::kChunkFree;
      if (__atomic_load_n(&candidate->state, __ATOMIC_RELAXED) == wire::kChunkFree &&
          __atomic_compare_exchange_n(&candidate->state, &expected, uint32_t{wire::kChunkOwned},
                                      false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        chunk = candidate;
      }
    }
    --index;
  } else {
    chunk = ClaimLinearChunk(&index);
    Audit();
    if (chunk != nullptr && previous != nullptr) {
      __atomic_store_n(&previous->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
      sys::Unmap(previous, wire::kChunkSize);
      previous = nullptr;
    }
  }
  if (chunk == nullptr) {
    return nullptr;
  }
  __atomic_store_n(&chunk->magic, wire::kChunkMagic, __ATOMIC_RELAXED);
  chunk->index = index;
  chunk->process = g_slot_index;
  chunk->sequence = sequence;
  chunk->process_start = g_slot->process_start;
  chunk->dropped = dropped;
  chunk->writer = writer;
  if (name != nullptr) {
    Text text{chunk->thread_name, sizeof chunk->thread_name};
    text.Add(name);
  } else {
    sys::Call(SYS_prctl, 16 /* PR_GET_NAME */, sys::Pointer(chunk->thread_name));
  }
  chunk->anchor = TakeAnchor();
  chunk->tid = tid;
  __atomic_store_n(&chunk->pid, g_slot->pid, __ATOMIC_RELEASE);
  if (chunk->state != wire::kChunkOwned) {
    __atomic_store_n(&chunk->state, uint32_t{wire::kChunkOwned}, __ATOMIC_RELEASE);
  }
  return chunk;
}

void StandDown(uint32_t feature) {
  if (ThreadState* s = Recording() ? Self() : nullptr; s != nullptr) {
    FlushDirtyFiles(s);
    SetFeature(feature);
  }
  g_config.on = false;  // children that are exec'ed are not brought back either
  __atomic_store_n(&g_recording, &kOff, __ATOMIC_RELEASE);
  g_failed = 1;
  if (g_guard != &g_unset_guard) {
    *g_guard = 0;
  }
}

void NoteProcess() {
  g_local_pid = sys::Pid();
}

namespace {

// A forked child counts into its own locals until it has claimed its own slot.
wire::ProcessSlot* OwnSlot() {
  if (g_slot == nullptr) {
    return nullptr;
  }
  if (*g_guard == 0) {
    uint64_t token;
    return EnsureProcess(&token) ? g_slot : nullptr;
  }
  return g_slot;
}

void Add(uint64_t* local, uint64_t wire::ProcessSlot::*field, uint64_t value) {
  wire::ProcessSlot* slot = OwnSlot();
  __atomic_fetch_add(slot != nullptr ? &(slot->*field) : local, value, __ATOMIC_RELAXED);
}

}  // namespace

void AddHooked(uint64_t bytes) {
  Add(&g_local.hooked, &wire::ProcessSlot::bytes_hooked, bytes);
}
void AddDataset(uint64_t bytes) {
  Add(&g_local.dataset, &wire::ProcessSlot::bytes_dataset, bytes);
}
void AddNetwork(uint64_t bytes) {
  Add(&g_local.network, &wire::ProcessSlot::bytes_network, bytes);
}
void AddMapped(uint64_t bytes) {
  Add(&g_local.mapped, &wire::ProcessSlot::bytes_mapped, bytes);
  SetFeature(wire::kFeatureMapped);
}

void SetFeature(uint32_t feature) {
  __atomic_fetch_or(&g_local.features, feature, __ATOMIC_RELAXED);
  if (wire::ProcessSlot* slot = OwnSlot(); slot != nullptr) {
    __atomic_fetch_or(&slot->features, feature, __ATOMIC_RELAXED);
  }
}

void SetRole(uint32_t role, int32_t worker_id) {
  uint64_t token;
  if (EnsureProcess(&token)) {
    __atomic_store_n(&g_slot->worker_id, worker_id, __ATOMIC_RELAXED);
    __atomic_store_n(&g_slot->role, role, __ATOMIC_RELEASE);
  }
}

void CountMiss() {
  __atomic_fetch_add(&g_local.misses, 1u, __ATOMIC_RELAXED);
  if (wire::ProcessSlot* slot = OwnSlot(); slot != nullptr) {
    __atomic_fetch_add(&slot->hook_misses, 1u, __ATOMIC_RELAXED);
  }
}

void CountDropped(uint64_t records) {
  if (g_header != nullptr) {
    __atomic_fetch_add(&g_header->dropped, records, __ATOMIC_RELAXED);
  }
  if (g_slot != nullptr) {
    __atomic_fetch_add(&g_slot->dropped, records, __ATOMIC_RELAXED);
  }
}

void CountBatch() {
  if (g_header == nullptr) {
    return;
  }
  const uint64_t delivered = __atomic_add_fetch(&g_header->batches, uint64_t{1}, __ATOMIC_RELAXED);
  if (g_header->batch_limit != 0 && delivered >= g_header->batch_limit) {
    __atomic_store_n(&g_header->recording, 0u, __ATOMIC_RELEASE);
  }
}

}  // namespace penstock::agent
