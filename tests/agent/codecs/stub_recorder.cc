// SPDX-License-Identifier: Apache-2.0
//
// Implements recorder.h for tests of the codec hooks alone. Spans go to a fixed array; when the
// program ends, a destructor prints sums:
//   span NAME FLAGS: count N bytes B nested K stage S cpu C
// Tokens follow the agent's rules: the next Begin() from the same or an outer frame drops a span
// that a longjmp left open.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/core/recorder.h"

namespace penstock::agent {
namespace {

struct Span {
  uint32_t name;
  uint8_t stage;
  uint8_t flags;
  bool nested;
  bool sane;  // duration and CPU time are plausible
  uint64_t bytes;
};
constexpr uint32_t kSpans = 1u << 17;
Span spans[kSpans];
uint32_t span_count = 0;
uint32_t misses = 0;

struct Text {
  uint32_t id;
  const char* text;
};
Text texts[64];
uint32_t text_count = 0;

struct Open {
  char* frame;
  uint32_t serial;
  uint32_t name;
  Stage stage;
  uint64_t start;
  uint64_t cpu;
};
constexpr uint32_t kDepth = 16;
struct Thread {
  uint32_t depth = 0;
  uint32_t serial = 0;
  Open open[kDepth];
  Operation operations[kOperations];
  uint32_t next_operation = 0;
};
thread_local Thread thread;

uint64_t Clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void Write(Stage stage, uint32_t name, uint64_t duration, uint64_t work, uint64_t bytes,
           uint8_t flags) {
  const uint32_t index = __atomic_fetch_add(&span_count, 1, __ATOMIC_RELAXED);
  if (index >= kSpans) return;
  const bool sane = duration < 60000000000u && work < 60000000000u;
  spans[index] = {name, stage, flags, thread.depth != 0, sane, bytes};
}

const char* TextOf(uint32_t id) {
  for (const Text& text : texts) {
    if (text.id == id && text.text != nullptr) return text.text;
  }
  return "?";
}

bool Same(const Span& a, const Span& b) {
  return a.name == b.name && a.stage == b.stage && a.flags == b.flags;
}

__attribute__((destructor)) void Print() {
  const uint32_t count = span_count < kSpans ? span_count : kSpans;
  uint32_t insane = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!spans[i].sane) ++insane;
    if (spans[i].stage == 0) continue;
    uint64_t bytes = 0;
    uint32_t same = 0;
    uint32_t nested = 0;
    for (uint32_t j = i; j < count; ++j) {
      if (!Same(spans[i], spans[j]) || (j != i && spans[j].stage == 0)) continue;
      ++same;
      bytes += spans[j].bytes;
      nested += spans[j].nested ? 1u : 0u;
      if (j != i) spans[j].stage = 0;
    }
    printf("span %s%s: count %u bytes %llu nested %u stage %u cpu %u\n", TextOf(spans[i].name),
           (spans[i].flags & wire::kFlagError) != 0 ? " error" : "", same,
           static_cast<unsigned long long>(bytes), nested, spans[i].stage,
           spans[i].flags & wire::kFlagCpu);
  }
  printf("misses %u\ninsane %u\nleft %u\n", misses, insane, thread.depth);
  fflush(stdout);
}

}  // namespace

bool Recording() {
  static int on = -1;
  if (on < 0) on = getenv("STUB_OFF") == nullptr ? 1 : 0;
  return on == 1;
}

uint64_t Now() {
  return Clock(CLOCK_MONOTONIC);
}
uint64_t ThreadCpu() {
  return Clock(CLOCK_THREAD_CPUTIME_ID);
}

Token Begin(Stage stage, uint32_t name, void* frame, bool cpu) {
  char* const at = static_cast<char*>(frame);
  while (thread.depth > 0 && thread.open[thread.depth - 1].frame <= at) --thread.depth;
  if (thread.depth == kDepth) return {};
  const uint32_t serial = ++thread.serial;
  thread.open[thread.depth++] = {at, serial, name, stage, Now(), cpu ? ThreadCpu() : 0};
  return {thread.depth, serial};
}

void End(Token token, uint64_t bytes, uint64_t, uint8_t flags) {
  if (token.depth == 0 || token.depth > thread.depth) return;
  const Open& open = thread.open[token.depth - 1];
  if (open.serial != token.serial) return;
  thread.depth = token.depth - 1;
  uint64_t work = 0;
  if (open.cpu != 0) {
    work = ThreadCpu() - open.cpu;
    flags = static_cast<uint8_t>(flags | wire::kFlagCpu);
  }
  Write(open.stage, open.name, Now() - open.start, work, bytes, flags);
}

void Cancel(Token token) {
  if (token.depth != 0 && token.depth <= thread.depth) thread.depth = token.depth - 1;
}

void Emit(const FinishedSpan& span) {
  Write(span.stage, span.name, span.duration, span.work, span.bytes, span.flags);
}

uint32_t OpenSpans(Stage stage) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < thread.depth; ++i) count += thread.open[i].stage == stage ? 1u : 0u;
  return count;
}

bool ProgramWrites(Stage /*stage*/) {
  return false;
}

bool InternAs(uint64_t* id, const char* text, size_t size) {
  *id = wire::HashOf(text, size);
  return true;
}

uint64_t Intern(const char* text, size_t size) {
  return wire::HashOf(text, size);
}

uint32_t Name(NameTag* tag) {
  if (__atomic_exchange_n(&tag->written, 1, __ATOMIC_RELAXED) == 0) {
    const uint32_t index = __atomic_fetch_add(&text_count, 1, __ATOMIC_RELAXED);
    if (index < 64) texts[index] = {tag->id, tag->text};
  }
  return tag->id;
}

void CountMiss() {
  __atomic_fetch_add(&misses, 1, __ATOMIC_RELAXED);
}

Operation* FindOperation(const void* key) {
  if (!Recording()) return nullptr;
  for (Operation& operation : thread.operations) {
    if (operation.key == key) return &operation;
  }
  return nullptr;
}

Operation* AddOperation(const void* key) {
  if (!Recording()) return nullptr;
  Operation* chosen = nullptr;
  for (Operation& operation : thread.operations) {
    if (operation.key == nullptr) chosen = &operation;
  }
  if (chosen == nullptr) chosen = &thread.operations[thread.next_operation++ % kOperations];
  *chosen = Operation{};
  chosen->key = key;
  return chosen;
}

void ShowOperation(Stage /*stage*/, uint32_t /*name*/, uint64_t /*start*/) {}
void HideOperation() {}

}  // namespace penstock::agent
