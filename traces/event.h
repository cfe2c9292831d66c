// SPDX-License-Identifier: Apache-2.0
//
// The contents of a trace as values: spans, events, counters, processes, threads, facts, losses.
// Times are CLOCK_MONOTONIC nanoseconds of the recording host. No ownership except std containers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/units.h"
#include "traces/wire.h"

namespace penstock::traces {

enum class StageId : std::uint8_t {
  kNone = wire::kStageNone,
  kRead = wire::kRead,
  kDecode = wire::kDecode,
  kAugment = wire::kAugment,
  kSample = wire::kSample,
  kCollate = wire::kCollate,
  kFetch = wire::kFetch,
  kPut = wire::kPut,
  kGet = wire::kGet,
  kPin = wire::kPin,
  kWait = wire::kWait,
  kIdle = wire::kIdle,
  kH2d = wire::kH2d,
  kKernel = wire::kKernel,
  kStep = wire::kStep,
  kStartup = wire::kStartup,
  kMark = wire::kMark,
  kSync = wire::kSync,
  kCopy = wire::kCopy,
  kCall = wire::kCall,
  kBlock = wire::kBlock,
  kTokenize = wire::kTokenize,
};

// "read", "decode", ...; "unknown" for values of later versions.
[[nodiscard]] std::string_view StageName(StageId stage);
// "consumer", "worker" or "other".
[[nodiscard]] std::string_view RoleName(wire::ProcessRole role);

// A batch of one iterator. No batch if index is wire::kNoBatch.
struct BatchKey {
  std::uint32_t index = wire::kNoBatch;
  std::uint16_t generation = 0;
  constexpr auto operator<=>(const BatchKey&) const = default;
  [[nodiscard]] constexpr bool valid() const { return index != wire::kNoBatch; }
};

struct Span {
  TimeNs start{};
  TimeNs duration{};
  TimeNs cpu{-1};   // thread CPU time inside; -1: not recorded
  TimeNs busy{-1};  // time inside the calls of a coalesced read; -1: the duration
  Bytes bytes{};
  std::int64_t sample = wire::kNoSample;  // index, or wire::SampleOfCorrelation()
  StringId name{};
  StringId object{};  // path of the file; of a kMark, its domain or category
  BatchKey batch{};
  StageId stage = StageId::kNone;
  std::uint8_t flags = 0;  // wire::kFlag*
  std::uint8_t depth = 0;

  [[nodiscard]] constexpr TimeNs end() const { return start + duration; }
};

enum class EventType : std::uint8_t {
  kIndexSent = wire::kIndexSent,
  kIndexReceived = wire::kIndexReceived,
  kBatchPut = wire::kBatchPut,
  kBatchGot = wire::kBatchGot,
  kBatchDelivered = wire::kBatchDelivered,
  kNextEntered = wire::kNextEntered,
  kEpochStart = wire::kEpochStart,
  kEpochEnd = wire::kEpochEnd,
  kMajorFaults = wire::kMajorFaults,
  kWorkerStart = wire::kWorkerStart,
  kWorkerEnd = wire::kWorkerEnd,
  kQueueDepth = wire::kQueueDepth,
  kDigest = wire::kDigest,
  kProbe = wire::kProbe,
};

// "index_sent", "batch_put", ...; "unknown" for values of later versions.
[[nodiscard]] std::string_view EventName(EventType type);

struct Event {
  TimeNs at{};
  ThreadId thread{};
  BatchKey batch{};
  std::int64_t value = 0;
  EventType type = EventType::kIndexSent;
};

struct CounterSample {
  TimeNs at{};
  StringId name{};  // "cpu_ns", "rss_bytes", ...: see traces/FORMAT.md
  ProcessId process{};
  std::int64_t value = 0;
};

// The name that an import gives to a thread in which PyTorch runs the backward pass, if the thread
// has no name of its own.
inline constexpr std::string_view kBackwardThread = "backward pass (autograd)";

struct ThreadInfo {
  ProcessId process{};
  std::uint32_t tid = 0;
  std::string name{};
  std::uint64_t spans = 0;
  TimeNs first{};  // start of the first span or event
  TimeNs last{};   // end of the last one
};

struct ProcessInfo {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  wire::ProcessRole role = wire::kRoleOther;
  std::int32_t worker_id = -1;
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::int32_t world_size = -1;
  std::uint32_t features = 0;       // wire::kFeature*
  std::uint64_t process_start = 0;  // clock ticks since boot
  std::string comm;
  std::vector<std::string> command;
  std::vector<std::string> libraries;        // codec and loader libraries found mapped
  std::map<std::string, std::string> facts;  // facts of this process
  // Coverage: what the hooks saw and what the kernel counted, both at the same moment.
  Bytes bytes_hooked;   // every hooked read of any file
  Bytes bytes_dataset;  // part of `bytes_hooked`: of dataset files, in spans, lost or claimed
  Bytes bytes_network;
  Bytes bytes_mapped;
  Bytes bytes_kernel;  // rchar of /proc/PID/io since the agent started; 0: not known
  std::uint64_t dropped = 0;
  std::uint64_t hook_misses = 0;
  // Conservation: spans and the following counts together hold all bytes that reads returned.
  bool counted = false;  // the counts are from the end of the trace and can be compared with it
  Bytes bytes_lost;      // part of bytes_dataset that is in no span
  Bytes bytes_claimed;   // part of bytes_dataset in spans that the program writes itself
  Bytes network_lost;    // part of bytes_network that is in no span
  Bytes network_claimed;
  Bytes bytes_open;  // may be missing: reads that killed threads were counting
};

// What a trace lacks, or what was damaged. All zero: nothing.
struct Losses {
  std::uint64_t dropped_events = 0;   // the agent had no room
  std::uint64_t damaged_records = 0;  // skipped, because their checks failed
  std::uint64_t damaged_bytes = 0;    // bytes of records, chunks and sections skipped
  std::uint64_t damaged_chunks = 0;
  std::uint64_t lost_threads = 0;  // threads that found no slot for their process or chunk
  bool truncated = false;          // the file ends before its contents do
  bool unsealed = false;           // the recording or the file was not finished

  constexpr bool operator==(const Losses&) const = default;
  // Whether something is missing.
  [[nodiscard]] constexpr bool any() const { return *this != Losses{}; }
};

}  // namespace penstock::traces
