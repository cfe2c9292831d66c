// SPDX-License-Identifier: Apache-2.0
//
// The agent's recording core: what a hook calls around the real function. Nothing here allocates
// from the heap, locks, throws, changes errno, or makes a system call on the event path (claiming
// a chunk every 1008 records, and thread CPU time where asked for, excepted).
// Threads: all functions act on the calling thread's own state; none may be called with the
// result of another thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

using wire::Stage;

// True while the recording is on. One load when a trace is attached; a hook that gets false calls
// the real function and does nothing else.
bool Recording();

// Raw time in the recording's clock (TSC ticks or monotonic nanoseconds).
uint64_t Now();

// Identifies an open span. Plain value; dropping it without End() is allowed (longjmp, throw):
// the next Begin() of an outer frame heals the stack.
struct Token {
  uint32_t depth = 0;  // 0: not recorded
  uint32_t serial = 0;
};

// Opens a span on this thread. `name`: id from Intern() or NameOf(). `frame`: pass
// __builtin_frame_address(0) of the hook; a later Begin() from the same or an outer C frame drops
// spans that were left by longjmp. `cpu`: take thread CPU time (a system call at both ends; only
// for spans that are long, never for reads).
Token Begin(Stage stage, uint32_t name, void* frame, bool cpu);
// Closes it and everything still open inside it; writes the record.
void End(Token token, uint64_t bytes, uint64_t object, uint8_t flags);
// Forgets it and everything open inside it; writes nothing.
void Cancel(Token token);

// A span whose ends the caller knows. Times in ticks; `work` and `flags`: see wire.h.
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
// Writes it, at the thread's place in the loader.
void Emit(const FinishedSpan& span);

// Number of spans of `stage` open on this thread: codecs nest (cv::imread -> libjpeg), the
// outermost one counts, inner ones are still recorded.
uint32_t OpenSpans(Stage stage);

// True where the program itself writes the spans of `stage` (traces/native_bridge.h): in a span of
// its own on this thread, or everywhere once it has claimed the stage. A hook then counts bytes and
// writes no span; one that follows an object over several calls asks when it begins.
bool ProgramWrites(Stage stage);

// Id of a string; its text is written unless this process has done so lately (a cache of the last
// 131,072).
uint64_t Intern(const char* text, size_t size);
// The same for callers that remember the id themselves. False: the text found no room, ask again.
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

// Counts a call whose real function could not be found.
void CountMiss();

// Small per-thread scratch for hooks that follow an object over several calls (libjpeg, libpng).
// nullptr when not recording or out of memory.
struct Operation {
  const void* key;     // 0 = free
  uint64_t start;      // ticks
  uint64_t cpu_start;  // ns
  uint64_t bytes;
  uint64_t aborted;  // ticks: when the library may have given the image up; 0: it has not
  uint32_t phase;    // how far the image came, in the hook's own numbers
  uint32_t height;   // of the image, where the hook needs it
  bool in_call;      // inside the library; still set when it was left by longjmp
  bool interlaced;   // row numbers restart with each pass
};
inline constexpr int kOperations = 8;
Operation* FindOperation(const void* key);
Operation* AddOperation(const void* key);  // evicts the oldest

// Shows in the recording what the thread is in the middle of, should it be killed; one at a time.
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
