// SPDX-License-Identifier: Apache-2.0
//
// What the workers view shows about each process that makes batches, and about the memory of all
// processes. Values; pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/panels/ranks.h"
#include "gui/model/panels/series.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// How the memory of a process is counted.
enum class MemoryKind : std::uint8_t {
  kUss,       // its own pages, which are freed when it ends
  kPss,       // its own pages and its part of shared ones: can be summed
  kRss,       // all it has mapped: shared pages count in each process
  kOfParent,  // pages shared with its parent; copy on write reduces them
};
inline constexpr std::array kMemoryKinds = {MemoryKind::kUss, MemoryKind::kPss, MemoryKind::kRss,
                                            MemoryKind::kOfParent};

// Workers with fewer batches are not compared.
inline constexpr std::uint64_t kFewBatches = 8;

struct WorkerLine {
  std::int32_t worker_id = -1;
  std::uint32_t process = 0;  // index into Trace::processes()
  std::uint32_t pid = 0;
  bool namesake = false;    // another process of its rank has the same `worker_id`: it is a worker
                            // of another loader or epoch
  std::uint32_t epoch = 0;  // its first one, from 1, if its loader starts workers for each epoch
  std::uint64_t batches = 0;
  double busy = 0;      // seconds making batches
  double cpu = 0;       // the part of it spent computing
  double idle = 0;      // seconds waiting for an index
  double life = 0;      // seconds from its first to its last span, at least busy + idle
  double startup = -1;  // seconds from its epoch's begin to its first batch's; -1: not known
  double batch = 0;     // mean seconds for a batch
  // `batch` over the workers' median; 0: too few batches to compare. If all processes of a slow
  // worker made too few, the first process has the figure of all of them together.
  double slowdown = 0;
  bool slow = false;  // it delays the others: analyzer/model/slow_workers.h
  MemoryKind memory_kind = MemoryKind::kUss;
  double memory = -1;  // bytes at the end; -1: not recorded
  double most_memory = 0;
  double growth = 0;          // bytes a second; 0: none that is certain (analyzer::Growth)
  bool growth_known = false;  // enough samples over analyzer::kLeastGrowthTime
  bool growth_short = false;  // not known because there were too few of them
  bool curve_known = false;   // enough samples to prefer this kind of memory
};

// One process in the plot of memory.
struct MemoryCurve {
  std::uint32_t process = 0;
  std::int32_t worker_id = -1;
  bool consumer = false;
  std::string name;  // the name of its program
  Curve curve;       // bytes
  double gap = 0;    // median seconds between two readings
  double from = -1;  // seconds after the trace began: the first reading; -1: a part of the run
  std::uint32_t pid = 0;
  bool namesake = false;    // as in WorkerLine
  std::uint32_t epoch = 0;  // as in WorkerLine
  std::string loader{};     // of a worker, if there are several loaders
  bool trainer = false;     // the first training process, whose curve has the colour of text
  std::int32_t rank = -1;   // if there are several ranks
};

struct WorkersModel {
  std::vector<WorkerLine> workers;  // none if the training process makes the batches itself
  std::array<std::vector<MemoryCurve>, kMemoryKinds.size()>
      memory;    // by MemoryKind;
                 // the shown loader's processes come first
  Curve shared;  // bytes in use in /dev/shm, all programs; empty: not recorded
  double shared_size = 0;
  double slowest = 0;         // largest slowdown; 0: too few workers to compare
  bool some_few = false;      // some have fewer than kFewBatches and are not compared
  std::size_t straggler = 0;  // index of the slowest worker that is `slow`, else of the slowest
  RanksModel ranks;

  [[nodiscard]] const std::vector<MemoryCurve>& Of(MemoryKind kind) const {
    return memory[static_cast<std::size_t>(kind)];
  }
  // The first kind in MemoryKind's order that was recorded often enough for a curve.
  [[nodiscard]] MemoryKind best() const;
  // The bytes of each process, if the curves of a kind lie so close together that the last one
  // hides the others; else 0.
  [[nodiscard]] double alike(MemoryKind kind) const;
  // The time of the last sample in the curves of a kind and in `shared`; 0 if there is none. It
  // lies after the last span only if the recording was cut. Units: seconds since the trace began.
  [[nodiscard]] double last_sample(MemoryKind kind) const;
};

// Why there is no worker to show. A recording of another tool may not tell how many there were, and
// some loaders do not report it.
[[nodiscard]] Text WhyNoWorkers(const analyzer::RunModel& run);
// A note on the memory of one loader, as a sentence. `loader`: its name if there are several, which
// then comes first; else "".
[[nodiscard]] std::string MemoryNoteText(const analyzer::Statement& note, const std::string& loader,
                                         Language language);
// "worker 0"; "worker 0 · epoch 3" for one that has a namesake, as in the timeline, or "worker 0,
// pid 4711" if its epoch does not tell it from them.
template <class Worker>
[[nodiscard]] std::string NameOfWorker(const Worker& worker, Language language) {
  if (!worker.namesake) return Filled(Text::kWorkerN, language, worker.worker_id);
  if (worker.epoch == 0) {
    return Filled(Text::kWorkerOfPid, language, worker.worker_id, worker.pid);
  }
  return Filled(Text::kWorkerN, language, worker.worker_id) + " · " +
         Filled(Text::kEpochN, language, worker.epoch);
}
// The name of a curve: that of its worker, with its loader if there are several, or of its program.
// With several ranks the rank comes first.
[[nodiscard]] std::string NameOfCurve(const MemoryCurve& curve, Language language);
// The name of all curves that have its colour: its loader if there are several, else the number of
// its worker.
[[nodiscard]] std::string KindOfCurve(const MemoryCurve& curve, Language language);

// How the plot of memory draws a curve.
struct CurveStyle {
  std::optional<std::size_t> colour;  // its place in a list of colours; none: that of text
  bool dim = false;                   // another process is chosen
  std::string legend{};               // "": not in the legend
};
// The styles of Of(kind), in its order. Curves that coincide have one colour and one entry in the
// legend. If the `chosen` process has a curve, only this one is in the legend.
[[nodiscard]] std::vector<CurveStyle> StylesOf(const WorkersModel& model, MemoryKind kind,
                                               std::optional<std::uint32_t> chosen,
                                               Language language);

// How often the memory of each process was read, and from when on; "" if once a second or more.
[[nodiscard]] std::string ReadingsText(const WorkersModel& model, MemoryKind kind,
                                       Language language);

// The cells of a worker: its memory with the kind ("400 MB RSS"); how its time for a batch and its
// memory compare and grow, or why that is not known.
[[nodiscard]] std::string MemoryText(const WorkerLine& worker);
[[nodiscard]] std::string AgainstText(const WorkerLine& worker, Language language);
[[nodiscard]] std::string GrowthText(const WorkerLine& worker, Language language);
// The name of the part of a worker's life that is neither busy nor idle.
[[nodiscard]] Text LifeRestName(const analyzer::RunModel& run);
// Whether some worker stands out; "" if there are too few to compare.
[[nodiscard]] std::string StandsOutText(const WorkersModel& model, Language language);

// `analysis` may be that of a part of the run; `whole` is that of the whole run, for the names.
// Cost: O(batches + samples of counters).
[[nodiscard]] WorkersModel BuildWorkers(const traces::Trace& trace, const Analysis& analysis,
                                        const Analysis& whole);

}  // namespace penstock::gui
