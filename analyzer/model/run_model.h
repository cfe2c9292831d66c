// SPDX-License-Identifier: Apache-2.0
//
// What happened in a run, ready for statistics: stages, loaders, epochs, batches, workers. A value
// that does not refer to the trace. But its StringIds (of stages, devices and files of samples) are
// those of the trace. Immutable once built; safe from several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/batch.h"
#include "analyzer/model/counter_series.h"
#include "analyzer/model/device_records.h"
#include "analyzer/model/file_returns.h"
#include "analyzer/model/host.h"
#include "analyzer/model/loader.h"
#include "analyzer/model/probe_windows.h"
#include "analyzer/model/rank_layout.h"
#include "analyzer/model/reads.h"
#include "analyzer/model/sample_tail.h"
#include "analyzer/model/stage_totals.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One pass of an iterator over its dataset.
struct Epoch {
  std::uint16_t generation = 0;
  std::int64_t start = kNever;  // the iterator was made or reset
  std::size_t first = 0;        // its batches are LoaderRun::batches [first, first + count)
  std::size_t count = 0;
  bool ended = false;  // it was seen to be exhausted
  double stop = 0;     // seconds of its last next(), which also ends workers that are not
                       // persistent
};

struct WorkerRun {
  ProcessId process;
  std::int32_t worker_id = -1;
  std::uint64_t batches = 0;    // these and the times are without batches that a cut file has
                                // only samples of
  double busy = 0;              // seconds in fetch, or in samples
  double cpu = 0;               // CPU seconds in fetch, or in samples
  double idle = 0;              // seconds waiting for an index
  std::int64_t seen = kNever;   // the first span of its thread; not set for sample threads
  std::int64_t first = kNever;  // start of its first fetch or sample, in part or not
  std::int64_t last = kNever;

  // Seconds from its first fetch to its last, or of its busy and idle time if that is longer.
  [[nodiscard]] double life() const {
    const bool lived = first != kNever && last > first;
    return std::max(lived ? Seconds(TimeNs{last - first}) : 0, busy + idle);
  }
};

// How the loop of a training process uses a loader beside others.
enum class LoopUse {
  kAlone,        // the process uses no other loader
  kInTurn,       // one after the other, as in training and validation
  kInterleaved,  // together: batches of one are taken in the middle of the other's epochs
};

// Helpers that the training process of the main loader started without a program of their own, as
// multiprocessing and os.fork() do, and that live for at least half of the time of its batches.
struct OwnProcesses {
  std::vector<ProcessId> processes;
  double stages = 0;  // seconds of their data stages: reads, decoding, transforms
};

// One DataLoader, or another loader in its place, with all batches that it delivered.
struct LoaderRun {
  LoaderConfig config;
  std::string name;  // "train.py:88", the line that made it; "": not recorded
  LoopUse use = LoopUse::kAlone;
  double waited = 0;  // seconds that the loop waited for all of its batches
  double lasted = 0;  // seconds of these waits and of the steps
  // CPU seconds of decoding, tokenizing and transforms on threads of the training process other
  // than the loop's. The costs of batches do not contain them. Set only for the main loader, and
  // only without workers.
  double threads_cpu = 0;
  // Seconds of the data stages on threads that do not make batches, but run in processes that make
  // batches; the sum over all such threads. Set only for the main loader.
  ThreadStages threads_stages;
  std::size_t stage_threads = 0;  // the number of these threads
  bool handed_on = false;         // HandsBatchesOn(): its steps are not the training steps
  bool inferred = false;       // no facts were recorded; the arguments are guessed from the spans
  std::vector<Batch> batches;  // sorted by generation and index; only delivered batches
  std::vector<SampleCost> samples;  // of the batches, in the same order
  std::vector<Epoch> epochs;
  std::vector<WorkerRun> workers;
  std::uint64_t samples_per_batch = 0;   // median number of sample spans, else batch_size, else 1
  bool samples_known = false;            // false: rates count batches
  std::uint64_t samples_per_span = 1;    // more where the dataset makes a whole batch in one call
  ReadTurns turns;                       // whether the reads for these batches take turns
  std::vector<SampleTime> sample_times;  // without each worker's first batch; only a part for long
                                         // runs
  std::vector<ProbeWindow> probes;       // windows of experiments in its training process
};

struct RunModel {
  Host host;  // if there are several ranks, the host's part for the main loader's rank
  RankLayout ranks;
  TimeNs begin;
  TimeNs end;
  bool cut = false;        // the file ends early, for each process at another time
  bool collected = false;  // penstock record made the trace, or traces that were merged into it
  bool imported = false;   // made from another program's file
  StageTable stages;
  double startup_workers = 0;  // seconds of startup spans outside of training processes
  // The main loader comes first: the loader that the loop waits for most, in the slowest rank.
  std::vector<LoaderRun> loaders;
  std::size_t threads = 0;  // number of threads with spans
  double data_life = 0;     // seconds from first to last data span of a thread, summed over threads
  std::size_t consumers = 0;   // number of training processes
  ReadCosts reads;             // on the main loader's host
  std::string picture_format;  // FileFormats::Main()
  FilesSeen files;             // FileReturns::Seen()
  bool mapped = false;         // dataset files were mapped, so reads are hidden in other stages
  DeviceRecords device;        // for the main loader
  std::vector<DeviceRecords>
      devices_alone;  // without a loader: one for each process that uses devices
  std::vector<CounterSeries> counters;
  std::vector<wire::ProcessRole> roles;  // by process
  std::vector<std::int64_t> last_of;     // by process: the end of its last span
  std::vector<ProcessId> consumer_of;    // by process: the training process that it works for
  // Processes that help but are not workers of a loader: a training process or worker started them,
  // or they read dataset files, decode or transform. Examples are a pool of the dataset's own, a
  // program that it calls, a server.
  std::vector<ProcessId> helpers;
  OwnProcesses own_processes;

  [[nodiscard]] bool has_loader() const { return !loaders.empty(); }
  [[nodiscard]] const LoaderRun& loader() const { return loaders.front(); }
  // The training process that a process works for; the process itself if none is known.
  [[nodiscard]] ProcessId ConsumerOf(ProcessId process) const {
    return process.value < consumer_of.size() ? consumer_of[process.value] : process;
  }
  // Whether a process is the main loader's training process or works for it. Workers of its other
  // loaders do not count.
  [[nodiscard]] bool IsOurs(ProcessId process) const;
  // The main loader's host, as an index into ranks.hosts.
  [[nodiscard]] std::size_t our_host() const;
  // Whether a process ran on the main loader's host.
  [[nodiscard]] bool OnOurHost(ProcessId process) const;
  // CPU seconds per second that the main loader's processes of `role` used between two times of the
  // trace; without a role, all processes of our host. From the cumulative counter "cpu_ns"; nullopt
  // if it was not recorded.
  [[nodiscard]] std::optional<double> CpuRate(std::optional<wire::ProcessRole> role,
                                              std::int64_t from, std::int64_t to) const;
  // The same for the processes that `counts` accepts.
  [[nodiscard]] std::optional<double> CpuRate(const std::function<bool(ProcessId)>& counts,
                                              std::int64_t from, std::int64_t to) const;
  // The whole host of the main loader, for resources that its ranks use in common, such as the page
  // cache.
  [[nodiscard]] const Host& machine() const;
  // Cores that all recorded ranks of our host together may use.
  [[nodiscard]] double host_cores() const;
  // Samples in all sample spans, if other loaders' spans hold as many samples as the main loader's.
  [[nodiscard]] double samples() const {
    const auto spans = static_cast<double>(stages[traces::StageId::kSample].count);
    return has_loader() ? spans * static_cast<double>(loader().samples_per_span) : spans;
  }
  [[nodiscard]] double duration() const { return Seconds(end - begin); }
};

// `loader`: the name of the loader to put first; "": the main one. A name that no loader has
// changes nothing.
// Cost: one pass over all spans, a second one over those of the main training process if devices
//       were recorded, and O(batches log batches). Memory: O(batches + names), 32 bytes for each of
//       at most some half a million samples, 64 bytes for each of at most 400,000 sample times,
//       some thousand reads of each thread, and 16 bytes for each kernel.
[[nodiscard]] RunModel BuildRunModel(const traces::Trace& trace, std::string_view loader = {});

}  // namespace penstock::analyzer
