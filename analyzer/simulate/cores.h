// SPDX-License-Identifier: Apache-2.0
//
// The clock of an event simulation. Its actors compute on shared cores, use a device one after the
// other, or just wait. An actor does one thing at a time. Values; not thread-safe.
//
// Processor sharing: each computing thread runs at full speed while there are enough cores,
// otherwise all run at cores / threads (docs/diagnosis.md 3.4). Threads of other programs may
// compute all the time. All threads run equally fast, so one counter of work done is enough for
// all. The next job to finish is the least of a heap, and other jobs do not change when a job comes
// or goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace penstock::analyzer {

class Cores {
 public:
  // `others`: threads of other programs that never stop computing.
  explicit Cores(double count, double others = 0)
      : count_(count), others_(others), threads_(others) {}

  [[nodiscard]] double now() const { return now_; }
  // Whether all cores would be busy with `more` further threads.
  [[nodiscard]] bool FullWith(double more) const { return threads_ + more >= count_ - kRounding; }
  static constexpr double kRounding = 1e-6;  // tolerance for sums of threads

  // The actor waits for `seconds`. Requires, here and below: seconds >= 0.
  void Sleep(std::uint32_t actor, double seconds) { Push(sleepers_, {now_ + seconds, actor, 0}); }

  // The actor uses the device for `seconds`, after all actors that asked before it.
  void Transfer(std::uint32_t actor, double seconds) {
    device_free_ = std::max(device_free_, now_) + seconds;
    Push(sleepers_, {device_free_, actor, 0});
  }

  // The actor computes with `threads` threads at once. It would take `seconds` if each thread had a
  // core of its own.
  void Compute(std::uint32_t actor, double seconds, double threads = 1) {
    Push(jobs_, {work_ + seconds, actor, threads});
    threads_ += threads;
  }

  // Goes to the time at which the next actor has finished. Returns false if all actors are idle.
  bool Next(std::uint32_t& actor) {
    const double speed = threads_ > count_ ? count_ / threads_ : 1;
    const bool job = !jobs_.empty();
    if (!job && sleepers_.empty()) return false;
    const double done = job ? now_ + (jobs_.front().at - work_) / speed : 0;
    if (job && (sleepers_.empty() || done <= sleepers_.front().at)) {
      actor = jobs_.front().actor;
      now_ = done;
      work_ = jobs_.front().at;
      threads_ -= jobs_.front().threads;
      Pop(jobs_);
      if (jobs_.empty()) threads_ = others_;  // removes rounding errors
      return true;
    }
    actor = sleepers_.front().actor;
    work_ += (sleepers_.front().at - now_) * speed;
    now_ = sleepers_.front().at;
    Pop(sleepers_);
    return true;
  }

 private:
  struct Item {
    double at;
    std::uint32_t actor;
    double threads;
  };
  static bool Later(const Item& a, const Item& b) { return a.at > b.at; }
  static void Push(std::vector<Item>& heap, Item item) {
    heap.push_back(item);
    std::push_heap(heap.begin(), heap.end(), Later);
  }
  static void Pop(std::vector<Item>& heap) {
    std::pop_heap(heap.begin(), heap.end(), Later);
    heap.pop_back();
  }

  double count_;
  double others_;
  double threads_;
  double now_ = 0;
  double work_ = 0;             // seconds of work done by a thread that computes since time 0
  double device_free_ = 0;      // when the device has done all jobs so far
  std::vector<Item> sleepers_;  // heap by time
  std::vector<Item> jobs_;      // heap by work
};

}  // namespace penstock::analyzer
