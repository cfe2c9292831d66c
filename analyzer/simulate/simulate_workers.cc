// SPDX-License-Identifier: Apache-2.0
//
// Worker processes: torch/utils/data/dataloader.py, _MultiProcessingDataLoaderIter.
#include <algorithm>

#include "analyzer/simulate/batch_queue.h"
#include "analyzer/simulate/cores.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

constexpr std::uint32_t kConsumerOfWorkers = 0;
constexpr std::uint32_t kPinner = 1;
constexpr std::uint32_t kFirstWorker = 2;

enum class WorkerDoing {
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
  kAsking,  // for what a message only refers to
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
        links_(sequence.count),
        got_(sequence.count, false),
        workers_(static_cast<std::size_t>(pipeline_.workers)) {}

  void Run() {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].doing = WorkerDoing::kStarting;
      cores_.Sleep(WorkerActor(w), in_.start(w));
    }
    for (std::size_t i = std::min(pipeline_.credits(), in_.count); i > 0; --i) SendIndex();
    EnterNext();
    std::uint32_t actor = 0;
    while (!finished_ && cores_.Next(actor)) {
      if (actor == kConsumerOfWorkers) {
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
    BatchQueue indices;
    BatchQueue results;  // that the feeder has still to send
    std::size_t batch = kNoBatch;
    std::size_t feeding = kNoBatch;
    std::size_t outstanding = 0;  // in_order=False only
    std::size_t pieces = 0;       // of the batch, still to be read
    double began = 0;
    bool warm = false;  // has made a batch
    WorkerDoing doing = WorkerDoing::kNothing;
    WorkerDoing feeder = WorkerDoing::kNothing;
  };

  static std::uint32_t WorkerActor(std::size_t w) {
    return kFirstWorker + 2 * static_cast<std::uint32_t>(w);
  }
  static std::uint32_t FeederActor(std::size_t w) { return WorkerActor(w) + 1; }

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
      links_.Push(worker.indices, sent_++);
      if (worker.doing == WorkerDoing::kNothing) TakeIndex(w);
      return;
    }
  }

  void TakeIndex(std::size_t w) {
    Worker& worker = workers_[w];
    worker.batch = links_.Pop(worker.indices);
    worker.doing = WorkerDoing::kNothing;
    if (worker.batch == kNoBatch) return;
    worker.doing = WorkerDoing::kOverhead;
    if (pipeline_.overhead > 0) {
      cores_.Compute(WorkerActor(w), pipeline_.overhead);
    } else {
      OnWorker(w);
    }
  }

  void OnWorker(std::size_t w) {
    Worker& worker = workers_[w];
    if (worker.doing == WorkerDoing::kStarting) {
      TakeIndex(w);
      return;
    }
    const Demand& demand = in_.at(worker.batch);
    const Work extra = worker.warm ? in_.extra(w, demand) : in_.first(w, demand);
    const double threads = in_.threads(demand, extra);
    const double cpu = (demand.cpu() + extra.cpu) / threads;  // of each
    const double device = in_.device(demand);
    const double wait = std::max(0.0, demand.service() + extra.wall - cpu - device);
    if (worker.doing == WorkerDoing::kOverhead) worker.began = cores_.now();
    if (worker.doing == WorkerDoing::kOverhead && ample_) {
      worker.doing = WorkerDoing::kTrailing;
      cores_.Sleep(WorkerActor(w), wait + cpu + demand.put);
      return;
    }
    if (worker.doing == WorkerDoing::kOverhead) {
      worker.doing = WorkerDoing::kWaiting;
      worker.pieces = in_.pieces(demand);
      if (wait > 0) {
        cores_.Sleep(WorkerActor(w), in_.lead(worker.batch) * wait);
        return;
      }
    }
    const auto pieces = static_cast<double>(in_.pieces(demand));
    if (worker.doing == WorkerDoing::kWaiting) {
      worker.doing = WorkerDoing::kReading;
      if (device > 0) {
        cores_.Transfer(WorkerActor(w), device / pieces);
        return;
      }
    }
    if (worker.doing == WorkerDoing::kReading) {
      worker.doing = --worker.pieces > 0 ? WorkerDoing::kWaiting : WorkerDoing::kComputing;
      const bool last = worker.doing == WorkerDoing::kComputing;
      // Samples are computed one after the other, and then what they are collated to.
      const double whole = pieces > 1 ? cpu - demand.collate.cpu / threads : cpu;
      cores_.Compute(WorkerActor(w), whole / pieces + (last ? cpu - whole + demand.put : 0.0),
                     threads);
      return;
    }
    if (worker.doing == WorkerDoing::kComputing) {
      worker.doing = WorkerDoing::kTrailing;
      if (wait > 0) {
        cores_.Sleep(WorkerActor(w), (1 - in_.lead(worker.batch)) * wait);
        return;
      }
    }
    worker.warm = true;
    if (demand.counted) out_.making += cores_.now() - worker.began;
    links_.Push(worker.results, worker.batch);
    if (worker.feeder == WorkerDoing::kNothing) Feed(w);
    TakeIndex(w);
  }

  void Feed(std::size_t w) {
    Worker& worker = workers_[w];
    worker.feeding = links_.Pop(worker.results);
    worker.feeder = WorkerDoing::kNothing;
    if (worker.feeding == kNoBatch) return;
    worker.feeder = WorkerDoing::kFeeding;
    const double feed = pipeline_.feed_share * in_.at(worker.feeding).feed;
    if (feed > 0) {
      cores_.Compute(FeederActor(w), feed);
    } else {
      OnFeeder(w);
    }
  }

  void OnFeeder(std::size_t w) {
    Worker& worker = workers_[w];
    const Demand& demand = in_.at(worker.feeding);
    if (worker.feeder == WorkerDoing::kFeeding) {
      worker.feeder = WorkerDoing::kTravelling;
      const double wait = (1 - pipeline_.feed_share) * demand.feed + demand.latency;
      if (wait > 0) {
        cores_.Sleep(FeederActor(w), wait);
        return;
      }
    }
    if (worker.feeder == WorkerDoing::kTravelling) {
      worker.feeder = WorkerDoing::kTidying;
      const std::size_t j = worker.feeding;
      owner_.resize(in_.count);
      owner_[j] = w;
      Arrive(j);
      // CPU time of the process that no span holds, beside its next batch.
      const double known = pipeline_.feed_share * demand.feed + demand.put + pipeline_.overhead;
      const double rest = pipeline_.worker_cpu - known;
      if (rest > 0) {
        cores_.Compute(FeederActor(w), rest);
        return;
      }
    }
    Feed(w);
  }

  void Arrive(std::size_t j) {
    if (!pipeline_.pin_thread) {
      links_.Push(arrived_, j);
      if (doing_ == WorkerDoing::kNothing) Receive();
      return;
    }
    links_.Push(unpinned_, j);
    if (pinning_ == kNoBatch) Pin();
  }

  void Pin() {
    pinning_ = links_.Pop(unpinned_);
    pinner_ = WorkerDoing::kNothing;
    if (pinning_ == kNoBatch) return;
    pinner_ = WorkerDoing::kAsking;
    const double asking = AskingFor(in_.at(pinning_));
    if (asking > 0) {
      cores_.Sleep(kPinner, asking);
    } else {
      OnPinned();
    }
  }

  void OnPinned() {
    if (pinner_ == WorkerDoing::kAsking) {
      pinner_ = WorkerDoing::kGetting;
      cores_.Compute(kPinner, TakingOf(in_.at(pinning_)));
      return;
    }
    links_.Push(arrived_, pinning_);
    if (doing_ == WorkerDoing::kNothing) Receive();
    Pin();
  }

  [[nodiscard]] double AskingFor(const Demand& demand) const {
    return (1 - pipeline_.get_share) * demand.get;
  }
  [[nodiscard]] double TakingOf(const Demand& demand) const {
    return pipeline_.get_share * demand.get + demand.pin;
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
      const std::size_t j = links_.Pop(arrived_);
      doing_ = WorkerDoing::kNothing;
      if (j == kNoBatch) return;
      receiving_ = j;
      doing_ = WorkerDoing::kGetting;
      if (!pipeline_.pin_thread) {
        const double asking = AskingFor(in_.at(j));
        if (asking > 0) {
          doing_ = WorkerDoing::kAsking;
          cores_.Sleep(kConsumerOfWorkers, asking);
          return;
        }
        if (Take(j)) return;
      }
      if (!pipeline_.in_order) {
        HandOut(j);
        return;
      }
      got_[j] = true;
    }
  }

  // Returns whether that takes time.
  bool Take(std::size_t j) {
    doing_ = WorkerDoing::kGetting;
    const double taking = TakingOf(in_.at(j));
    if (taking > 0) cores_.Compute(kConsumerOfWorkers, taking);
    return taking > 0;
  }

  void HandOut(std::size_t j) {
    receiving_ = j;
    doing_ = WorkerDoing::kHanding;
    const double cost = in_.at(j).next;
    if (cost > 0) {
      cores_.Compute(kConsumerOfWorkers, cost);
    } else {
      OnConsumer();
    }
  }

  void OnConsumer() {
    const std::size_t j = receiving_;
    const Demand& demand = in_.at(j);
    const double load = pipeline_.step_load;
    switch (doing_) {
      case WorkerDoing::kAsking:
        if (Take(j)) return;
        [[fallthrough]];
      case WorkerDoing::kGetting:
        if (!pipeline_.in_order) {
          HandOut(j);
          return;
        }
        got_[j] = true;
        Receive();
        return;
      case WorkerDoing::kHanding:
        if (!pipeline_.in_order) --workers_[owner_[j]].outstanding;
        SendIndex();
        ++handed_;
        out_.Deliver(j, entered_, cores_.now());
        stepped_ = cores_.now();
        doing_ = WorkerDoing::kStepping;
        if (load * demand.step > 0) {
          cores_.Compute(kConsumerOfWorkers, std::min(1.0, load) * demand.step,
                         std::max(1.0, load));
          return;
        }
        [[fallthrough]];
      case WorkerDoing::kStepping: {
        doing_ = WorkerDoing::kResting;
        const double rest = std::max(0.0, 1 - load) * demand.step + demand.h2d;
        if (rest > 0 || load * demand.step <= 0) {  // always an event: no recursion
          cores_.Sleep(kConsumerOfWorkers, rest);
          return;
        }
        [[fallthrough]];
      }
      case WorkerDoing::kResting:
        out_.step_time += cores_.now() - stepped_ - demand.h2d;
        doing_ = WorkerDoing::kNothing;
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
  BatchLinks links_;
  std::vector<bool> got_;           // by batch: taken from the queue, not yet due
  std::vector<std::size_t> owner_;  // by batch: its worker
  std::vector<Worker> workers_;
  BatchQueue arrived_;   // at the consumer
  BatchQueue unpinned_;  // at the pin thread
  std::size_t pinning_ = kNoBatch;
  std::size_t receiving_ = kNoBatch;
  std::size_t sent_ = 0;
  std::size_t handed_ = 0;
  std::size_t turn_ = 0;
  WorkerDoing doing_ = WorkerDoing::kStepping;  // of the consumer; kNothing: it waits in next()
  WorkerDoing pinner_ = WorkerDoing::kNothing;
  double entered_ = 0;
  double stepped_ = 0;
  bool finished_ = false;
};

}  // namespace

void RunWorkers(const Sequence& sequence, Timeline& timeline) {
  WorkerLoop(sequence, timeline).Run();
}

}  // namespace penstock::analyzer
