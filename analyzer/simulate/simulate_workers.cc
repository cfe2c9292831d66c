// SPDX-License-Identifier: Apache-2.0
//
// Worker processes: torch/utils/data/dataloader.py, _MultiProcessingDataLoaderIter.
#include <algorithm>

#include "analyzer/simulate/batch_queue.h"
#include "analyzer/simulate/cores.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

// The pin threads of the loaders follow it, then all workers with their feeders.
constexpr std::uint32_t kConsumerOfWorkers = 0;

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
  kMaking,  // a batch of a loader without workers
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
        loaders_(1 + pipeline_.beside.size()),
        workers_(pipeline_.all_workers()) {
    std::size_t first = 0;
    for (std::size_t g = 0; g < loaders_.size(); ++g) {
      Loader& loader = loaders_[g];
      loader.setup = &pipeline_.setup(g);
      loader.first = first;
      loader.workers = static_cast<std::size_t>(std::max(0, loader.setup->workers));
      for (std::size_t w = 0; w < loader.workers; ++w) workers_[first++].loader = g;
    }
  }

  void Run() {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].doing = WorkerDoing::kStarting;
      cores_.Sleep(WorkerActor(w), in_.start(w));
    }
    for (std::size_t g = 0; g < loaders_.size(); ++g) {
      for (std::size_t i = std::min(CreditsOf(*loaders_[g].setup), in_.count); i > 0; --i) {
        SendIndex(g);
      }
    }
    EnterNext();
    std::uint32_t actor = 0;
    while (!finished_ && cores_.Next(actor)) {
      if (actor == kConsumerOfWorkers) {
        OnConsumer();
      } else if (actor <= loaders_.size()) {
        OnPinned(actor - 1);
      } else if ((actor - WorkerActor(0)) % 2 == 0) {
        OnWorker((actor - WorkerActor(0)) / 2);
      } else {
        OnFeeder((actor - WorkerActor(0)) / 2);
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
    std::size_t loader = 0;
    double began = 0;
    bool warm = false;  // has made a batch
    WorkerDoing doing = WorkerDoing::kNothing;
    WorkerDoing feeder = WorkerDoing::kNothing;
  };

  struct Loader {
    const LoaderSetup* setup = nullptr;
    std::size_t first = 0;  // of its workers
    std::size_t workers = 0;
    std::size_t turn = 0;  // which of them gets the next index
    std::size_t sent = 0;  // batches before this one are with its workers, or others'
    BatchQueue arrived;    // at the consumer
    BatchQueue unpinned;   // at the pin thread
    std::size_t pinning = kNoBatch;
    WorkerDoing pinner = WorkerDoing::kNothing;
  };

  [[nodiscard]] std::uint32_t WorkerActor(std::size_t w) const {
    return static_cast<std::uint32_t>(1 + loaders_.size() + 2 * w);
  }
  [[nodiscard]] std::uint32_t FeederActor(std::size_t w) const { return WorkerActor(w) + 1; }
  static std::uint32_t PinActor(std::size_t g) { return 1 + static_cast<std::uint32_t>(g); }

  [[nodiscard]] std::size_t LoaderOf(std::size_t j) const {
    return loaders_.size() == 1 ? 0 : in_.at(j).loader;
  }

  // _try_put_index(): in turn; out of order, to the next worker that has credit.
  void SendIndex(std::size_t g) {
    Loader& loader = loaders_[g];
    while (loader.sent < in_.count && LoaderOf(loader.sent) != g) ++loader.sent;
    if (loader.sent == in_.count) return;
    for (std::size_t tried = 0; tried < loader.workers; ++tried) {
      const std::size_t w = loader.first + loader.turn;
      loader.turn = loader.turn + 1 == loader.workers ? 0 : loader.turn + 1;
      Worker& worker = workers_[w];
      if (!loader.setup->in_order) {
        if (worker.outstanding >= static_cast<std::size_t>(loader.setup->prefetch)) continue;
        ++worker.outstanding;
      }
      links_.Push(worker.indices, loader.sent++);
      if (worker.doing == WorkerDoing::kNothing) TakeIndex(w);
      return;
    }
  }

  [[nodiscard]] const LoaderSetup& SetupOf(const Worker& worker) const {
    return *loaders_[worker.loader].setup;
  }

  void TakeIndex(std::size_t w) {
    Worker& worker = workers_[w];
    worker.batch = links_.Pop(worker.indices);
    worker.doing = WorkerDoing::kNothing;
    if (worker.batch == kNoBatch) return;
    worker.doing = WorkerDoing::kOverhead;
    if (SetupOf(worker).overhead > 0) {
      cores_.Compute(WorkerActor(w), SetupOf(worker).overhead);
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
    const std::size_t place = w - loaders_[worker.loader].first;
    const Work extra = worker.warm ? Sequence::extra(SetupOf(worker), place, demand)
                                   : in_.first(SetupOf(worker), place, demand);
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
    const double feed = SetupOf(worker).feed_share * in_.at(worker.feeding).feed;
    if (feed > 0) {
      cores_.Compute(FeederActor(w), feed);
    } else {
      OnFeeder(w);
    }
  }

  void OnFeeder(std::size_t w) {
    Worker& worker = workers_[w];
    const Demand& demand = in_.at(worker.feeding);
    const LoaderSetup& setup = SetupOf(worker);
    if (worker.feeder == WorkerDoing::kFeeding) {
      worker.feeder = WorkerDoing::kTravelling;
      const double wait = (1 - setup.feed_share) * demand.feed + demand.latency;
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
      Arrive(worker.loader, j);
      // CPU time of the process that no span holds, beside its next batch.
      const double known = setup.feed_share * demand.feed + demand.put + setup.overhead;
      const double rest = setup.worker_cpu - known;
      if (rest > 0) {
        cores_.Compute(FeederActor(w), rest);
        return;
      }
    }
    Feed(w);
  }

  void Arrive(std::size_t g, std::size_t j) {
    Loader& loader = loaders_[g];
    if (!loader.setup->pin_thread) {
      links_.Push(loader.arrived, j);
      if (doing_ == WorkerDoing::kNothing) Receive();
      return;
    }
    links_.Push(loader.unpinned, j);
    if (loader.pinning == kNoBatch) Pin(g);
  }

  void Pin(std::size_t g) {
    Loader& loader = loaders_[g];
    loader.pinning = links_.Pop(loader.unpinned);
    loader.pinner = WorkerDoing::kNothing;
    if (loader.pinning == kNoBatch) return;
    loader.pinner = WorkerDoing::kAsking;
    const double asking = AskingFor(in_.at(loader.pinning), *loader.setup);
    if (asking > 0) {
      cores_.Sleep(PinActor(g), asking);
    } else {
      OnPinned(g);
    }
  }

  void OnPinned(std::size_t g) {
    Loader& loader = loaders_[g];
    if (loader.pinner == WorkerDoing::kAsking) {
      loader.pinner = WorkerDoing::kGetting;
      cores_.Compute(PinActor(g), TakingOf(in_.at(loader.pinning), *loader.setup));
      return;
    }
    links_.Push(loader.arrived, loader.pinning);
    if (doing_ == WorkerDoing::kNothing) Receive();
    Pin(g);
  }

  static double AskingFor(const Demand& demand, const LoaderSetup& setup) {
    return (1 - setup.get_share) * demand.get;
  }
  static double TakingOf(const Demand& demand, const LoaderSetup& setup) {
    return setup.get_share * demand.get + demand.pin;
  }

  void EnterNext() {
    if (handed_ == in_.count) {
      finished_ = true;
      return;
    }
    entered_ = cores_.now();
    if (loaders_[LoaderOf(handed_)].workers > 0) {
      Receive();
    } else {
      Make(handed_);
    }
  }

  // In next() of a loader without workers.
  void Make(std::size_t j) {
    receiving_ = j;
    doing_ = WorkerDoing::kMaking;
    const Demand& demand = in_.at(j);
    const double wait = demand.service() - demand.cpu() / in_.threads(demand, {});
    if (wait > 0) {
      cores_.Sleep(kConsumerOfWorkers, wait);
    } else {
      OnConsumer();
    }
  }

  // In next(): hands out what is due if it is there, else takes the next result, else waits.
  void Receive() {
    Loader& loader = loaders_[LoaderOf(handed_)];
    const LoaderSetup& setup = *loader.setup;
    for (;;) {
      if (setup.in_order && got_[handed_]) {
        HandOut(handed_);
        return;
      }
      const std::size_t j = links_.Pop(loader.arrived);
      doing_ = WorkerDoing::kNothing;
      if (j == kNoBatch) return;
      receiving_ = j;
      doing_ = WorkerDoing::kGetting;
      if (!setup.pin_thread) {
        const double asking = AskingFor(in_.at(j), setup);
        if (asking > 0) {
          doing_ = WorkerDoing::kAsking;
          cores_.Sleep(kConsumerOfWorkers, asking);
          return;
        }
        if (Take(j)) return;
      }
      if (!setup.in_order) {
        HandOut(j);
        return;
      }
      got_[j] = true;
    }
  }

  // Returns whether that takes time.
  bool Take(std::size_t j) {
    doing_ = WorkerDoing::kGetting;
    const double taking = TakingOf(in_.at(j), *loaders_[LoaderOf(j)].setup);
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
    const std::size_t loader = LoaderOf(j);
    const bool in_order = loaders_[loader].setup->in_order;
    const double load = pipeline_.step_load;
    switch (doing_) {
      case WorkerDoing::kMaking: {
        doing_ = WorkerDoing::kHanding;
        const double threads = in_.threads(demand, {});
        cores_.Compute(kConsumerOfWorkers, demand.cpu() / threads + demand.pin + demand.next,
                       threads);
        return;
      }
      case WorkerDoing::kAsking:
        if (Take(j)) return;
        [[fallthrough]];
      case WorkerDoing::kGetting:
        if (!in_order) {
          HandOut(j);
          return;
        }
        got_[j] = true;
        Receive();
        return;
      case WorkerDoing::kHanding:
        if (!in_order && loaders_[loader].workers > 0) --workers_[owner_[j]].outstanding;
        SendIndex(loader);
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
  std::vector<Loader> loaders_;
  std::vector<Worker> workers_;
  std::size_t receiving_ = kNoBatch;
  std::size_t handed_ = 0;
  WorkerDoing doing_ = WorkerDoing::kStepping;  // of the consumer; kNothing: it waits in next()
  double entered_ = 0;
  double stepped_ = 0;
  bool finished_ = false;
};

}  // namespace

void RunWorkers(const Sequence& sequence, Timeline& timeline) {
  WorkerLoop(sequence, timeline).Run();
}

}  // namespace penstock::analyzer
