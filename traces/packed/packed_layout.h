// SPDX-License-Identifier: Apache-2.0
//
// Byte layout of a packed trace; traces/FORMAT.md describes it in prose. A finished file consists
// of PackedHeader, sections and PackedFooter, and its last section is the table of contents. An
// unfinished file may end after any byte. Little-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::traces::packed {

inline constexpr char kMagic[8] = {'P', 'E', 'N', 'S', 'T', 'P', 'A', 'K'};
inline constexpr char kEndMagic[8] = {'P', 'E', 'N', 'S', 'T', 'E', 'N', 'D'};
inline constexpr std::uint16_t kMajor = 1;                  // must match
inline constexpr std::uint16_t kMinor = 0;                  // may grow: readers accept any
inline constexpr std::uint32_t kSectionMagic = 0x43455350;  // "PSEC"
inline constexpr std::uint32_t kSpansPerBlock = 64 * 1024;
inline constexpr std::uint32_t kMaxSectionBytes = 64 * 1024 * 1024;  // before compression
inline constexpr std::uint32_t kMaxThreads = 1u << 20;
inline constexpr std::uint32_t kMaxProcesses = 1u << 20;

// The largest gaps in the ids of texts, and in the indices of processes or threads. A gap comes
// from damaged sections. Readers reject a larger gap: a forged number could ask for much memory.
inline constexpr std::uint32_t kMaxStringGap = 1u << 20;
inline constexpr std::uint32_t kMaxIndexGap = 1u << 16;

// No recorded time or duration is further from 0 than this, so that sums of three do not overflow.
inline constexpr std::int64_t kMaxTime = std::int64_t{1} << 61;

// Values are part of the format: append only. Readers skip kinds that they do not know.
enum SectionKind : std::uint16_t {
  kSpans = 1,      // one block of one thread: columns
  kStrings = 2,    // runs of texts; a later text replaces an earlier one of the same id
  kProcesses = 3,  // the last record of an index counts
  kThreads = 4,    // the last record of an index counts
  kFacts = 5,      // the last record of a key counts
  kEvents = 6,
  kCounters = 7,
  kSummary = 8,        // losses and clock offset; the last one counts
  kContents = 9,       // the headers of sections of all other kinds, with their offsets
  kPreview = 10,       // the preview of one thread
  kContentsList = 11,  // if there are several kContents: the header of each with its offset
  kMark = 12,          // the end of a flush: everything added before the flush comes before it
  kUnits = 13,         // followed samples, batches and steps
  kCalls = 14,         // nodes of their call trees
};

// SectionHeader::flags
inline constexpr std::uint16_t kFlagZstd = 1;  // the payload is one zstd frame

// Columns of a kSpans payload. Readers skip ids that they do not know. Start, duration, clocks,
// stage and depth are required; flags are always written. CPU and busy time are left out if no span
// has them. Any other column is left out if all its values are zero; for a column of differences
// that means the initial value in every span (sample: kNoSample, batch: kNoBatch, object and
// generation: 0).
enum ColumnId : std::uint8_t {
  kColumnStart = 1,     // zigzag(start - expected start)
  kColumnDuration = 2,  // ns
  kColumnClocks = 3,    // u8: 1 = has cpu, 2 = has busy
  kColumnCpu = 4,       // zigzag(duration - cpu), only where present
  kColumnBusy = 5,      // zigzag(duration - busy), only where present
  kColumnBytes = 6,
  kColumnSample = 7,      // zigzag of the difference to the span before
  kColumnObject = 8,      // zigzag of the difference to the span before, modulo 2^32
  kColumnName = 9,        // string id
  kColumnStage = 10,      // u8
  kColumnFlags = 11,      // u8
  kColumnDepth = 12,      // u8
  kColumnBatch = 13,      // zigzag of the difference to the span before, modulo 2^32
  kColumnGeneration = 14  // zigzag of the difference to the span before
};
inline constexpr std::uint8_t kColumnCount = 15;  // one more than the largest id; 0 is not used

struct PackedHeader {
  char magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t header_size;
  std::uint64_t reserved[6];
};

struct SectionHeader {
  std::uint32_t magic;
  std::uint16_t kind;
  std::uint16_t flags;
  std::uint32_t stored_size;    // bytes that follow this header
  std::uint32_t raw_size;       // bytes before compression
  std::uint32_t items;          // spans in the block; kPreview: levels; else entries or rows
  std::uint32_t thread;         // kSpans, kPreview
  std::int64_t first;           // kSpans: start of the first span; kPreview: begin of the trace;
                                // kEvents, kCounters, kUnits, kCalls: earliest row (old files: 0)
  std::int64_t last;            // kSpans: latest end; kPreview: end of the trace; rows: latest row
  std::uint64_t payload_check;  // XXH64 of the stored payload
  std::uint64_t reserved;
  std::uint64_t header_check;  // XXH64 of the 56 bytes before it
};

struct PackedFooter {
  std::uint64_t contents_offset;  // of the kContentsList section; without one: of kContents
  std::uint64_t check;            // XXH64 of contents_offset
  char magic[8];
};

// NAME.part.tail has a TailHeader, then runs. A run is a TailRun, then `count` times a TailSpan,
// all of one thread.
inline constexpr char kTailMagic[8] = {'P', 'E', 'N', 'S', 'T', 'A', 'I', 'L'};
inline constexpr std::uint32_t kTailRunMagic = 0x4e555250;  // "PRUN"

struct TailHeader {
  char magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t header_size;
  std::uint64_t bound;       // number of bytes at the beginning of NAME.part
  std::uint64_t part_check;  // XXH64 of these bytes; if it differs, the tail is another file's
  std::uint64_t reserved[4];
};

struct TailRun {
  std::uint32_t magic;
  std::uint32_t thread;
  std::uint64_t before;  // earlier spans of the thread, in blocks or in the tail
  std::uint32_t count;
  std::uint32_t reserved;
  std::uint64_t rows_check;  // XXH64 of the TailSpans
  std::uint64_t check;       // XXH64 of the 32 bytes before it
};

struct TailSpan {
  std::int64_t start;
  std::int64_t duration;
  std::int64_t cpu;
  std::int64_t busy;
  std::uint64_t bytes;
  std::int64_t sample;
  std::uint32_t name;
  std::uint32_t object;
  std::uint32_t batch;
  std::uint16_t generation;
  std::uint8_t stage;
  std::uint8_t flags;
  std::uint8_t depth;
  std::uint8_t reserved[7];
};

static_assert(sizeof(TailHeader) == 64);
static_assert(sizeof(TailRun) == 40);
static_assert(sizeof(TailSpan) == 72);
static_assert(sizeof(PackedHeader) == 64);
static_assert(sizeof(SectionHeader) == 64);
static_assert(offsetof(SectionHeader, header_check) == 56);
static_assert(sizeof(PackedFooter) == 24);

}  // namespace penstock::traces::packed
