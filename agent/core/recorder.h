// SPDX-License-Identifier: Apache-2.0
//
// The agent's recording core: what a hook calls around the real function. Nothing here allocates
// from the heap, locks, throws or changes errno. Most events make no system call. Exceptions are
// the first event of a thread, each new chunk (after 1008 records), and readings of CPU time and of
// page faults.
// Threads: all functions act on the calling thread's own state. A token or operation that one of
// them returned must not be passed in on another thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire.h"

namespace penstock::agent {

using wire::Stage;

// True while the recording is on. A hook that gets false calls the real function and does nothing
// else. Cost: two loads.
bool Recording();

// The time of the recording's clock, in its ticks (of the TSC, or monotonic nanoseconds).
uint64_t Now();

// Identifies an open span. A token may be lost without End() (longjmp, throw): the next Begin()
// from the same or an outer C frame then drops the span.
struct Token {
  uint32_t depth = 0;  // 0: not recorded
  uint32_t serial = 0;
};

// Opens a span on this thread. `name`: id from Intern() or Name(). `frame`:
// __builtin_frame_address(0) of the hook, by which a later Begin() finds spans that were left by
// longjmp. `cpu`: take thread CPU time, which may cost a system call at each end (only for long
// spans, never for reads).
Token Begin(Stage stage, uint32_t name, void* frame, bool cpu);
// Ends the span and writes its record. Drops spans that are still open inside it.
void End(Token token, uint64_t bytes, uint64_t object, uint8_t flags);
// Drops the span and those that are open inside it, without a record.
void Cancel(Token token);

// A span of which the caller knows start and duration. Units: ticks. `work` and `flags`: see
// traces/wire_records.h.
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
// Writes a finished span, with the sample and batch of the thread.
void Emit(const FinishedSpan& span);

// Number of open spans of `stage` on this thread. Codecs nest (cv::imread calls libjpeg). Inner
// spans are recorded too, but only the outermost one counts.
uint32_t OpenSpans(Stage stage);

// True where the program itself writes the spans of `stage` (traces/native_bridge.h): inside such a
// span of this thread, or everywhere once the program has claimed the stage. A hook then counts
// bytes and writes no span. A hook that follows an object over several calls asks this at the first
// call.
bool ProgramWrites(Stage stage);

// Returns the id of a string. Writes its text, unless a cache of about the last 131,000 ids says
// that this process, or the one it was forked from, has done so.
uint64_t Intern(const char* text, size_t size);
// The same for callers that remember the id themselves. False if there was no room for the text:
// call again.
bool InternAs(uint64_t* id, const char* text, size_t size);

// The id of a literal, computed at compile time; its text is written on first use by Name().
struct NameTag {
  const char* text;
  uint32_t size;
  uint32_t id;       // low 32 bits of wire::HashOf
  uint32_t written;  // atomic; 0: the text was not written yet
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
  const void* key;     // the object; nullptr: this entry is free
  uint64_t start;      // ticks
  uint64_t cpu_start;  // ns
  uint64_t bytes;
  uint64_t aborted;  // ticks: when the library may have abandoned the image; 0: it has not
  uint32_t phase;    // how far decoding has come, as a number of the hook
  uint32_t height;   // of the image, where the hook needs it
  bool in_call;      // inside the library; stays true if longjmp left it
  bool interlaced;   // row numbers restart with each pass
};
inline constexpr int kOperations = 8;
// Returns the operation of `key`; nullptr if there is none or `key` is null. (libpng ignores calls
// with a null struct.)
Operation* FindOperation(const void* key);
// Adds an operation; replaces the oldest if no entry is free. nullptr if `key` is null, the
// recording is off, or there is no memory.
Operation* AddOperation(const void* key);

// Notes in the recording which operation the thread is doing, for a reader that comes after the
// thread was killed. One operation at a time; HideOperation() removes the note.
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
