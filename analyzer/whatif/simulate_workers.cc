// SPDX-License-Identifier: Apache-2.0
//
// Worker processes: torch/utils/data/dataloader.py, _MultiProcessingDataLoaderIter.
#include <algorithm>

#include "analyzer/whatif/cores.h"
#include "analyzer/whatif/simulate.h"

namespace penstock::analyzer {
namespace {

constexpr std::uint32_t kConsumer = 0;
constexpr std::uint32_t kPinner = 1;
constexpr std::uint32_t kFirstWorker = 2;
constexpr std::size_t kNoBatch = static_cast<std::size_t>(-1);

// A queue of batches as a list through an array that all queues share: a batch is in one at a time.
struct Queue {
  std::size_t head = kNoBatch;
  std::size_t tail = kNoBatch;
};

enum class Doing {
  kNothing,
  kStarting,
  kOverhead,
  kWaiting,
  kReading,  // from the device, in turn
  kComputing,
  kTrailing,  // the rest of the waiting
  kFeeding,
  kTravelling,
  kTidying,
  kGetting,
  kHanding,
  kStepping,
  kResting,
};

class WorkerLoop {
 public:
  WorkerLoop(const Sequence& sequence, Timeline& timeline)
      : in_(sequence),
        pipeline_(sequence.pipeline),
        out_(timeline),
        cores_(pipeline_.cores, pipeline_.others),
        ample_(sequence.ample()),
        next_(sequence.count, kNoBatch),
        got_(sequence.count, false),
        workers_(static_cast<std::size_t>(pipeline_.workers)) {}

  void Run() {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].doing = Doing::kStarting;
      cores_.Sleep(WorkerActor(w), in_.start(w));
    }
    for (std::size_t i = std::min(pipeline_.credits(), in_.count); i > 0; --i) SendIndex();
    EnterNext();
    std::uint32_t actor = 0;
    while (!finished_ && cores_.Next(actor)) {
      if (actor == kConsumer) {
        OnConsumer();
      } else if (actor == kPinner) {
        OnPinned();
      } else if ((actor - kFirstWorker) % 2 == 0) {
        OnWorker((actor - kFirstWorker) / 2);
      } else {
        OnFeeder((actor - kFirstWorker) / 2);
      }
    }
    out_.end = cores_.now();
  }

 private:
  struct Worker {
    Queue indices;
    Queue results;  // that the feeder has still to send
    std::size_t batch = kNoBatch;
    std::size_t feeding = kNoBatch;
    std::size_t outstanding = 0;  // in_order=False only
    Doing doing = Doing::kNothing;
    Doing feeder = Doing::kNothing;
  };

  static std::uint32_t WorkerActor(std::size_t w) {
    return kFirstWorker + 2 * static_cast<std::uint32_t>(w);
  }
  static std::uint32_t FeederActor(std::size_t w) { return WorkerActor(w) + 1; }

  void Push(Queue& queue, std::size_t j) {
    next_[j] = kNoBatch;
    if (queue.head == kNoBatch) {
      queue.head = j;
    } else {
      next_[queue.tail] = j;
    }
    queue.tail = j;
  }
  std::size_t Pop(Queue& queue) {
    const std::size_t j = queue.head;
    if (j != kNoBatch) queue.head = next_[j];
    return j;
  }

  // _try_put_index(): in turn; out of order, to the next worker that has credit.
  void SendIndex() {
    if (sent_ == in_.count) return;
    for (std::size_t tried = 0; tried < workers_.size(); ++tried) {
      const std::size_t w = turn_;
      turn_ = turn_ + 1 == workers_.size() ? 0 : turn_ + 1;
      Worker& worker = workers_[w];
      if (!pipeline_.in_order) {
        if (worker.outstanding >= static_cast<std::size_t>(pipeline_.prefetch)) continue;
        ++worker.outstanding;
      }
      Push(worker.indices, sent_++);
      if (worker.doing == Doing::kNothing) TakeIndex(w);
      return;
    }
  }

  void TakeIndex(std::size_t w) {
    Worker& worker = workers_[w];
    worker.batch = Pop(worker.indices);
    worker.doing = Doing::kNothing;
    if (worker.batch == kNoBatch) return;
    worker.doing = Doing::kOverhead;
    if (pipeline_.overhead > 0) {
      cores_.Compute(WorkerActor(w), pipeline_.overhead);
    } else {
      OnWorker(w);
    }
  }

  void OnWorker(std::size_t w) {
    Worker& worker = workers_[w];
    if (worker.doing == Doing::kStarting) {
      TakeIndex(w);
      return;
    }
    const Demand& demand = in_.at(worker.batch);
    const double cpu = demand.cpu();
    const double device = in_.device(demand);
    const double wait = std::max(0.0, demand.service() - cpu - device);
    if (worker.doing == Doing::kOverhead && ample_) {
      worker.doing = Doing::kTrailing;
      cores_.Sleep(WorkerActor(w), wait + cpu + demand.put);
      return;
    }
    if (worker.doing == Doing::kOverhead) {
      worker.doing = Doing::kWaiting;
      if (wait > 0) {
        cores_.Sleep(WorkerActor(w), in_.lead(worker.batch) * wait);
        return;
      }
    }
    if (worker.doing == Doing::kWaiting) {
      worker.doing = Doing::kReading;
      if (device > 0) {
        cores_.Transfer(WorkerActor(w), device);
        return;
      }
    }
    if (worker.doing == Doing::kReading) {
      worker.doing = Doing::kComputing;
      cores_.Compute(WorkerActor(w), cpu + demand.put);
      return;
    }
    if (worker.doing == Doing::kComputing) {
      worker.doing = Doing::kTrailing;
      if (wait > 0) {
        cores_.Sleep(WorkerActor(w), (1 - in_.lead(worker.batch)) * wait);
        return;
      }
    }
    Push(worker.results, worker.batch);
    if (worker.feeder == Doing::kNothing) Feed(w);
    TakeIndex(w);
  }

  void Feed(std::size_t w) {
    Worker& worker = workers_[w];
    worker.feeding = Pop(worker.results);
    worker.feeder = Doing::kNothing;
    if (worker.feeding == kNoBatch) return;
    worker.feeder = Doing::kFeeding;
    const double feed = in_.at(worker.feeding).feed;
    if (feed > 0) {
      cores_.Compute(FeederActor(w), feed);
    } else {
      OnFeeder(w);
    }
  }

  void OnFeeder(std::size_t w) {
    Worker& worker = workers_[w];
    const Demand& demand = in_.at(worker.feeding);
    if (worker.feeder == Doing::kFeeding) {
      worker.feeder = Doing::kTravelling;
      if (demand.latency > 0) {
        cores_.Sleep(FeederActor(w), demand.latency);
        return;
      }
    }
    if (worker.feeder == Doing::kTravelling) {
      worker.feeder = Doing::kTidying;
      const std::size_t j = worker.feeding;
      owner_.resize(in_.count);
      owner_[j] = w;
      Arrive(j);
      // CPU time of the process that no span holds, beside its next batch.
      const double rest = pipeline_.worker_cpu - demand.feed - pipeline_.overhead;
      if (rest > 0) {
        cores_.Compute(FeederActor(w), rest);
        return;
      }
    }
    Feed(w);
  }

  void Arrive(std::size_t j) {
    if (!pipeline_.pin_thread) {
      Push(arrived_, j);
      if (doing_ == Doing::kNothing) Receive();
      return;
    }
    Push(unpinned_, j);
    if (pinning_ == kNoBatch) Pin();
  }

  void Pin() {
    pinning_ = Pop(unpinned_);
    if (pinning_ == kNoBatch) return;
    const Demand& demand = in_.at(pinning_);
    cores_.Compute(kPinner, demand.get + demand.pin);
  }

  void OnPinned() {
    Push(arrived_, pinning_);
    if (doing_ == Doing::kNothing) Receive();
    Pin();
  }

  void EnterNext() {
    if (handed_ == in_.count) {
      finished_ = true;
      return;
    }
    entered_ = cores_.now();
    Receive();
  }

  // In next(): hands out what is due if it is there, else takes the next result, else waits.
  void Receive() {
    for (;;) {
      if (pipeline_.in_order && got_[handed_]) {
        HandOut(handed_);
        return;
      }
      const std::size_t j = Pop(arrived_);
      doing_ = Doing::kNothing;
      if (j == kNoBatch) return;
      receiving_ = j;
      doing_ = Doing::kGetting;
      const Demand& demand = in_.at(j);
      const double get = pipeline_.pin_thread ? 0 : demand.get + demand.pin;
      if (get > 0) {
        cores_.Compute(kConsumer, get);
        return;
      }
      if (!pipeline_.in_order) {
        HandOut(j);
        return;
      }
      got_[j] = true;
    }
  }

  void HandOut(std::size_t j) {
    receiving_ = j;
    doing_ = Doing::kHanding;
    const double cost = in_.at(j).next;
    if (cost > 0) {
      cores_.Compute(kConsumer, cost);
    } else {
      OnConsumer();
    }
  }

  void OnConsumer() {
    const std::size_t j = receiving_;
    const Demand& demand = in_.at(j);
    const double load = pipeline_.step_load;
    switch (doing_) {
      case Doing::kGetting:
        if (!pipeline_.in_order) {
          HandOut(j);
          return;
        }
        got_[j] = true;
        Receive();
        return;
      case Doing::kHanding:
        if (!pipeline_.in_order) --workers_[owner_[j]].outstanding;
        SendIndex();
        ++handed_;
        out_.Deliver(j, entered_, cores_.now());
        stepped_ = cores_.now();
        doing_ = Doing::kStepping;
        if (load * demand.step > 0) {
          cores_.Compute(kConsumer, std::min(1.0, load) * demand.step, std::max(1.0, load));
          return;
        }
        [[fallthrough]];
      case Doing::kStepping: {
        doing_ = Doing::kResting;
        const double rest = std::max(0.0, 1 - load) * demand.step + demand.h2d;
        if (rest > 0 || load * demand.step <= 0) {  // always an event: no recursion
          cores_.Sleep(kConsumer, rest);
          return;
        }
        [[fallthrough]];
      }
      case Doing::kResting:
        out_.step_time += cores_.now() - stepped_ - demand.h2d;
        doing_ = Doing::kNothing;
        EnterNext();
        return;
      default:
        return;
    }
  }

  const Sequence& in_;
  const Pipeline& pipeline_;
  Timeline& out_;
  Cores cores_;
  const bool ample_;
  std::vector<std::size_t> next_;   // of Queue
  std::vector<bool> got_;           // by batch: taken from the queue, not yet due
  std::vector<std::size_t> owner_;  // by batch: its worker
  std::vector<Worker> workers_;
  Queue arrived_;   // at the consumer
  Queue unpinned_;  // at the pin thread
  std::size_t pinning_ = kNoBatch;
  std::size_t receiving_ = kNoBatch;
  std::size_t sent_ = 0;
  std::size_t handed_ = 0;
  std::size_t turn_ = 0;
  Doing doing_ = Doing::kStepping;  // of the consumer; kNothing: it waits in next()
  double entered_ = 0;
  double stepped_ = 0;
  bool finished_ = false;
};

}  // namespace

void RunWorkers(const Sequence& sequence, Timeline& timeline) {
  WorkerLoop(sequence, timeline).Run();
}

}  // namespace penstock::analyzer
