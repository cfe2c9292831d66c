// SPDX-License-Identifier: Apache-2.0
//
// The agent's recording core: what a hook calls around the real function. Nothing here allocates
// from the heap, locks, throws or changes errno. An event makes no system call, except to claim a
// chunk (once in 1008 records) and to read thread CPU time where that is asked for.
// Threads: all functions act on the calling thread's own state. A token or operation that one of
// them returned must not be passed in on another thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

using wire::Stage;

// True while the recording is on. A hook that gets false calls the real function and does nothing
// else. Cost: one load.
bool Recording();

// The time of the recording's clock, in its ticks (of the TSC, or monotonic nanoseconds).
uint64_t Now();

// Identifies an open span. A plain value. It may be dropped without End() (longjmp, throw): the
// next Begin() of the same or an outer frame then drops the span.
struct Token {
  uint32_t depth = 0;  // 0: not recorded
  uint32_t serial = 0;
};

// Opens a span on this thread. `name`: id from Intern() or Name(). `frame`:
// __builtin_frame_address(0) of the hook; a later Begin() from the same or an outer C frame drops
// spans that were left by longjmp. `cpu`: take thread CPU time, which costs a system call at both
// ends (only for long spans, never for reads).
Token Begin(Stage stage, uint32_t name, void* frame, bool cpu);
// Closes the span and everything still open inside it, and writes its record.
void End(Token token, uint64_t bytes, uint64_t object, uint8_t flags);
// Forgets the span and everything open inside it. Writes nothing.
void Cancel(Token token);

// A span whose ends the caller knows. Units: ticks. `work` and `flags`: see wire.h.
struct FinishedSpan {
  Stage stage;
  uint8_t flags = 0;
  uint32_t name = 0;
  uint64_t start = 0;
  uint64_t duration = 0;
  uint64_t work = 0;
  uint64_t bytes = 0;
  uint64_t object = 0;
};
// Writes such a span, with the sample and batch that the thread works at.
void Emit(const FinishedSpan& span);

// Number of open spans of `stage` on this thread. Codecs nest (cv::imread calls libjpeg): the
// outermost span counts, and inner ones are still recorded.
uint32_t OpenSpans(Stage stage);

// True where the program itself writes the spans of `stage` (traces/native_bridge.h): inside such a
// span of this thread, or everywhere once the program has claimed the stage. A hook then counts
// bytes and writes no span. A hook that follows an object over several calls asks this at the first
// one.
bool ProgramWrites(Stage stage);

// Returns the id of a string. Writes its text unless this process has done so lately (a cache holds
// the last 131,072 ids).
uint64_t Intern(const char* text, size_t size);
// The same for callers that remember the id themselves. False if there was no room for the text:
// ask again.
bool InternAs(uint64_t* id, const char* text, size_t size);

// The id of a literal, computed at compile time; its text is written on first use by Name().
struct NameTag {
  const char* text;
  uint32_t size;
  uint32_t id;     // low 32 bits of wire::HashOf
  uint32_t token;  // process token the text was last written for
};
uint32_t Name(NameTag* tag);

// Thread CPU time in nanoseconds (one system call).
uint64_t ThreadCpu();
// The same for all threads of the process together.
uint64_t ProcessCpu();

// Counts a call whose real function could not be found.
void CountMiss();

// What a thread keeps for a hook that follows an object over several calls (libjpeg, libpng).
struct Operation {
  const void* key;     // 0 = free
  uint64_t start;      // ticks
  uint64_t cpu_start;  // ns
  uint64_t bytes;
  uint64_t aborted;  // ticks: when the library may have abandoned the image; 0: it has not
  uint32_t phase;    // how far the image came, in the hook's own numbers
  uint32_t height;   // of the image, where the hook needs it
  bool in_call;      // inside the library; still set when it was left by longjmp
  bool interlaced;   // row numbers restart with each pass
};
inline constexpr int kOperations = 8;
Operation* FindOperation(const void* key);
// Evicts the oldest. nullptr if not recording, or out of memory.
Operation* AddOperation(const void* key);

// Puts into the recording what the thread is doing, for readers in case it is killed. One operation
// at a time.
void ShowOperation(Stage stage, uint32_t name, uint64_t start);
void HideOperation();

}  // namespace penstock::agent

// A static name: `static PENSTOCK_NAME(kDecode, "jpeg");` then Name(&kDecode).
#define PENSTOCK_NAME(var, literal)                               \
  ::penstock::agent::NameTag var = {literal, sizeof(literal) - 1, \
                                    ::penstock::agent::HashLiteral(literal), 0}

namespace penstock::agent {
constexpr uint32_t HashLiteral(const char* text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text != 0; ++text) {
    hash = (hash ^ static_cast<uint8_t>(*text)) * 0x100000001b3u;
  }
  return static_cast<uint32_t>(hash);
}
}  // namespace penstock::agent
