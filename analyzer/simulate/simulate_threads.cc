// SPDX-License-Identifier: Apache-2.0
//
// Simulates threads of one process that fill batches together, sample by sample, as in the
// reference loader.
#include <algorithm>

#include "analyzer/simulate/cores.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

// The training loop's number as an actor. The numbers of the threads follow.
constexpr std::uint32_t kLoopBesideThreads = 0;

// What a thread does, in this order for each sample.
enum class ThreadDoing {
  kNothing,   // there is no sample to take
  kStarting,  // starts up, only once
  kWaiting,   // waits before it computes, for the fraction Sequence::lead() of its waiting
  kReading,   // reads from the device, which serves one thread at a time
  kComputing,
  kTrailing,   // waits for the rest of its waiting
  kCollating,  // collates, only after the last sample of a batch
};

// What the training loop does with a batch, in this order.
enum class LoopDoing {
  kNothing,   // the loop has not had a batch yet
  kHanding,   // the loop takes the batch in next()
  kStepping,  // the part of the step that computes
  kResting,   // the rest of the step, and the copies
};

class ThreadLoop {
 public:
  ThreadLoop(const Sequence& sequence, Timeline& timeline)
      : in_(sequence),
        pipeline_(sequence.pipeline),
        out_(timeline),
        cores_(pipeline_.cores, pipeline_.others),
        ample_(sequence.ample()),
        unmade_(sequence.count),
        ready_(sequence.count, false),
        threads_(static_cast<std::size_t>(pipeline_.workers)) {
    for (std::size_t j = 0; j < unmade_.size(); ++j) {
      unmade_[j] = std::max<std::size_t>(1, in_.at(j).tasks);
    }
  }

  void Run() {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].doing = ThreadDoing::kStarting;
      cores_.Sleep(ActorOf(t), in_.start(t));
    }
    free_ = pipeline_.credits();
    EnterNext();
    std::uint32_t actor = 0;
    while (!finished_ && cores_.Next(actor)) {
      if (actor == kLoopBesideThreads) {
        OnLoop();
      } else {
        OnThread(actor - 1);
      }
    }
    out_.end = cores_.now();
  }

 private:
  struct Thread {
    double cpu = 0;
    double wait = 0;
    double lead = 0;
    double device = 0;
    std::size_t batch = 0;
    ThreadDoing doing = ThreadDoing::kNothing;
  };

  static std::uint32_t ActorOf(std::size_t t) { return static_cast<std::uint32_t>(t) + 1; }

  // Takes the next sample, if its batch has a slot.
  void Take(std::size_t t) {
    Thread& thread = threads_[t];
    thread.doing = ThreadDoing::kNothing;
    if (batch_ == in_.count || batch_ >= free_) {
      idle_.push_back(t);
      return;
    }
    const Demand& demand = in_.at(batch_);
    thread.batch = batch_;
    const SampleCost cost =
        demand.tasks > 0 ? in_.epoch.samples[demand.first_sample + sample_] : SampleCost{};
    if (++sample_ >= demand.tasks) {
      sample_ = 0;
      ++batch_;
    }
    const double device = in_.device(cost);
    thread.cpu =
        static_cast<double>(cost.read_cpu + cost.decode_cpu + cost.augment_cpu + cost.tokenize_cpu);
    const float wall = cost.read + cost.decode + cost.augment + cost.tokenize;
    thread.wait = std::max(0.0, static_cast<double>(wall) - thread.cpu - device);
    if (ample_) {
      thread.doing = ThreadDoing::kTrailing;
      cores_.Sleep(ActorOf(t), thread.wait + thread.cpu + pipeline_.overhead);
      return;
    }
    // Samples of a batch get different numbers. In batches of more than 64 samples, some numbers
    // also occur in other batches, which does no harm.
    thread.lead = in_.lead(thread.batch * 64 + unmade_[thread.batch]);
    thread.doing = ThreadDoing::kWaiting;
    thread.device = device;
    if (thread.wait > 0) {
      cores_.Sleep(ActorOf(t), thread.lead * thread.wait);
    } else {
      OnThread(t);
    }
  }

  // Thread `t` has finished its current activity. It goes on until an activity takes time.
  void OnThread(std::size_t t) {
    Thread& thread = threads_[t];
    if (thread.doing == ThreadDoing::kWaiting) {
      thread.doing = ThreadDoing::kReading;
      if (thread.device > 0) {
        cores_.Transfer(ActorOf(t), thread.device);
        return;
      }
    }
    if (thread.doing == ThreadDoing::kReading) {
      thread.doing = ThreadDoing::kComputing;
      cores_.Compute(ActorOf(t), thread.cpu + pipeline_.overhead);
      return;
    }
    if (thread.doing == ThreadDoing::kComputing) {
      thread.doing = ThreadDoing::kTrailing;
      if (thread.wait > 0) {
        cores_.Sleep(ActorOf(t), (1 - thread.lead) * thread.wait);
        return;
      }
    }
    if (thread.doing == ThreadDoing::kTrailing && --unmade_[thread.batch] == 0) {
      thread.doing = ThreadDoing::kCollating;  // the thread that makes a batch's last sample
                                               // collates
      const double collate = in_.at(thread.batch).collate.wall;
      if (collate > 0) {
        cores_.Compute(ActorOf(t), collate);
        return;
      }
    }
    if (thread.doing == ThreadDoing::kCollating) {
      ready_[thread.batch] = true;
      if (waiting_ && thread.batch == handed_) HandOut(in_.at(handed_).latency);
    }
    Take(t);
  }

  // The training loop calls next().
  void EnterNext() {
    if (handed_ == in_.count) {
      finished_ = true;
      return;
    }
    entered_ = cores_.now();
    if (ready_[handed_]) {
      HandOut(0);
    } else {
      waiting_ = true;
    }
  }

  // Batch `handed_` is ready. `latency`: seconds until the waiting loop has the batch.
  void HandOut(double latency) {
    waiting_ = false;
    doing_ = LoopDoing::kHanding;
    const double cost = in_.at(handed_).next + latency;
    if (cost > 0) {
      cores_.Compute(kLoopBesideThreads, cost);
    } else {
      OnLoop();
    }
  }

  // The training loop has finished its current activity. It goes on until an activity takes time.
  void OnLoop() {
    const double load = pipeline_.step_load;
    if (doing_ == LoopDoing::kHanding) {
      out_.Deliver(handed_, entered_, cores_.now());
      stepped_ = cores_.now();
      doing_ = LoopDoing::kStepping;
      const double step = in_.at(handed_).step;
      if (load * step > 0) {
        cores_.Compute(kLoopBesideThreads, std::min(1.0, load) * step, std::max(1.0, load));
        return;
      }
    }
    const Demand& demand = in_.at(handed_);
    if (doing_ == LoopDoing::kStepping) {
      doing_ = LoopDoing::kResting;
      const double rest = std::max(0.0, 1 - load) * demand.step + demand.h2d;
      // Each step causes at least one event, so OnLoop() does not call itself without end.
      if (rest > 0 || load * demand.step <= 0) {
        cores_.Sleep(kLoopBesideThreads, rest);
        return;
      }
    }
    out_.step_time += cores_.now() - stepped_ - demand.h2d;
    ++handed_;
    ++free_;  // the loop is done with the batch, so its slot is free
    std::vector<std::size_t> idle;
    idle.swap(idle_);
    for (const std::size_t t : idle) Take(t);
    EnterNext();
  }

  const Sequence& in_;
  const Pipeline& pipeline_;
  Timeline& out_;
  Cores cores_;
  const bool ample_;
  std::vector<std::size_t> unmade_;  // by batch: samples that are not made yet
  std::vector<bool> ready_;          // by batch
  std::vector<Thread> threads_;
  std::vector<std::size_t> idle_;  // threads that had no sample to take
  std::size_t batch_ = 0;          // batch of the next sample to take
  std::size_t sample_ = 0;         // its place in that batch
  std::size_t free_ = 0;           // batches below this may begin
  std::size_t handed_ = 0;         // the batch that the loop waits for or uses
  LoopDoing doing_ = LoopDoing::kNothing;
  double entered_ = 0;
  double stepped_ = 0;
  bool waiting_ = false;
  bool finished_ = false;
};

}  // namespace

void RunThreads(const Sequence& sequence, Timeline& timeline) {
  ThreadLoop(sequence, timeline).Run();
}

}  // namespace penstock::analyzer
