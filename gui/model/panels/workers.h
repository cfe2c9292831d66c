// SPDX-License-Identifier: Apache-2.0
//
// What the workers view shows of each process that makes batches, and of the memory of all
// processes. Values; pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/panels/ranks.h"
#include "gui/model/panels/series.h"

namespace penstock::gui {

// How the memory of a process is counted.
enum class MemoryKind : std::uint8_t {
  kUss,       // its own, shared with nobody: what ends with it
  kPss,       // its own, and its share of what several share: may be added up
  kRss,       // everything it has mapped: what is shared counts in each process
  kOfParent,  // anonymous, and shared with what forked it: copy on write makes it less
};
inline constexpr std::array kMemoryKinds = {MemoryKind::kUss, MemoryKind::kPss, MemoryKind::kRss,
                                            MemoryKind::kOfParent};

// A slope of seconds says nothing of a minute: what the samples after the first fifth must span.
inline constexpr double kLeastGrowthTime = 20;  // seconds

struct WorkerLine {
  std::int32_t worker_id = -1;
  std::uint32_t process = 0;  // index into Trace::processes()
  std::uint32_t pid = 0;
  std::uint64_t batches = 0;
  double busy = 0;      // seconds making batches
  double cpu = 0;       // of it: computing
  double idle = 0;      // seconds waiting for an index
  double life = 0;      // seconds from its first to its last span
  double startup = -1;  // seconds from the beginning of its epoch to its first batch; -1: not known
  double batch = 0;     // seconds a batch takes it, mean
  double slowdown = 0;  // that over the median of the workers; 0: too few to compare
  bool slow = false;    // it holds the others up: analyzer/model/slow_workers.h
  MemoryKind memory_kind = MemoryKind::kUss;
  double memory = -1;  // bytes at the end; -1: not recorded
  double most_memory = 0;
  double growth = 0;          // bytes a second
  bool growth_known = false;  // enough samples over kLeastGrowthTime
  bool curve_known = false;   // enough samples to prefer this kind of memory to another
};

// One process of a plot of memory.
struct MemoryCurve {
  std::uint32_t process = 0;
  std::int32_t worker_id = -1;
  bool consumer = false;
  std::string name;  // of its program
  Curve curve;       // bytes
};

struct WorkersModel {
  std::vector<WorkerLine> workers;
  std::array<std::vector<MemoryCurve>, kMemoryKinds.size()> memory;  // by MemoryKind
  Curve shared;  // bytes in use in /dev/shm, all programs; empty: not recorded
  double shared_size = 0;
  double slowest = 0;         // largest slowdown; 0: too few workers to compare
  std::size_t straggler = 0;  // the place in `workers` of the slowest; of a slow one, if any is
  RanksModel ranks;

  [[nodiscard]] const std::vector<MemoryCurve>& Of(MemoryKind kind) const {
    return memory[static_cast<std::size_t>(kind)];
  }
  // The most telling kind that was recorded often enough to be a curve.
  [[nodiscard]] MemoryKind best() const;
  // Of the curves of a kind, and of `shared`: seconds since the trace began, 0 without any. A
  // program that was killed was sampled after its last span.
  [[nodiscard]] double last_sample(MemoryKind kind) const;
};

// Cost: O(batches + samples of counters).
[[nodiscard]] WorkersModel BuildWorkers(const traces::Trace& trace, const Analysis& analysis);

}  // namespace penstock::gui
