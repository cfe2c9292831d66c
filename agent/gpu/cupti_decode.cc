// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_decode.h"

#include <sys/mman.h>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/device_records.h"
#include "agent/gpu/text_cache.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent::cupti {
namespace {

// A function of the driver or of the runtime. CUPTI is asked for its name once.
struct Function {
  bool known;  // CUPTI was asked
  bool kept;   // its calls get spans
  CallClass what;
  char text[56];
};
constexpr uint32_t kFunctions = 2048;
struct Tables {  // functions by CUPTI's number for them
  Function of_driver[kFunctions];
  Function of_runtime[kFunctions];
  NameCache kernels;
};
Tables* g_tables = nullptr;
Functions g_functions = {};
bool g_system_threads = true;
DecodeCounts g_counts = {};

template <class T>
T Field(const uint8_t* record, size_t offset) {
  T value;
  __builtin_memcpy(&value, record + offset, sizeof value);
  return value;
}

struct Times {
  uint64_t start;
  uint64_t end;
};

struct Context {
  const DeviceClock& clock;
  double ticks_per_ns;

  // Reads the times of a record. Returns false if they are missing or unusable.
  bool Read(const uint8_t* record, size_t start_at, size_t end_at, Times* times) const {
    const auto start = Field<uint64_t>(record, start_at);
    const auto end = Field<uint64_t>(record, end_at);
    if (start == 0 || end < start || !clock.Covers(start) || !clock.Covers(end)) {
      ++g_counts.unstamped;
      return false;
    }
    times->start = clock.ToTicks(start, ticks_per_ns);
    times->end = clock.ToTicks(end, ticks_per_ns);
    times->end = times->end < times->start ? times->start : times->end;
    return true;
  }
};

bool Contains(const char* text, const char* part) {
  return agent::Find(text, part) != nullptr;
}

// Tells what a call does. Returns false if the call gets no span, because it does not copy, launch,
// wait or allocate.
bool Classify(const char* name, CallClass* what) {
  if (Contains(name, "Synchronize")) {
    *what = CallClass::kSync;
    return true;
  }
  if (Contains(name, "Memcpy") || Contains(name, "Memset") || Contains(name, "MemPrefetch")) {
    *what = CallClass::kCopy;
    return true;
  }
  if (Contains(name, "Launch")) {
    *what = CallClass::kLaunch;
    return !Contains(name, "LaunchHostFunc");
  }
  *what = CallClass::kOther;
  static constexpr const char* kMemory[] = {"Malloc",   "cudaFree", "HostAlloc",     "HostRegister",
                                            "MemAlloc", "MemFree",  "HostUnregister"};
  for (const char* part : kMemory) {
    if (Contains(name, part)) {
      return true;
    }
  }
  return false;
}

// Returns the length of a name without the runtime's suffixes: cudaMemcpyAsync_ptsz_v7000 becomes
// cudaMemcpyAsync. The version in a driver function's name stays: cuMemcpyHtoDAsync_v2.
size_t WithoutVersion(const char* name) {
  size_t size = Length(name);
  size_t digits = size;
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
    --digits;
  }
  if (size - digits >= 4 && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_') {
    size = digits - 2;
  }
  if (EndsWith(name, size, "_ptsz") || EndsWith(name, size, "_ptds")) {
    size -= 5;
  }
  return size;
}

const Function* FunctionOf(bool runtime, uint32_t callback) {
  if (callback >= kFunctions) {
    return nullptr;
  }
  Function& f = (runtime ? g_tables->of_runtime : g_tables->of_driver)[callback];
  if (!f.known) {
    f.known = true;
    const char* name = nullptr;
    const uint32_t domain = runtime ? kRuntimeDomain : kDriverDomain;
    if (g_functions.callback_name(domain, callback, &name) == kSuccess && name != nullptr) {
      f.kept = Classify(name, &f.what);
      Text text{f.text, sizeof f.text};
      text.Add(name, WithoutVersion(name));
    }
  }
  return f.kept ? &f : nullptr;
}

const char* MemoryName(uint8_t kind) {
  switch (kind) {
    case kPageable:
      return " pageable";
    case kPinned:
      return " pinned";
    case kManaged:
      return " managed";
    default:
      return "";
  }
}

// The name of a kind of copy. Between host and device it also says what the host's memory is:
// pageable, pinned or managed.
const char* CopyText(uint8_t copy, uint8_t source, uint8_t destination) {
  struct Texts {
    char text[5][24];
    uint32_t made;
  };
  static Texts to_device;
  static Texts to_host;
  const bool up = copy == kHostToDevice || copy == kHostToArray;
  const bool down = copy == kDeviceToHost || copy == kArrayToHost;
  if (!up && !down) {
    if (copy >= kArrayToArray && copy <= kDeviceToDevice) return "D2D";
    return copy == kHostToHost ? "H2H" : copy == kPeerToPeer ? "P2P" : "copy";
  }
  const uint8_t host = up ? source : destination;
  const uint32_t at = host == kPageable ? 1 : host == kPinned ? 2 : host == kManaged ? 3 : 0;
  Texts& texts = up ? to_device : to_host;
  if ((texts.made >> at & 1) == 0) {
    Text text{texts.text[at], sizeof texts.text[at]};
    text.Add(up ? "H2D" : "D2H").Add(MemoryName(at == 0 ? uint8_t{0} : host));
    texts.made |= 1u << at;
  }
  return texts.text[at];
}

void Emit(const Times& times, const uint8_t* r, size_t device, size_t stream, size_t correlation,
          uint64_t bytes, Stage stage, const char* text, uint32_t name) {
  DeviceWork work = {};
  work.start = times.start;
  work.end = times.end;
  work.bytes = bytes;
  work.device = Field<uint32_t>(r, device);
  work.stream = Field<uint32_t>(r, stream);
  work.correlation = Field<uint32_t>(r, correlation);
  work.text = text;
  work.name = text != nullptr ? static_cast<uint32_t>(CachedName(&g_tables->kernels, text)) : name;
  work.stage = stage;
  AddWork(work);
}

void DecodeApi(const uint8_t* r, bool runtime, const Context& in) {
  const Function* f = FunctionOf(runtime, Field<uint32_t>(r, at::Api::kCallback));
  Times times;
  if (f == nullptr || !in.Read(r, at::Api::kStart, at::Api::kEnd, &times)) {
    return;
  }
  // Where CUPTI cannot give Linux thread ids, `thread` is the lower half of a pthread_t. It then
  // becomes a number above every Linux thread id.
  const auto thread = Field<uint32_t>(r, at::Api::kThread);
  const uint32_t tid = g_system_threads ? thread : (thread >> 8 | 0x40000000u) & 0x7fffffffu;
  AddCall({times.start, times.end, Field<uint32_t>(r, at::Api::kCorrelation), tid, f->text, f->what,
           runtime});
}

struct CostName {
  uint32_t what;
  const char* text;
  bool of_cupti;
};
constexpr CostName kCosts[] = {
    {kCostCompiler, "JIT compilation", false},
    {kCostModuleLoading, "module loading", false},
    {kCostLazyLoading, "lazy loading", false},
    {kCostCommandsFull, "command buffer full", false},
    {kCostFlush, "CUPTI: buffer flush", true},
    {kCostInstrumentation, "CUPTI: instrumentation", true},
    {kCostResources, "CUPTI: resources", true},
    {kCostRequest, "CUPTI: buffer request", true},
    {kCostManaged, "CUPTI: managed memory", true},
};

// Writes what CUPTI calls overhead: the time of a call that went into CUPTI's own work, or into
// work and waits that happen without CUPTI too, such as JIT compilation. The span is put on the
// flush thread, since not every version of CUPTI says which thread made the call.
void DecodeCost(const uint8_t* r, const Context& in) {
  Times times;
  if (!in.Read(r, at::Cost::kStart, at::Cost::kEnd, &times)) {
    return;
  }
  const char* text = "CUPTI: other";
  bool of_cupti = true;
  const auto what = Field<uint32_t>(r, at::Cost::kWhat);
  for (const CostName& known : kCosts) {
    if (known.what == what) {
      text = known.text;
      of_cupti = known.of_cupti;
    }
  }
  if (of_cupti) {
    g_counts.cost_ns += Field<uint64_t>(r, at::Cost::kEnd) - Field<uint64_t>(r, at::Cost::kStart);
  }
  EmitAt(agent::Context{}, {.stage = wire::kCall,
                            .name = static_cast<uint32_t>(CachedName(&g_tables->kernels, text)),
                            .start = times.start,
                            .duration = times.end - times.start});
}

// How many bytes of a record of this kind are read; 0 if the kind is unknown.
size_t SizeOf(uint32_t kind) {
  switch (kind) {
    case kMemcpy:
      return at::Copy::kSize;
    case kMemcpyPeer:
      return at::Peer::kSize;
    case kMemset:
      return at::Set::kSize;
    case kKernel:
    case kConcurrentKernel:
      return at::Launch::kSize;
    case kRuntime:
    case kDriver:
      return at::Api::kSize;
    case kSynchronization:
      return at::Sync::kSize;
    case kOverhead:
      return at::Cost::kSize;
    default:
      return 0;
  }
}

bool IsWork(uint32_t kind) {
  return kind == kMemcpy || kind == kMemcpyPeer || kind == kMemset || kind == kKernel ||
         kind == kConcurrentKernel;
}

void DecodeKnown(const uint8_t* r, uint32_t kind, const Context& in) {
  Times times;
  switch (kind) {
    case kMemcpy:
      if (in.Read(r, at::Copy::kStart, at::Copy::kEnd, &times)) {
        const auto copy = Field<uint8_t>(r, at::Copy::kCopyKind);
        Emit(times, r, at::Copy::kDevice, at::Copy::kStream, at::Copy::kCorrelation,
             Field<uint64_t>(r, at::Copy::kBytes),
             copy == kHostToDevice || copy == kHostToArray ? wire::kH2d : wire::kCopy,
             CopyText(copy, Field<uint8_t>(r, at::Copy::kSource),
                      Field<uint8_t>(r, at::Copy::kDestination)),
             0);
      }
      return;
    case kMemcpyPeer:
      if (in.Read(r, at::Peer::kStart, at::Peer::kEnd, &times)) {
        Emit(times, r, at::Peer::kDevice, at::Peer::kStream, at::Peer::kCorrelation,
             Field<uint64_t>(r, at::Peer::kBytes), wire::kCopy, "P2P", 0);
      }
      return;
    case kMemset:
      if (in.Read(r, at::Set::kStart, at::Set::kEnd, &times)) {
        Emit(times, r, at::Set::kDevice, at::Set::kStream, at::Set::kCorrelation,
             Field<uint64_t>(r, at::Set::kBytes), wire::kCopy, "memset", 0);
      }
      return;
    case kKernel:
    case kConcurrentKernel:
      if (in.Read(r, at::Launch::kStart, at::Launch::kEnd, &times)) {
        const auto* name = Field<const char*>(r, at::Launch::kName);
        Emit(times, r, at::Launch::kDevice, at::Launch::kStream, at::Launch::kCorrelation, 0,
             wire::kKernel, nullptr, static_cast<uint32_t>(CachedName(&g_tables->kernels, name)));
      }
      return;
    case kRuntime:
      DecodeApi(r, true, in);
      return;
    case kDriver:
      DecodeApi(r, false, in);
      return;
    case kSynchronization:
      if (in.Read(r, at::Sync::kStart, at::Sync::kEnd, &times)) {
        AddSync(Field<uint32_t>(r, at::Sync::kCorrelation), times.start, times.end);
      }
      return;
    case kOverhead:
      DecodeCost(r, in);
      return;
    default:
      return;
  }
}

// Decodes one record. `left`: bytes from the record's beginning to the end of the buffer. Returns
// the least number of bytes that the record takes.
size_t Decode(const uint8_t* r, size_t left, const Context& in) {
  const uint32_t kind = left >= sizeof kind ? Field<uint32_t>(r, at::kKind) : 0;
  const size_t size = SizeOf(kind);
  if (size == 0 || left < size) {
    ++g_counts.unknown;
    return sizeof kind;
  }
  ++g_counts.records;
  g_counts.copies += kind == kMemcpy || kind == kMemcpyPeer ? 1u : 0u;
  const uint64_t unstamped = g_counts.unstamped;
  DecodeKnown(r, kind, in);
  g_counts.unstamped_works += IsWork(kind) ? g_counts.unstamped - unstamped : 0;
  return size;
}

}  // namespace

bool PrepareDecoder(const Functions& functions, bool system_threads) {
  g_functions = functions;
  g_system_threads = system_threads;
  g_tables = static_cast<Tables*>(sys::Map(nullptr, sizeof(Tables), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return g_tables != nullptr;
}

Decoded DecodeBuffer(uint8_t* buffer, size_t valid, const DeviceClock& clock, double ticks_per_ns) {
  const Context in{clock, ticks_per_ns};
  const uint8_t* end = buffer + valid;
  uint8_t* record = nullptr;
  size_t read = 0;  // bytes from the beginning of the buffer
  Decoded decoded = {};
  const uint64_t unstamped = g_counts.unstamped_works;
  // No record is smaller than 8 bytes, so the loop ends even if the library never says "end".
  for (size_t left = valid / 8; left > 0; --left) {
    const Result result = g_functions.next_record(buffer, valid, &record);
    if (result != kSuccess || record == nullptr || record < buffer || record >= end) {
      decoded.unread = result != kMaxLimitReached ? valid - read : 0;
      break;
    }
    ++decoded.records;
    const auto at = static_cast<size_t>(record - buffer);
    const size_t size = Decode(record, valid - at, in);
    read = at + size < valid ? at + size : valid;
  }
  // Reports show the number of dropped events first, so work without times counts there too.
  CountDropped(g_counts.unstamped_works - unstamped);
  return decoded;
}

DecodeCounts CountDecoded() {
  return g_counts;
}

}  // namespace penstock::agent::cupti
