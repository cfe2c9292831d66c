// SPDX-License-Identifier: Apache-2.0
//
// What happened in a run, ready for statistics: stages, loaders, epochs, batches, workers.
// A value that does not refer to the trace, except that StringIds (in `stages` and `device`) are
// the trace's. Immutable afterwards; safe from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/batch.h"
#include "analyzer/model/device_records.h"
#include "analyzer/model/host.h"
#include "analyzer/model/loader.h"
#include "analyzer/model/rank_layout.h"
#include "analyzer/model/reads.h"
#include "analyzer/model/stage_totals.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One pass of an iterator over its dataset.
struct Epoch {
  std::uint16_t generation = 0;
  std::int64_t start = kNever;  // the iterator was made or reset
  std::size_t first = 0;        // its batches: [first, first + count) of LoaderRun::batches
  std::size_t count = 0;
  bool ended = false;  // it was seen to be exhausted
  double stop = 0;     // seconds: its last next(), which ends workers that do not stay
};

struct WorkerRun {
  ProcessId process;
  std::int32_t worker_id = -1;
  std::uint64_t batches = 0;
  double busy = 0;              // seconds in fetch, or in samples
  double cpu = 0;               // seconds of CPU in them
  double idle = 0;              // seconds waiting for an index
  std::int64_t seen = kNever;   // anything of its thread, for the first time; not of sample threads
  std::int64_t first = kNever;  // fetch, or sample
  std::int64_t last = kNever;
};

// How a training loop uses a loader beside the others of its process.
enum class LoopUse {
  kAlone,        // there is no other
  kInTurn,       // one after the other, as in training and validation
  kInterleaved,  // batches of one are taken in the middle of epochs of the other, again and again
};

// One DataLoader (or what plays its part) with everything it handed out.
struct LoaderRun {
  LoaderConfig config;
  std::string name;  // "train.py:88", where it was made; "" if that was not recorded
  LoopUse use = LoopUse::kAlone;
  double waited = 0;  // seconds that the loop waited for all of its batches
  double lasted = 0;  // seconds of these waits and of the steps
  // CPU seconds of decoding and transforms on other threads of the training process, which no batch
  // holds. Set for the main loader alone, and where it has no workers.
  double threads_cpu = 0;
  // Seconds of the data stages on threads beside those that make the batches, which wait for them:
  // of all threads together. Set for the main loader alone.
  ThreadStages threads_stages;
  bool inferred = false;       // no facts were recorded: the arguments are guesses from the spans
  std::vector<Batch> batches;  // by generation and index; delivered ones only
  std::vector<SampleCost> samples;  // of the batches, in their order
  std::vector<Epoch> epochs;
  std::vector<WorkerRun> workers;
  std::uint64_t samples_per_batch = 0;  // median of sample spans, else batch_size, else 1
  bool samples_known = false;           // false: a "sample" of the rates is a batch
  ReadTurns turns;                      // of the reads for its batches
};

// One counter of one process over time.
struct CounterSeries {
  std::string name;  // "cpu_ns", "uss_bytes", ...: traces/FORMAT.md
  ProcessId process;
  std::vector<double> at;  // seconds since RunModel::begin
  std::vector<double> value;

  // The value at a time by linear interpolation between samples; flat outside them.
  // Requires: there are samples.
  [[nodiscard]] double ValueAt(double time) const;
  // The last value until `seconds`; nullopt before the first.
  [[nodiscard]] std::optional<double> LastUntil(double seconds) const;
};

struct RunModel {
  Host host;  // what the main loader's rank may use of its own, where there are several
  RankLayout ranks;
  TimeNs begin;
  TimeNs end;
  StageTable stages;
  double startup_workers = 0;  // seconds of startup spans outside consumers
  // The main one first: that which its loop waits for most; of the ranks' loaders that of the rank
  // which waits most.
  std::vector<LoaderRun> loaders;
  std::size_t threads = 0;
  double data_life = 0;  // seconds from the first to the last data span, of all threads with any
  std::size_t consumers = 0;
  ReadCosts reads;
  bool mapped = false;   // dataset files were mapped: reads hide inside other stages
  DeviceRecords device;  // of the main loader
  std::vector<DeviceRecords> devices_alone;  // without a loader: of each process that uses devices
  std::vector<CounterSeries> counters;
  std::vector<wire::ProcessRole> roles;  // of each process
  std::vector<ProcessId> consumer_of;    // of each process: whose loader it works for
  // Processes that are no loader's workers, and that a training process or a worker started, or
  // that read dataset files, decode or transform: a pool of the dataset's own, a program that it
  // calls, a server.
  std::vector<ProcessId> helpers;

  [[nodiscard]] bool has_loader() const { return !loaders.empty(); }
  [[nodiscard]] const LoaderRun& loader() const { return loaders.front(); }
  // Whether a process iterates over the main loader or works for it, and for no other loader.
  [[nodiscard]] bool IsOurs(ProcessId process) const;
  // The main loader's host, as an index into ranks.hosts.
  [[nodiscard]] std::size_t our_host() const;
  // Whether a process ran on it.
  [[nodiscard]] bool OnOurHost(ProcessId process) const;
  // CPU seconds per second used between two times of the trace by our processes of `role`, or by
  // all processes of our host if none is given, from the cumulative counter "cpu_ns"; nullopt if it
  // was not recorded.
  [[nodiscard]] std::optional<double> CpuRate(std::optional<wire::ProcessRole> role,
                                              std::int64_t from, std::int64_t to) const;
  // Likewise by the processes that `counts` names.
  [[nodiscard]] std::optional<double> CpuRate(const std::function<bool(ProcessId)>& counts,
                                              std::int64_t from, std::int64_t to) const;
  // Our host as a whole: what its ranks share without using it up, like the page cache.
  [[nodiscard]] const Host& machine() const;
  // Cores that all recorded ranks of our host may use together.
  [[nodiscard]] double host_cores() const;
  [[nodiscard]] double duration() const { return Seconds(end - begin); }
};

// `loader`: the name of the loader to put first; "": the main one. A name that no loader has
// changes nothing.
// Cost: one pass over all spans, one more over those of the main loader's consumer where devices
// were recorded, and O(batches log batches). Memory: O(batches + names), 24 bytes for each of some
// half a million samples at most, some thousand reads of each thread, and 16 bytes for each kernel.
[[nodiscard]] RunModel BuildRunModel(const traces::Trace& trace, std::string_view loader = {});

}  // namespace penstock::analyzer
