// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/device_records.h"

#include <sys/mman.h>

#include "agent/core/recorder.h"
#include "agent/gpu/deliveries.h"
#include "agent/gpu/text_cache.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

// Correlations count up, so each of the last kCalls has its own entry.
constexpr uint32_t kCalls = 1 << 16;
constexpr uint32_t kWaiting = 1 << 13;  // work whose call has not come
constexpr uint32_t kSyncs = 1 << 13;    // waits whose call has not come
constexpr uint32_t kLanes = 192;
constexpr uint32_t kPatience = 2;  // rounds that a call or work waits for its partner

struct Call {
  DeviceCall call;
  Context context;
  uint32_t round;
  bool known;
  bool written;
};
struct Waiting {
  DeviceWork work;
  uint32_t round;
};
struct Sync {
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t round;
};

// Mapped once. Zeroed memory is an empty table.
struct Tables {
  Call calls[kCalls];
  uint32_t order[kCalls];  // correlations of calls not written, oldest first
  Waiting waiting[kWaiting];
  Sync syncs[kSyncs];
  NameCache names;
};
Tables* g_tables = nullptr;
uint32_t g_first = 0;  // first index in `order`, modulo its size
uint32_t g_last = 0;
uint32_t g_waiting = 0;
uint32_t g_syncs = 0;
uint32_t g_round = 0;
DeviceCounts g_counts = {};

struct Lane {
  uint32_t tid;
  ThreadState* state;
};
Lane g_lanes[kLanes];
uint32_t g_lane_count = 0;
Lane g_last_lane = {0, nullptr};

void NameLane(uint32_t tid, Text& name) {
  if (wire::IsDeviceLane(tid)) {
    name.Add("GPU ").Number(wire::DeviceOfLane(tid)).Add(" stream ");
    name.Number(wire::StreamOfLane(tid));
    return;
  }
  char path[64];
  Text text{path, sizeof path};
  text.Add("/proc/self/task/").Number(tid).Add("/comm");
  char comm[32];
  size_t size = sys::ReadFile(path, comm, sizeof comm);
  if (size > 0 && comm[size - 1] == '\n') {
    --size;
  }
  name.Add(comm, size);
}

ThreadState* LaneFor(uint32_t tid) {
  if (g_last_lane.state != nullptr && g_last_lane.tid == tid) {
    return g_last_lane.state;
  }
  for (uint32_t i = 0; i < g_lane_count; ++i) {
    if (g_lanes[i].tid == tid) {
      g_last_lane = g_lanes[i];
      return g_last_lane.state;
    }
  }
  if (g_lane_count == kLanes) {
    return g_lanes[kLanes - 1].state;  // further streams and threads share the last lane
  }
  char text[64] = "";
  Text name{text, sizeof text};
  NameLane(tid, name);
  ThreadState* state = MakeLane(tid, text);
  if (state != nullptr) {
    g_last_lane = g_lanes[g_lane_count++] = {tid, state};
  }
  return state;
}

void WriteCall(Call& c, const char* started, uint64_t bytes) {
  c.written = true;
  char text[128];
  Text name{text, sizeof text};
  name.Add(c.call.text);
  if (started != nullptr) {
    name.Add(": ").Add(started);
  }
  Context context = c.context;
  context.sample = wire::SampleOfCorrelation(c.call.correlation);
  const Stage stage = c.call.what == CallClass::kSync ? wire::kSync : wire::kCall;
  EmitOnLane(LaneFor(c.call.tid), context,
             {.stage = stage,
              .name = static_cast<uint32_t>(CachedName(&g_tables->names, text)),
              .start = c.call.start,
              .duration = c.call.end - c.call.start,
              .bytes = bytes});
}

void WriteWork(const DeviceWork& work, const Context& of_call) {
  Context context = of_call;
  context.sample = wire::SampleOfCorrelation(work.correlation);
  EmitOnLane(LaneFor(wire::LaneOf(work.device, work.stream)), context,
             {.stage = work.stage,
              .name = work.name,
              .start = work.start,
              .duration = work.end - work.start,
              .bytes = work.bytes});
}

Call* Find(uint32_t correlation) {
  Call& c = g_tables->calls[correlation % kCalls];
  return c.known && c.call.correlation == correlation ? &c : nullptr;
}

bool Pair(const DeviceWork& work) {
  Call* c = Find(work.correlation);
  if (c == nullptr) {
    return false;
  }
  if (!c->written) {
    WriteCall(*c, work.text, work.bytes);
  }
  WriteWork(work, c->context);
  return true;
}

// Takes the oldest call out of `order`, and writes it if its work has not come.
void TakeOldest() {
  Call* oldest = Find(g_tables->order[g_first++ % kCalls]);
  if (oldest != nullptr && !oldest->written) {
    WriteCall(*oldest, nullptr, 0);
  }
}

// Writes work whose call is not known, with the batch that was delivered last before it.
void WriteAlone(const DeviceWork& work) {
  ++g_counts.unpaired;
  WriteWork(work, BatchAt(0, work.start));
}

// Writes a wait, unless its call says the same. False if the call is not known.
bool WriteSync(const Sync& sync) {
  const Call* c = Find(sync.correlation);
  if (c == nullptr) {
    return false;
  }
  if (c->call.what != CallClass::kSync) {
    Context context = c->context;
    context.sample = wire::SampleOfCorrelation(sync.correlation);
    static PENSTOCK_NAME(implied, "wait for the device");
    EmitOnLane(LaneFor(c->call.tid), context,
               {.stage = wire::kSync,
                .name = Name(&implied),
                .start = sync.start,
                .duration = sync.end - sync.start});
  }
  return true;
}

}  // namespace

bool PrepareDeviceRecords() {
  g_tables = static_cast<Tables*>(sys::Map(nullptr, sizeof(Tables), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return g_tables != nullptr;
}

void AddCall(const DeviceCall& call) {
  Call& c = g_tables->calls[call.correlation % kCalls];
  const bool again = c.known && c.call.correlation == call.correlation;
  if (again && (c.written || c.call.runtime || !call.runtime)) {
    return;
  }
  if (c.known && !c.written && !again) {
    WriteCall(c, nullptr, 0);
  }
  c = {call, BatchAt(call.tid, call.start), g_round, true, false};
  g_counts.calls += again ? 0u : 1u;
  if (call.what == CallClass::kSync || call.what == CallClass::kOther) {
    WriteCall(c, nullptr, 0);
  } else if (!again) {
    if (g_last - g_first == kCalls) {
      TakeOldest();
    }
    g_tables->order[g_last++ % kCalls] = call.correlation;
  }
}

void AddWork(const DeviceWork& work) {
  ++g_counts.works;
  if (Pair(work)) {
    return;
  }
  if (g_waiting == kWaiting) {
    WriteAlone(work);
    return;
  }
  g_tables->waiting[g_waiting++] = {work, g_round};
}

void AddSync(uint32_t correlation, uint64_t start, uint64_t end) {
  const Sync sync = {start, end, correlation, g_round};
  if (!WriteSync(sync) && g_syncs < kSyncs) {
    g_tables->syncs[g_syncs++] = sync;
  }
}

void EndRound(bool all) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g_waiting; ++i) {
    const Waiting& waiting = g_tables->waiting[i];
    if (Pair(waiting.work)) {
      continue;
    }
    if (all || g_round - waiting.round >= kPatience) {
      WriteAlone(waiting.work);
    } else {
      g_tables->waiting[kept++] = waiting;
    }
  }
  g_waiting = kept;
  kept = 0;
  for (uint32_t i = 0; i < g_syncs; ++i) {
    const Sync sync = g_tables->syncs[i];
    if (!WriteSync(sync) && g_round - sync.round < kPatience) {
      g_tables->syncs[kept++] = sync;
    }
  }
  g_syncs = kept;
  for (; g_first != g_last; ++g_first) {
    Call* c = Find(g_tables->order[g_first % kCalls]);
    if (c != nullptr && !c->written) {
      if (!all && g_round - c->round < kPatience) {
        break;
      }
      WriteCall(*c, nullptr, 0);
    }
  }
  ++g_round;
  for (uint32_t i = 0; all && i < g_lane_count; ++i) {
    PublishLane(g_lanes[i].state);
  }
}

DeviceCounts CountDeviceRecords() {
  return g_counts;
}

}  // namespace penstock::agent
