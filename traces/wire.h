// SPDX-License-Identifier: Apache-2.0
//
// Byte layout of a recording: the memory that an agent writes and a collector or reader reads.
// traces/FORMAT.md describes it in prose. Agent, collector and reader share this file, so it uses
// only fixed-width integers, and of the standard library only <stddef.h> and <stdint.h>.
//
// A recording is one file: FileHeader (kHeaderSize bytes), then chunks of kChunkSize bytes. A
// thread claims a chunk, fills it alone, and publishes each record by a release store of
// ChunkHeader::committed. All integers are little-endian. Fields that comments call `atomic` are
// accessed with __atomic builtins on both sides.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "traces/wire_records.h"

namespace penstock::wire {

inline constexpr char kMagic[8] = {'P', 'E', 'N', 'S', 'T', 'R', 'E', 'C'};
inline constexpr uint16_t kMajor = 1;                // must match
inline constexpr uint16_t kMinor = 1;                // may grow: readers accept any
inline constexpr uint32_t kChunkMagic = 0x4b484350;  // "PCHK"
inline constexpr uint32_t kChunkSize = 64 * 1024;
inline constexpr uint32_t kChunkHeaderSize = 1024;
inline constexpr uint32_t kRecordsPerChunk = (kChunkSize - kChunkHeaderSize) / kRecordSize;  // 1008
inline constexpr uint32_t kMaxProcesses = 512;
inline constexpr uint32_t kMaxAnchors = 64;
inline constexpr uint32_t kMaxInflight = 14;
inline constexpr uint32_t kPendingReads = 5;
// The first minor version whose byte counts can be compared with the spans.
inline constexpr uint16_t kMinorCounted = 1;

struct ClockAnchor {
  uint64_t ticks;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
};

// An operation that a thread is in the middle of. Valid if its index < ChunkHeader::inflight_depth.
struct Inflight {
  uint8_t stage;
  uint8_t flags;
  uint16_t generation;
  uint32_t name;
  uint64_t start;
  int64_t sample;
  uint64_t object;
  uint32_t batch;
  uint32_t reserved;
};

// Reads of one descriptor that will become one span, but that the thread has not yet written as a
// record. They are stored here so that they survive the thread. FORMAT.md describes the order of
// the stores, and what is left if the thread is killed between two of them.
struct PendingRead {
  uint64_t object;
  uint64_t first;  // ticks
  uint64_t last;   // ticks
  uint64_t busy;   // ticks inside the calls
  uint64_t bytes;  // atomic, release, stored last: 0 = nothing is pending here
  int64_t sample;
  uint32_t batch;
  uint16_t generation;
  uint8_t flags;  // kFlagNetwork
  uint8_t depth;
};

// ChunkHeader::closing: the pending read `slot` becomes record number `record` (from 0) of the
// chunk. The pending read counts until that record exists.
inline constexpr uint32_t kClosingLost = 0xffffffffu;  // no record: its bytes become `bytes_lost`
inline constexpr uint64_t Closing(uint32_t slot, uint32_t record) {
  return uint64_t{slot + 1} << 32 | record;
}

enum ChunkState : uint32_t { kChunkFree = 0, kChunkOwned = 1, kChunkFull = 2 };
// ChunkHeader::state of an owned chunk of a ring holds, above the ChunkState, the slot + 1 of the
// process that claims the chunk. If the claimer is killed before it writes its pid, this identifies
// it.
inline constexpr uint32_t kChunkStateMask = 0xff;
inline constexpr uint32_t kChunkClaimerShift = 8;

struct ChunkHeader {
  uint32_t magic;
  uint32_t index;  // its place in the file
  // atomic ChunkState. In a ring the collector sets Free, the writer Owned (by compare-and-swap)
  // and Full. Before Free, the collector zeroes committed, inflight_depth, operation.stage,
  // drained, the bytes of `pending`, pid, tid, writer and process_start. A chunk that is Owned with
  // pid 0 is being claimed: leave it alone while its claimer lives. tests/agent/model/ring_model.h
  // tries every order of these steps: change both together.
  uint32_t state;
  uint32_t committed;  // atomic, release: records that are whole
  uint32_t pid;
  uint32_t tid;
  uint32_t process;        // slot in FileHeader::processes, or kMaxProcesses if none was free
  uint32_t sequence;       // number among this thread's chunks, from 0
  uint64_t process_start;  // /proc/PID/stat field 22 (clock ticks since boot): pids are reused
  ClockAnchor anchor;      // taken when the chunk was claimed
  uint64_t dropped;        // records this thread lost before this chunk, in total
  uint64_t drained;        // the collector's: records already taken. linear: not 0 = is in the file
  char thread_name[16];
  uint32_t inflight_depth;  // atomic, release
  // The thread that fills this chunk if that is not `tid` (the chunk is for a device's stream, or
  // for a thread that another one records); else 0. The chunk is given up when that thread is dead.
  uint32_t writer;
  Inflight inflight[kMaxInflight];
  // An operation that lasts over several calls (a libjpeg image) and need not nest with the others.
  // Valid if its stage is not 0; the stage is written last.
  Inflight operation;
  // Since minor version 1. Only in an Owned chunk that was not taken over: anchor.ticks of the
  // chunk from which this one takes over, 0 = none. The operations in flight and the pending reads
  // of that chunk were copied, so it no longer counts, even if it is still Owned.
  uint64_t previous;
  uint64_t closing;   // atomic: Closing(), 0 = none
  uint64_t counting;  // atomic: bytes of a read that is just being counted, 0 = none
  PendingRead pending[kPendingReads];
  uint8_t reserved1[1024 - 104 - (kMaxInflight + 1) * 40 - 24 - kPendingReads * 56];
};

enum ProcessRole : uint32_t { kRoleOther = 0, kRoleConsumer = 1, kRoleWorker = 2 };
// Replaced: the same process has called exec and runs another program, which has a slot of its own.
// The slot stays valid, but /proc/PID now describes the other program.
enum ProcessState : uint32_t {
  kProcessFree = 0,
  kProcessClaimed = 1,
  kProcessLive = 2,
  kProcessReplaced = 3,
};

// ProcessSlot::features: what the agent found in the process.
inline constexpr uint32_t kFeaturePython = 1;    // the Python hooks met a loader
inline constexpr uint32_t kFeatureIsolated = 2;  // python -I / -E
inline constexpr uint32_t kFeatureMapped = 4;    // a dataset file was mapped
inline constexpr uint32_t kFeatureIoUring = 8;   // io_uring is in use: reads invisible
inline constexpr uint32_t kFeatureNetwork = 16;
inline constexpr uint32_t kFeatureAio = 32;
inline constexpr uint32_t kFeatureNative = 64;  // the program records itself: native_bridge.h
inline constexpr uint32_t kFeatureSandboxed =
    128;  // it entered a sandbox: nothing is recorded from then on
// Its memory limits (RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK) leave no room for the ring.
inline constexpr uint32_t kFeatureLimited = 256;
inline constexpr uint32_t kFeatureHooks = 512;  // the Python hooks are installed
inline constexpr uint32_t kFeatureMoving =
    1u << 31;  // set by readers in a copy: the process was active

struct ProcessSlot {
  uint32_t state;  // atomic ProcessState; Live after the other fields are written
  uint32_t pid;    // as the process itself sees it
  uint32_t parent;
  uint32_t role;  // atomic ProcessRole
  uint64_t process_start;
  uint64_t pid_namespace;  // inode of /proc/self/ns/pid
  uint64_t bytes_hooked;   // atomic: bytes returned by every hooked read, of any file
  uint64_t bytes_dataset;  // atomic: part of bytes_hooked from dataset files
  uint64_t bytes_network;  // atomic: received from sockets (not part of /proc/PID/io rchar)
  uint64_t bytes_mapped;   // atomic: dataset bytes mapped
  uint64_t dropped;        // atomic: records lost by threads of this process
  uint32_t features;       // atomic
  int32_t worker_id;       // atomic: DataLoader worker, -1
  int32_t rank;            // RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID; -1
  int32_t local_rank;
  int32_t world_size;
  uint32_t hook_misses;     // atomic: calls whose real function could not be found
  uint64_t rchar_at_start;  // /proc/self/io rchar when the slot was claimed
  // Linear mode, updated when a chunk is claimed: rchar and bytes_hooked at the same moment. Both
  // leave out the intervals in which a child was reaped (its rchar becomes its parent's).
  uint64_t rchar_last;
  uint64_t hooked_last;
  char comm[16];
  // Since minor version 1, all atomic. bytes_dataset and bytes_network count the bytes in spans and
  // pending reads. Every byte that a read returned is either in these two or in one of the next
  // four.
  uint64_t bytes_lost;     // of dataset files: no room, or a signal handler interrupted the agent
  uint64_t bytes_claimed;  // of dataset files: the program writes the spans itself
  uint64_t network_lost;   // the same for sockets
  uint64_t network_claimed;
  uint64_t cpu_at_end;   // atomic: CPU time in ns if it ended by itself; else 0
  uint8_t reserved[16];  // makes the slot 192 bytes, so that no two share a cache line
};

inline constexpr uint64_t kProbeNever = ~uint64_t{0};

enum FileMode : uint32_t { kLinear = 0, kRing = 1 };
enum ClockKind : uint32_t { kClockMonotonic = 0, kClockTsc = 1 };

struct FileHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t header_size;  // kHeaderSize
  uint32_t chunk_size;
  uint32_t record_size;
  uint32_t mode;              // FileMode
  uint32_t clock;             // ClockKind of every `ticks`
  uint64_t ticks_per_second;  // estimate; anchors are exact
  uint64_t uuid[2];
  char boot_id[40];
  char host[64];
  uint32_t root_pid;
  uint32_t collector_pid;     // 0 in linear mode
  uint32_t chunk_count;       // ring: chunks in the file. linear: chunks in the segment
  uint32_t recording;         // atomic: 0 = hooks pass straight through
  uint32_t next_chunk;        // atomic: linear: first unclaimed. ring: hint where to look
  uint32_t allocated_chunks;  // atomic, linear: chunks backed by the file system
  uint64_t max_chunks;        // linear: budget
  uint64_t batches;           // atomic: batches delivered in any process
  uint64_t batch_limit;       // 0 = none; recording is set to 0 when reached
  uint64_t dropped;           // atomic: records lost because no chunk or process slot was free
  uint32_t sealed;            // atomic: 1 = the collector, or the last process, has finished
  uint32_t anchor_count;      // atomic, release: anchors[i % kMaxAnchors] for the last 64
  ClockAnchor anchors[kMaxAnchors];
  uint64_t collector_start;  // in clock ticks since boot: a pid may be reused; 0: not known
  // atomic: number of processes that may still have records of a device to write. When the
  // recording ends, each of them writes the rest and then subtracts itself.
  uint32_t late_writers;
  uint32_t reserved1;
  // The offset of the recording's time namespace, as in /proc/self/timens_offsets. A process that
  // writes from another namespace subtracts the difference. 0: the host's first namespace, which is
  // the usual one.
  int64_t monotonic_offset_ns;
  int64_t boottime_offset_ns;
  // linear: id + 1 of the System V shared memory in which the processes of this host have their
  // chunks; not all of them are in the file yet. It begins with a newer copy of this header. 0:
  // there is none. Has no meaning once sealed.
  uint32_t segment;
  uint32_t written_chunks;  // atomic, linear with a segment: chunks that were written to the file
  uint64_t bytes_lost;  // atomic: read from dataset files and sockets by processes without a slot
  // Experiments inside the run: ticks that a window lasts. 0: there are no experiments.
  uint64_t probe_window;
  // atomic: ticks at which the first window begins. 0: not known yet; kProbeNever: no more windows.
  uint64_t probe_from;
  uint8_t reserved[4096 - 288 - kMaxAnchors * 24];
  ProcessSlot processes[kMaxProcesses];
};

inline constexpr uint32_t kHeaderSize = 128 * 1024;

static_assert(sizeof(Inflight) == 40);
static_assert(sizeof(PendingRead) == 56);
static_assert(offsetof(ChunkHeader, previous) == 704);
static_assert(sizeof(ChunkHeader) == kChunkHeaderSize);
static_assert(sizeof(ProcessSlot) == 192);
static_assert(offsetof(FileHeader, processes) == 4096);
static_assert(sizeof(FileHeader) <= kHeaderSize);

}  // namespace penstock::wire
