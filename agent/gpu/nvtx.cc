// SPDX-License-Identifier: Apache-2.0
//
// The agent as an NVTX injection library: ranges and marks of the program become `mark` spans.
// Every module of the program that uses NVTX has a copy of NVTX in it. At the first use of a copy,
// NVTX calls InitializeInjectionNvtx2(), which fills the copy's function table. From then on, calls
// through this copy come here directly.
// Threads: every callback acts on the calling thread's own stack of ranges. Domains and open
// start/end ranges are in bounded tables of atomics. Nobody waits, and nothing is allocated but the
// memory of each thread's stack.

#include "agent/gpu/nvtx_abi.h"

#include <sys/mman.h>

#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/level.h"
#include "agent/gpu/nvtx_domains.h"
#include "agent/gpu/text_cache.h"
#include "agent/hooks/hook.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {

// The ranges that a thread has pushed. Those that do not fit on the stack get no span. They are
// only counted, by domain, so that their pops do not end ranges of the stack.
struct NvtxThread {
  static constexpr uint32_t kDepth = 64;
  struct Range {
    uint64_t start;
    uint64_t domain;  // string id, 0: the default one
    uint32_t name;
    uint32_t reserved;
    Context context;
  };
  uint64_t token;  // of the process that pushed (a forked child begins anew); 0: the thread ended
  uint32_t depth;
  uint32_t beyond;  // ranges pushed on top of a full stack; each is newer than all of the stack
  uint32_t beyond_of[nvtx::kDomains + 1];  // those of each domain, by PlaceOf()
  Range stack[kDepth];
  NameCache names;
};

void CloseRanges(NvtxThread* nvtx) {
  if (nvtx != nullptr) {
    nvtx->token = 0;
  }
}

namespace {

using nvtx::DomainId;
using nvtx::EventAttributes;
using nvtx::PlaceOf;

// Ranges between Start and End, which may be on different threads. The id of a range is its running
// number plus kOpenRanges; its low ten bits are the index of the range's entry. No two ranges have
// the same id, so an End without its Start ends nothing.
struct OpenRange {
  uint64_t id;  // atomic: 0 free, 1 being written
  uint64_t start;
  uint64_t domain;
  uint64_t name;
  Context context;
};
constexpr uint64_t kOpenRanges = 1024;  // a power of two
OpenRange g_open[kOpenRanges];
uint64_t g_range_number = 0;

NvtxThread* OfThread(ThreadState* s) {
  NvtxThread* t = s->nvtx;
  if (__builtin_expect(t == nullptr, 0)) {
    t = static_cast<NvtxThread*>(sys::Map(nullptr, sizeof(NvtxThread), PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (t == nullptr) {
      return nullptr;
    }
    s->nvtx = t;
  }
  if (__builtin_expect(t->token != s->token, 0)) {
    t->token = s->token;
    t->depth = t->beyond = 0;
    __builtin_memset(t->beyond_of, 0, sizeof t->beyond_of);
  }
  return t;
}

uint64_t RegisteredId(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle) >> 1 & 0xffffffffu;
}

// Id of the message of `a`; 0 if there is none, or `a` is of a version too old to have one.
uint64_t MessageOf(NvtxThread* t, const EventAttributes* a) {
  if (a == nullptr || a->size < sizeof(EventAttributes) || a->message == nullptr) {
    return 0;
  }
  switch (a->message_type) {
    case nvtx::kAscii:
      return CachedName(&t->names, static_cast<const char*>(a->message));
    case nvtx::kUnicode:
      return CachedName(&t->names, static_cast<const wchar_t*>(a->message));
    case nvtx::kRegistered:
      return RegisteredId(a->message);
    default:
      return 0;
  }
}

struct Here {
  ThreadState* state = nullptr;
  NvtxThread* nvtx = nullptr;
  explicit operator bool() const { return nvtx != nullptr; }
};

inline Here Enter() {
  Here here;
  if (Recording() && (here.state = Self()) != nullptr) {
    here.nvtx = OfThread(here.state);
  }
  return here;
}

inline int PushId(const Here& here, uint64_t domain, uint64_t name) {
  NvtxThread* t = here.nvtx;
  if (__builtin_expect(t->depth == NvtxThread::kDepth || t->beyond != 0, 0)) {
    ++t->beyond;
    ++t->beyond_of[PlaceOf(domain)];
    return static_cast<int>(t->depth + t->beyond) - 1;
  }
  NvtxThread::Range& range = t->stack[t->depth];
  range.domain = domain;
  range.name = static_cast<uint32_t>(name);
  range.context = here.state->context;
  range.start = Now();
  return static_cast<int>(t->depth++);
}

// The span of a range or a mark. A mark's end is its start.
FinishedSpan MarkOf(uint64_t domain, uint64_t name, uint64_t start, uint64_t end) {
  return {.stage = wire::kMark,
          .name = static_cast<uint32_t>(name),
          .start = start,
          .duration = end > start ? end - start : 0,
          .object = domain};
}

// Pops the innermost range of `domain`. Ranges nest within a domain, but not across domains.
int PopFrom(uint64_t domain) {
  const uint64_t end = Now();
  const Here here = Enter();
  if (!here) {
    return nvtx::kNoTracking;
  }
  NvtxThread* t = here.nvtx;
  if (__builtin_expect(t->beyond != 0, 0)) {
    uint32_t& count = t->beyond_of[PlaceOf(domain)];
    if (count != 0) {
      --count;
      return static_cast<int>(t->depth + --t->beyond);
    }
  }
  uint32_t at = t->depth;
  while (at > 0 && t->stack[at - 1].domain != domain) {
    --at;
  }
  if (at == 0) {
    return nvtx::kNoTracking;  // pushed before the recording, or by the parent process
  }
  const NvtxThread::Range range = t->stack[at - 1];
  for (uint32_t i = at; i < t->depth; ++i) {
    t->stack[i - 1] = t->stack[i];
  }
  --t->depth;
  EmitMark(here.state, range.context, MarkOf(range.domain, range.name, range.start, end), at - 1);
  return static_cast<int>(at - 1);
}

uint64_t StartId(const Here& here, uint64_t domain, uint64_t name) {
  for (uint64_t i = 0; i < 8; ++i) {
    const uint64_t number = __atomic_add_fetch(&g_range_number, uint64_t{1}, __ATOMIC_RELAXED);
    OpenRange& open = g_open[number & (kOpenRanges - 1)];
    uint64_t expected = 0;
    if (__atomic_compare_exchange_n(&open.id, &expected, uint64_t{1}, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      open.start = Now();
      open.domain = domain;
      open.name = name;
      open.context = here.state->context;
      const uint64_t id = number + kOpenRanges;  // never 0 nor 1
      __atomic_store_n(&open.id, id, __ATOMIC_RELEASE);
      return id;
    }
  }
  CountDropped(1);
  return 0;
}

void EndId(uint64_t id) {
  const uint64_t end = Now();
  const Here here = Enter();
  if (!here || id <= 1) {
    return;
  }
  OpenRange& open = g_open[id & (kOpenRanges - 1)];
  if (!__atomic_compare_exchange_n(&open.id, &id, uint64_t{1}, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  const OpenRange range = open;
  __atomic_store_n(&open.id, uint64_t{0}, __ATOMIC_RELEASE);
  EmitMark(here.state, range.context, MarkOf(range.domain, range.name, range.start, end),
           here.nvtx->depth);
}

void MarkId(const Here& here, uint64_t domain, uint64_t name) {
  const uint64_t now = Now();
  EmitMark(here.state, here.state->context, MarkOf(domain, name, now, now), here.nvtx->depth);
}

// ---- what NVTX calls ----------------------------------------------------------------------------

int RangePushA(const char* text) {
  const Here here = Enter();
  return here ? PushId(here, 0, CachedName(&here.nvtx->names, text)) : nvtx::kNoTracking;
}
int RangePushW(const wchar_t* text) {
  const Here here = Enter();
  return here ? PushId(here, 0, CachedName(&here.nvtx->names, text)) : nvtx::kNoTracking;
}
int DomainRangePushEx(const void* domain, const EventAttributes* a) {
  const Here here = Enter();
  return here ? PushId(here, DomainId(domain), MessageOf(here.nvtx, a)) : nvtx::kNoTracking;
}
int RangePushEx(const EventAttributes* a) {
  return DomainRangePushEx(nullptr, a);
}
int RangePop() {
  return PopFrom(0);
}
int DomainRangePop(const void* domain) {
  return PopFrom(DomainId(domain));
}

uint64_t RangeStartA(const char* text) {
  const Here here = Enter();
  return here ? StartId(here, 0, CachedName(&here.nvtx->names, text)) : 0;
}
uint64_t RangeStartW(const wchar_t* text) {
  const Here here = Enter();
  return here ? StartId(here, 0, CachedName(&here.nvtx->names, text)) : 0;
}
uint64_t DomainRangeStartEx(const void* domain, const EventAttributes* a) {
  const Here here = Enter();
  return here ? StartId(here, DomainId(domain), MessageOf(here.nvtx, a)) : 0;
}
uint64_t RangeStartEx(const EventAttributes* a) {
  return DomainRangeStartEx(nullptr, a);
}
void RangeEnd(uint64_t id) {
  EndId(id);
}
void DomainRangeEnd(const void* /*domain*/, uint64_t id) {
  EndId(id);
}

void MarkA(const char* text) {
  if (const Here here = Enter()) {
    MarkId(here, 0, CachedName(&here.nvtx->names, text));
  }
}
void MarkW(const wchar_t* text) {
  if (const Here here = Enter()) {
    MarkId(here, 0, CachedName(&here.nvtx->names, text));
  }
}
void DomainMarkEx(const void* domain, const EventAttributes* a) {
  if (const Here here = Enter()) {
    MarkId(here, DomainId(domain), MessageOf(here.nvtx, a));
  }
}
void MarkEx(const EventAttributes* a) {
  DomainMarkEx(nullptr, a);
}

void NameOsThreadA(uint32_t tid, const char* name) {
  if (Recording() && name != nullptr && tid == sys::Tid()) {
    EmitText(wire::kTextThread, 1, name, Length(name));
  }
}

template <class Char>
void* CreateDomain(const Char* name) {
  const Here here = Enter();
  return nvtx::DomainNamed(here ? CachedName(&here.nvtx->names, name) : 0);
}
void* DomainCreateA(const char* name) {
  return CreateDomain(name);
}
void* DomainCreateW(const wchar_t* name) {
  return CreateDomain(name);
}

template <class Char>
void* RegisterString(const Char* text) {
  const Here here = Enter();
  const uint64_t id = here ? CachedName(&here.nvtx->names, text) & 0xffffffffu : 0;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(id) << 1 | 1);
}
void* DomainRegisterStringA(const void* /*domain*/, const char* text) {
  return RegisterString(text);
}
void* DomainRegisterStringW(const void* /*domain*/, const wchar_t* text) {
  return RegisterString(text);
}

template <class Function>
nvtx::AnyFunction* Any(Function* function) {
  return reinterpret_cast<nvtx::AnyFunction*>(function);
}

void Fill(const nvtx::ExportTableCallbacks* table, uint32_t module,
          nvtx::AnyFunction* const* functions, uint32_t count) {
  nvtx::AnyFunction*** slots = nullptr;
  unsigned size = 0;
  if (table->get_module_function_table(module, &slots, &size) == 0 || slots == nullptr) {
    return;
  }
  for (uint32_t i = 1; i < count && i < size; ++i) {
    if (functions[i] != nullptr && slots[i] != nullptr) {
      *slots[i] = functions[i];
    }
  }
}

// Always returns 1, since NVTX unloads a tool that returns 0.
int Initialise(nvtx::GetExportTable* get) {
  const int saved = errno;
  if (get != nullptr && g_config.on && AskedGpuLevel() != GpuLevel::kOff) {
    const auto* table = static_cast<const nvtx::ExportTableCallbacks*>(get(nvtx::kCallbacksTable));
    if (table != nullptr && table->size >= sizeof *table &&
        table->get_module_function_table != nullptr) {
      nvtx::AnyFunction* core[nvtx::kCoreEnd] = {};
      core[nvtx::kMarkEx] = Any(MarkEx);
      core[nvtx::kMarkA] = Any(MarkA);
      core[nvtx::kMarkW] = Any(MarkW);
      core[nvtx::kRangeStartEx] = Any(RangeStartEx);
      core[nvtx::kRangeStartA] = Any(RangeStartA);
      core[nvtx::kRangeStartW] = Any(RangeStartW);
      core[nvtx::kRangeEnd] = Any(RangeEnd);
      core[nvtx::kRangePushEx] = Any(RangePushEx);
      core[nvtx::kRangePushA] = Any(RangePushA);
      core[nvtx::kRangePushW] = Any(RangePushW);
      core[nvtx::kRangePop] = Any(RangePop);
      core[nvtx::kNameOsThreadA] = Any(NameOsThreadA);
      Fill(table, nvtx::kModuleCore, core, nvtx::kCoreEnd);
      nvtx::AnyFunction* core2[nvtx::kCore2End] = {};
      core2[nvtx::kDomainMarkEx] = Any(DomainMarkEx);
      core2[nvtx::kDomainRangeStartEx] = Any(DomainRangeStartEx);
      core2[nvtx::kDomainRangeEnd] = Any(DomainRangeEnd);
      core2[nvtx::kDomainRangePushEx] = Any(DomainRangePushEx);
      core2[nvtx::kDomainRangePop] = Any(DomainRangePop);
      core2[nvtx::kDomainRegisterStringA] = Any(DomainRegisterStringA);
      core2[nvtx::kDomainRegisterStringW] = Any(DomainRegisterStringW);
      core2[nvtx::kDomainCreateA] = Any(DomainCreateA);
      core2[nvtx::kDomainCreateW] = Any(DomainCreateW);
      Fill(table, nvtx::kModuleCore2, core2, nvtx::kCore2End);
    }
  }
  errno = saved;
  return 1;
}

}  // namespace
}  // namespace penstock::agent

// Version 2 and later of NVTX call the first function, version 1 the second. Both do the same.
PENSTOCK_EXPORT int InitializeInjectionNvtx2(penstock::agent::nvtx::GetExportTable* get) {
  return penstock::agent::Initialise(get);
}
PENSTOCK_EXPORT int InitializeInjectionNvtx(penstock::agent::nvtx::GetExportTable* get) {
  return penstock::agent::Initialise(get);
}
