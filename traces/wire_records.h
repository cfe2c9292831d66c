// SPDX-License-Identifier: Apache-2.0
//
// The 64-byte records of a recording, their vocabulary, and the two functions on their bytes.
// Part of traces/wire.h: include that. Values are part of the format: append only.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penstock::wire {

inline constexpr uint32_t kRecordSize = 64;

// The stages of docs/design.md 4. Values are part of the format: append only.
enum Stage : uint8_t {
  kStageNone = 0,
  kRead = 1,
  kDecode = 2,
  kAugment = 3,
  kSample = 4,
  kCollate = 5,
  kFetch = 6,
  kPut = 7,
  kGet = 8,
  kPin = 9,
  kWait = 10,
  kIdle = 11,
  kH2d = 12,
  kKernel = 13,
  kStep = 14,
  kStartup = 15,
  kMark = 16,
  kSync = 17,
  kCopy = 18,
  kCall = 19,
  kBlock = 20,
  kTokenize = 21,
  kStageCount = 22,
};

enum RecordKind : uint8_t {
  kKindNone = 0,     // never committed: a record of zeros is damage
  kKindSpan = 1,     // Record
  kKindEvent = 2,    // Record: stage = EventType, start = when, work = value
  kKindCounter = 3,  // Record: name = counter, start = when, work = value (int64), object = pid
  kKindText = 4,     // TextRecord, one or more in a row in one chunk
  kKindUnit = 5,     // Record: a sample, batch or step whose calls were followed, see below
  kKindCall = 6,     // Record: one node of the tree of its calls
};

enum EventType : uint8_t {
  kIndexSent = 1,       // the indices of `batch` were sent; value = worker id or -1
  kIndexReceived = 2,   // worker got them
  kBatchPut = 3,        // worker handed the finished batch to its queue
  kBatchGot = 4,        // training process (or its pin thread) took it from the queue
  kBatchDelivered = 5,  // next() returned it to the program; value = CPU time of the process, ns
  kNextEntered = 6,     // the program called next(); value = CPU time of the process, ns
  kEpochStart = 7,      // an iterator was made or reset; value = number of its workers
  kEpochEnd = 8,        // it was exhausted; value = batches delivered
  kMajorFaults = 9,     // value = major page faults inside the span that ends here
  kWorkerStart = 10,    // value = worker id
  kWorkerEnd = 11,      // value = worker id
  kQueueDepth = 12,     // value = finished batches in the training process's queue
  kDigest = 13,         // what a transform returned for a sample, or the sample: DigestValue
  kProbe = 14,          // a window of an experiment begins in this process: ProbeValue
};

// The value of kDigest: a digest of 32 bits (0: none) and the low half of the id of the transform's
// name (0: the finished sample). `batch` then holds the low 31 bits of the sample's index.
inline constexpr int64_t DigestValue(uint32_t digest, uint32_t name) {
  return static_cast<int64_t>(uint64_t{digest} << 32 | name);
}
inline constexpr uint32_t DigestOf(int64_t value) {
  return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
}
inline constexpr uint32_t NameOfDigest(int64_t value) {
  return static_cast<uint32_t>(value);
}

// The value of kProbe (docs/diagnosis.md 3.12): the factor that the window spares, the time of
// everything else in percent of its usual time, and the microseconds since the window began.
enum ProbeFactor : uint8_t {
  kProbePlain = 0,    // nothing is changed
  kProbeNothing = 1,  // nothing is spared
  kProbeRead = 2,
  kProbeDecode = 3,
  kProbeAugment = 4,
  kProbeCollate = 5,
  kProbeStep = 6,
  kProbeFactors = 7,  // the number of factors
  kProbeOver = 255,   // no more windows follow
};
inline constexpr uint16_t kProbePercent = 200;
inline constexpr int64_t ProbeValue(uint8_t factor, uint16_t percent, uint64_t microseconds) {
  return static_cast<int64_t>(microseconds << 24 | uint64_t{percent} << 8 | factor);
}
inline constexpr uint8_t FactorOfProbe(int64_t value) {
  return static_cast<uint8_t>(value);
}
inline constexpr uint16_t PercentOfProbe(int64_t value) {
  return static_cast<uint16_t>(static_cast<uint64_t>(value) >> 8);
}
inline constexpr int64_t MicrosecondsOfProbe(int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) >> 24);
}

// A followed unit: a kKindUnit record and its kKindCall records. All have one thread and `start`.
// kKindUnit: stage = sample, collate or step; name = the name of its span; duration = ticks of the
// unit, work = the part of them that following cost, bytes = ticks that such a unit takes when it
// is not followed (median of its neighbours; 0: not known), object = UnitCounts, flags = kUnit*,
// depth = percent by which `work` may be off; sample, batch and generation as in a span.
//
// kKindCall: stage = CallKind, name, object = string id of the file (of a function or line),
// duration = ticks inside all its calls, work = the part of them outside of other nodes; both
// without the cost of following. bytes = number of calls, sample = CallPlace, batch = CallNumbers.
enum CallKind : uint8_t {
  kCallFunction = 1,  // a Python function; line = its first line
  kCallBuiltin = 2,   // a callable that is not Python's: no file, no line
  kCallLine = 3,      // a line of its parent function; count = how often it was entered
};

inline constexpr uint8_t kUnitLines = 1;  // lines of some functions were followed too
inline constexpr uint8_t kUnitCut = 2;    // following ended before the unit: its budget was used up
inline constexpr uint8_t kUnitFull = 4;   // more nodes than are kept; the rest is in their parents
inline constexpr uint8_t kUnitSlowed = 8;   // following slowed the interpreter: before Python 3.12
inline constexpr uint8_t kUnitNested = 16;  // the unit began inside calls that are not nodes
inline constexpr uint8_t kUnitChosen = 32;  // not drawn at random: its sample was slow before
inline constexpr uint8_t kUnitStall = 64;   // the stack of a thread that stands still, no calls

inline constexpr uint16_t kNoNode = 0xffff;
inline constexpr uint32_t kMaxUnitNodes = 512;

// `nodes`: number of kKindCall records of the unit; `neighbours`: number of ordinary units from
// which `bytes` comes.
inline constexpr uint64_t UnitCounts(uint32_t events, uint16_t nodes, uint16_t neighbours) {
  return events | uint64_t{nodes} << 32 | uint64_t{neighbours} << 48;
}
// `cost`: ticks that were subtracted from the duration, at most 2^32 - 1.
inline constexpr int64_t CallPlace(uint32_t line, uint32_t cost) {
  return static_cast<int64_t>(line | uint64_t{cost} << 32);
}
// Nodes are numbered from 0, parents before their children. `parent` is kNoNode directly below the
// unit.
inline constexpr uint32_t CallNumbers(uint16_t node, uint16_t parent) {
  return node | uint32_t{parent} << 16;
}

// Record::flags
inline constexpr uint8_t kFlagCpu = 1;      // work = thread CPU time, nanoseconds
inline constexpr uint8_t kFlagBusy = 2;     // work = time inside the calls, ticks
inline constexpr uint8_t kFlagMapped = 4;   // read: bytes were mapped, not copied
inline constexpr uint8_t kFlagNetwork = 8;  // read: from a socket
inline constexpr uint8_t kFlagError = 16;   // the operation failed, or was left by longjmp/throw
inline constexpr uint8_t kFlagPython = 32;  // recorded through the Python bridge
inline constexpr uint8_t kFlagUnfinished = 64;  // was in flight when the thread ended or died

inline constexpr uint32_t kNoBatch = 0xffffffffu;
inline constexpr int64_t kNoSample = -1;

// A call to CUDA and the work that it started on a device share a correlation number. Their spans
// keep the number in the field for the index of a sample. It is stored as -2 or below, so that it
// is never taken for an index.
inline constexpr int64_t SampleOfCorrelation(uint32_t correlation) {
  return -2 - static_cast<int64_t>(correlation);
}
inline constexpr bool HasCorrelation(int64_t sample) {
  return sample <= -2 && sample >= -2 - int64_t{0xffffffff};
}
inline constexpr uint32_t CorrelationOf(int64_t sample) {
  return static_cast<uint32_t>(-2 - sample);
}

// The stream of a device is a thread of the process that owns the device, with the highest bit set
// in its `tid`. Bits 20 to 30: device, bits 0 to 19: stream, with CUPTI's numbers.
inline constexpr uint32_t kDeviceLane = 0x80000000u;
inline constexpr uint32_t LaneOf(uint32_t device, uint32_t stream) {
  return kDeviceLane | (device & 0x7ffu) << 20 | (stream & 0xfffffu);
}
inline constexpr bool IsDeviceLane(uint32_t tid) {
  return (tid & kDeviceLane) != 0;
}
inline constexpr uint32_t DeviceOfLane(uint32_t tid) {
  return tid >> 20 & 0x7ffu;
}
inline constexpr uint32_t StreamOfLane(uint32_t tid) {
  return tid & 0xfffffu;
}

struct Record {
  uint8_t kind;
  uint8_t stage;
  uint16_t check;     // CheckOf(record with check = 0)
  uint32_t name;      // low 32 bits of the string id, 0 = none
  uint64_t start;     // ticks
  uint64_t duration;  // ticks
  uint64_t work;      // see flags
  uint64_t bytes;
  int64_t sample;       // dataset index, kNoSample
  uint64_t object;      // string id of a path, or 0
  uint32_t batch;       // index of the batch in its epoch, kNoBatch
  uint16_t generation;  // which iterator (epoch) of which loader, counted in the training process
  uint8_t flags;
  uint8_t depth;  // number of open spans around this one on its thread
};

enum TextType : uint8_t {
  kTextString = 1,   // id = HashOf(text)
  kTextFact = 2,     // text = "key=value", id = HashOf(key)
  kTextThread = 3,   // name of the writing thread
  kTextCommand = 4,  // command line of the writing process, arguments separated by 0x1f
  kTextLibrary = 5,  // path of a codec or loader library mapped in the process
};

inline constexpr uint32_t kTextPayload = 48;

struct TextRecord {
  uint8_t kind;  // kKindText
  uint8_t type;  // TextType
  uint16_t check;
  uint16_t part;   // 0, 1, 2, ...: consecutive records of one chunk
  uint16_t total;  // bytes of the whole text
  uint64_t id;
  char payload[kTextPayload];
};

static_assert(sizeof(Record) == kRecordSize);
static_assert(sizeof(TextRecord) == kRecordSize);

// FNV-1a, 64 bit: the id of a string. 0 is never returned.
inline uint64_t HashOf(const char* text, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<uint8_t>(text[i])) * 0x100000001b3u;
  }
  return hash != 0 ? hash : 1;
}

// 16-bit check of a 64-byte record whose check field counts as zero. Finds every single-bit flip.
inline uint16_t CheckOf(const void* record) {
  uint64_t w[8];
  __builtin_memcpy(w, record, sizeof w);
  w[0] &= 0xffffffff0000ffffu;
  uint64_t mix = w[0];
  for (int i = 1; i < 8; ++i) {
    mix ^= (w[i] << (7 * i)) | (w[i] >> (64 - 7 * i));
  }
  return static_cast<uint16_t>((mix * 0x9e3779b97f4a7c15u) >> 48);
}

}  // namespace penstock::wire
