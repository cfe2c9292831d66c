// SPDX-License-Identifier: Apache-2.0
//
// One thread of the pipeline. It gets an item (from the stage before, or by claiming the next place
// of the stream and starting its read), does its stages, and hands the item on or completes it.
// Internal to loader/pipeline/. Without threads the consumer runs a Worker itself, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loader/pipeline/item.h"
#include "loader/pipeline/queue.h"
#include "loader/pipeline/shared.h"
#include "loader/pipeline/stages.h"

namespace penstock::loader {

using ItemQueue = BoundedQueue<Item*>;

class Worker {
 public:
  struct Setup {
    Roles roles;
    std::size_t items = 1;      // items that it owns, if it reads
    bool own_decoders = false;  // each item has its own decoder, since another thread augments
    std::size_t home = 0;       // its number among the reading threads, if it reads
    ItemQueue* in = nullptr;    // nullptr for a thread that reads
    ItemQueue* out = nullptr;   // nullptr for a thread that augments
    // The free items of each reading thread, by its number; empty if each thread does all stages.
    std::vector<ItemQueue*> homes;
    std::string name;
    std::int32_t index = 0;  // number among all threads, for the trace
  };

  static Result<std::unique_ptr<Worker>> Make(Shared& shared, Setup setup);

  // What a thread runs: all steps until the stream ends or is stopped.
  void Run();

  // For the consumer: sets its tracer. After that Step() does one item at each call, between
  // Resume() and Pause().
  void Attach(ThreadTracer& tracer) { stages_->SetTracer(tracer); }
  void Resume();
  bool Step();  // false if there is nothing more, or it was stopped
  void Pause();

  // Adds the counters of readers and decoders to the statistics, once. Requires: all threads have
  // ended, since other threads may use decoders of this one's items.
  void Collect();
  [[nodiscard]] const ThreadStats& stats() const { return stats_; }
  [[nodiscard]] const IoStats& io() const { return io_; }
  [[nodiscard]] const Histogram& batch_latency() const { return batch_latency_; }

 private:
  Worker(Shared& shared, Setup setup);

  Item* NextRead();
  Item* NextQueued();
  bool ClaimPending();
  Item* TakeFree();
  void Begin(Item& item);
  void Process(Item& item);
  void Complete(Item& item);
  void GiveBack(Item& item);
  template <class Waiting>
  void Idle(Waiting&& waiting);

  Shared& shared_;
  const Setup setup_;
  ThreadStats stats_;
  IoStats io_;
  Histogram batch_latency_;
  std::unique_ptr<Stages> stages_;
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<Item*> free_;       // for a thread that does all stages
  std::vector<Item*> in_flight_;  // items whose reads were begun; a ring
  std::size_t oldest_ = 0;        // place in in_flight_ of the read that was begun first
  std::size_t flying_ = 0;        // number of items in in_flight_
  TimeNs begun_{};
  TimeNs cpu_begun_{};

  // A place of the stream that this thread has claimed but cannot begin yet, because its batch is
  // not open or no item is free.
  bool pending_ = false;
  bool ended_ = false;
  std::uint64_t pending_batch_ = 0;
  std::uint64_t pending_index_ = 0;
  BatchPlace pending_place_;
};

}  // namespace penstock::loader
