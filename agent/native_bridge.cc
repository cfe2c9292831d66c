// SPDX-License-Identifier: Apache-2.0
//
// The interface for native programs: implements traces/native_bridge.h with the recording core.
// Spans, events, counters, the place and the thread's name belong to the calling thread. Claimed
// stages, the role, facts and the cache of texts belong to the process, and the number of delivered
// batches to the whole run; all of these change by atomic operations, so any thread may call any
// function. errno is kept, since the core makes raw system calls.

#include "traces/native_bridge.h"

#include "agent/core/process.h"
#include "agent/core/text.h"
#include "agent/core/thread_state.h"
#include "agent/hooks/hook.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"

namespace penstock::agent {
namespace {

Context ContextOf(const PenstockPlace& place) {
  Context context;
  context.sample = place.sample;
  context.batch = place.batch;
  context.generation = static_cast<uint16_t>(place.generation);
  return context;
}

// The context of `place`, or the thread's own if `place` is null.
Context PlaceOr(const PenstockPlace* place, const ThreadState* state) {
  return place != nullptr ? ContextOf(*place) : state->context;
}

// A value that is no stage becomes kMark, which is not a stage of the data path.
Stage StageOf(uint32_t value) {
  return value > 0 && value < wire::kStageCount ? static_cast<Stage>(value) : wire::kMark;
}

int IsRecording() {
  return Recording() ? 1 : 0;
}

void Claim(uint32_t stages) {
  if (Recording()) {
    ClaimStages(stages);
    SetFeature(wire::kFeatureNative);
  }
}

uint64_t NowTicks() {
  uint64_t token;
  if (Recording()) {
    EnsureProcess(&token);  // attaching chooses the clock that Now() reads
  }
  return Now();
}

// Returns the same id without a recording, but then does not write the text.
uint64_t InternText(const char* text, size_t size) {
  if (text == nullptr || size == 0) {
    return 0;
  }
  size = size < kMaxText ? size : kMaxText;
  return Recording() ? Intern(text, size) : wire::HashOf(text, size);
}

PenstockToken BeginSpan(uint32_t stage, uint32_t name, const PenstockPlace* place, int cpu) {
  if (!Recording()) {
    return {0, 0};
  }
  Context context;
  if (place != nullptr) {
    context = ContextOf(*place);
  }
  const Token token =
      BeginNative(StageOf(stage), name, place != nullptr ? &context : nullptr, cpu != 0);
  return {token.depth, token.serial};
}

void EndSpan(PenstockToken token, uint64_t bytes, uint64_t object, uint32_t flags) {
  if (token.depth != 0) {
    End({token.depth, token.serial}, bytes, object, static_cast<uint8_t>(flags));
  }
}

void CancelSpan(PenstockToken token) {
  if (token.depth != 0) {
    Cancel({token.depth, token.serial});
  }
}

void EmitSpan(uint32_t stage, uint32_t name, const PenstockPlace* place, uint64_t start,
              uint64_t end, uint64_t bytes, uint64_t object, uint32_t flags) {
  if (!Recording() || start == 0 || end < start) {
    return;
  }
  if (const ThreadState* s = Self(); s != nullptr) {
    EmitAt(PlaceOr(place, s), {.stage = StageOf(stage),
                               .flags = static_cast<uint8_t>(flags),
                               .name = name,
                               .start = start,
                               .duration = end - start,
                               .bytes = bytes,
                               .object = object});
  }
}

// Events belong to a batch, never to a sample.
void EmitBatchEvent(uint32_t type, const PenstockPlace* place, int64_t value) {
  if (!Recording()) {
    return;
  }
  if (const ThreadState* s = Self(); s != nullptr) {
    Context context = PlaceOr(place, s);
    context.sample = wire::kNoSample;
    EmitEvent(static_cast<uint8_t>(type), context, value);
  }
}

void BatchDelivered(const PenstockPlace* place) {
  if (Recording()) {
    EmitBatchEvent(wire::kBatchDelivered, place, 0);
    CountBatch();
  }
}

void EmitCount(uint32_t name, int64_t value) {
  if (Recording()) {
    EmitCounter(name, value);
  }
}

void SetPlace(const PenstockPlace* place) {
  if (!Recording()) {
    return;
  }
  if (ThreadState* s = Self(); s != nullptr) {
    s->context = place != nullptr ? ContextOf(*place) : Context{};
  }
}

void EmitFact(const char* key, const char* value) {
  if (!Recording() || key == nullptr || value == nullptr) {
    return;
  }
  PENSTOCK_SCRATCH(line);
  Text text{line, kMaxText};
  text.Add(key).Add("=").Add(value);
  if (!text.cut) {
    EmitText(wire::kTextFact, wire::HashOf(key, Length(key)), line, text.size);
  }
}

void SetProcessRole(uint32_t role, int32_t worker_id) {
  if (Recording()) {
    SetRole(role, worker_id);
  }
}

void NameThread(const char* text) {
  constexpr uint64_t kAnyId = 1;  // any id: readers identify the thread by the chunk
  if (Recording() && text != nullptr) {
    EmitText(wire::kTextThread, kAnyId, text, Length(text));
  }
}

constexpr PenstockNativeBridge kBridge = {
    sizeof(PenstockNativeBridge),
    IsRecording,
    Claim,
    NowTicks,
    InternText,
    BeginSpan,
    EndSpan,
    CancelSpan,
    EmitSpan,
    EmitBatchEvent,
    BatchDelivered,
    EmitCount,
    SetPlace,
    EmitFact,
    SetProcessRole,
    NameThread,
};

}  // namespace
}  // namespace penstock::agent

PENSTOCK_EXPORT const PenstockNativeBridge* penstock_native_bridge() {
  return &penstock::agent::kBridge;
}
