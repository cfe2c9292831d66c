// SPDX-License-Identifier: Apache-2.0
//
// Simulates worker processes, as in torch/utils/data/dataloader.py, _MultiProcessingDataLoaderIter.
// The actors are workers, the threads that feed their queues, the pin threads of loaders, and the
// loop that iterates over the loaders. Each is a coroutine with the control flow of the function
// that it imitates; comments such as _worker_loop() name these functions.
#include <algorithm>
#include <optional>

#include "analyzer/simulate/activity.h"
#include "analyzer/simulate/batch_queue.h"
#include "analyzer/simulate/cores.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

// The loop's number as an actor. The numbers of the pin threads follow, then those of all workers,
// each with its feeder.
constexpr std::uint32_t kConsumerOfWorkers = 0;

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
        owner_(sequence.count),
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
    actors_.reserve(WorkerActor(workers_.size()));
    actors_.push_back(RunConsumer());
    for (std::size_t g = 0; g < loaders_.size(); ++g) actors_.push_back(RunPinThread(g));
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      actors_.push_back(RunWorker(w));
      actors_.push_back(RunFeeder(w));
    }
    for (std::size_t i = kConsumerOfWorkers + 1; i < actors_.size(); ++i) actors_[i].Resume();
    for (std::size_t g = 0; g < loaders_.size(); ++g) {
      for (std::size_t i = std::min(CreditsOf(*loaders_[g].setup), in_.count); i > 0; --i) {
        SendIndex(g);
      }
    }
    Activity& consumer = actors_[kConsumerOfWorkers];
    consumer.Resume();
    std::uint32_t actor = 0;
    while (!consumer.done() && cores_.Next(actor)) actors_[actor].Resume();
    out_.end = cores_.now();
  }

 private:
  struct Worker {
    BatchQueue indices;
    BatchQueue results;           // results that the feeder still has to send
    std::size_t outstanding = 0;  // in_order=False only
    std::size_t loader = 0;
    bool making = false;  // the worker is making a batch
    double until = 0;     // estimate of when the worker will have made this batch

    [[nodiscard]] bool busy() const { return making || !indices.empty(); }
  };

  struct Loader {
    const LoaderSetup* setup = nullptr;
    std::size_t first = 0;  // index of its first worker
    std::size_t workers = 0;
    std::size_t turn = 0;    // the worker that gets the next index
    std::size_t unsent = 0;  // all batches of this loader before this index have been sent
    BatchQueue arrived;      // arrived at the loop
    BatchQueue unpinned;     // arrived at the pin thread
  };

  // How a worker makes one batch. Times are in seconds.
  struct Making {
    double wait = 0;     // time in which the worker neither computes nor uses the device
    double cpu = 0;      // CPU time of each of its threads
    double collate = 0;  // part of `cpu`
    double threads = 1;
    double device = 0;
    double whole = 0;  // undisturbed time of all parts
    std::size_t pieces = 1;
  };

  static std::uint32_t PinActor(std::size_t g) { return 1 + static_cast<std::uint32_t>(g); }
  [[nodiscard]] std::uint32_t WorkerActor(std::size_t w) const {
    return static_cast<std::uint32_t>(1 + loaders_.size() + 2 * w);
  }
  [[nodiscard]] std::uint32_t FeederActor(std::size_t w) const { return WorkerActor(w) + 1; }

  // For co_await: the running `actor` continues when this time is over.
  std::suspend_always Sleep(std::uint32_t actor, double seconds) {
    cores_.Sleep(actor, seconds);
    return {};
  }
  std::suspend_always Transfer(std::uint32_t actor, double seconds) {
    cores_.Transfer(actor, seconds);
    return {};
  }
  std::suspend_always Compute(std::uint32_t actor, double seconds, double threads = 1) {
    cores_.Compute(actor, seconds, threads);
    return {};
  }

  [[nodiscard]] std::size_t LoaderOf(std::size_t j) const {
    return loaders_.size() == 1 ? 0 : in_.at(j).loader;
  }

  // _try_put_index(): sends one index to the worker whose turn it is; with in_order=False, to the
  // next worker that has credit. Returns how many workers this woke: 0 or 1. nullopt if no index
  // was sent, because no batch is left or no worker has credit.
  std::optional<int> SendIndex(std::size_t g) {
    Loader& loader = loaders_[g];
    while (loader.unsent < in_.count && LoaderOf(loader.unsent) != g) ++loader.unsent;
    if (loader.unsent == in_.count) return std::nullopt;
    for (std::size_t tried = 0; tried < loader.workers; ++tried) {
      const std::size_t w = loader.first + loader.turn;
      loader.turn = loader.turn + 1 == loader.workers ? 0 : loader.turn + 1;
      Worker& worker = workers_[w];
      if (!loader.setup->in_order) {
        if (worker.outstanding >= static_cast<std::size_t>(loader.setup->prefetch)) continue;
        ++worker.outstanding;
      }
      const bool idle = !worker.busy();
      links_.Push(worker.indices, loader.unsent++);
      actors_[WorkerActor(w)].Wake();
      return idle ? 1 : 0;
    }
    return std::nullopt;
  }

  // `warm`: the worker has made a batch before.
  [[nodiscard]] Making MakingOf(const Demand& demand, std::size_t w, bool warm) const {
    const Loader& loader = loaders_[workers_[w].loader];
    const std::size_t place = w - loader.first;
    const Work extra = warm ? Sequence::extra(*loader.setup, place, demand)
                            : in_.first(*loader.setup, place, demand);
    Making making;
    making.threads = in_.threads(demand, extra);
    making.cpu = (demand.cpu() + extra.cpu) / making.threads;
    making.collate = demand.collate.cpu / making.threads;
    making.device = in_.device(demand);
    making.whole = demand.service() + extra.wall;
    making.wait = std::max(0.0, making.whole - making.cpu - making.device);
    making.pieces = in_.pieces(demand);
    return making;
  }

  // _worker_loop()
  Activity RunWorker(std::size_t w) {
    Worker& worker = workers_[w];
    const std::uint32_t self = WorkerActor(w);
    const double overhead = loaders_[worker.loader].setup->overhead;
    co_await Sleep(self, in_.start(w));
    for (bool warm = false;; warm = true) {
      std::size_t j = links_.Pop(worker.indices);
      for (; j == kNoBatch; j = links_.Pop(worker.indices)) co_await Activity::Asleep{};
      const Demand& demand = in_.at(j);
      const Making making = MakingOf(demand, w, warm);
      worker.making = true;
      worker.until = cores_.now() + overhead + making.whole + demand.put;
      if (overhead > 0) co_await Compute(self, overhead);
      const double began = cores_.now();
      if (ample_) {
        co_await Sleep(self, making.wait + making.cpu + demand.put);
      } else {
        if (making.wait > 0) co_await Sleep(self, in_.lead(j) * making.wait);
        const auto pieces = static_cast<double>(making.pieces);
        // With several pieces, the samples are computed one after the other, and then collated.
        const double before_collate = making.pieces > 1 ? making.cpu - making.collate : making.cpu;
        for (std::size_t left = making.pieces; left > 0; --left) {
          if (making.device > 0) co_await Transfer(self, making.device / pieces);
          const double rest = left == 1 ? making.cpu - before_collate + demand.put : 0.0;
          co_await Compute(self, before_collate / pieces + rest, making.threads);
        }
        if (making.wait > 0) co_await Sleep(self, (1 - in_.lead(j)) * making.wait);
      }
      worker.making = false;
      if (demand.counted) out_.making += cores_.now() - began;
      links_.Push(worker.results, j);
      actors_[FeederActor(w)].Wake();
    }
  }

  // The feeder thread of multiprocessing.Queue, which pickles and writes batches.
  Activity RunFeeder(std::size_t w) {
    Worker& worker = workers_[w];
    const std::uint32_t self = FeederActor(w);
    const LoaderSetup& setup = *loaders_[worker.loader].setup;
    for (;;) {
      std::size_t j = links_.Pop(worker.results);
      for (; j == kNoBatch; j = links_.Pop(worker.results)) co_await Activity::Asleep{};
      const Demand& demand = in_.at(j);
      const double feed = setup.feed_share * demand.feed;
      if (feed > 0) co_await Compute(self, feed);
      const double wait = (1 - setup.feed_share) * demand.feed + demand.latency;
      if (wait > 0) co_await Sleep(self, wait);
      owner_[j] = w;
      Arrive(worker.loader, j);
      // CPU time of the worker's process that no span contains. It is spent while the worker makes
      // the next batch.
      const double known = feed + demand.put + setup.overhead;
      if (setup.worker_cpu > known) co_await Compute(self, setup.worker_cpu - known);
    }
  }

  void Arrive(std::size_t g, std::size_t j) {
    Loader& loader = loaders_[g];
    links_.Push(loader.setup->pin_thread ? loader.unpinned : loader.arrived, j);
    actors_[loader.setup->pin_thread ? PinActor(g) : kConsumerOfWorkers].Wake();
  }

  // _pin_memory_loop()
  Activity RunPinThread(std::size_t g) {
    Loader& loader = loaders_[g];
    for (;;) {
      std::size_t j = links_.Pop(loader.unpinned);
      for (; j == kNoBatch; j = links_.Pop(loader.unpinned)) co_await Activity::Asleep{};
      const Demand& demand = in_.at(j);
      const double asking = AskingFor(j, *loader.setup);
      if (asking > 0) co_await Sleep(PinActor(g), asking);
      co_await Compute(PinActor(g), TakingOf(demand, *loader.setup));
      links_.Push(loader.arrived, j);
      actors_[kConsumerOfWorkers].Wake();
    }
  }

  // The time in which the receiver of a message asks its worker for the memory that the message
  // refers to, and waits for the answer. A worker that makes a batch answers when its interpreter
  // lets another thread of the worker run, at the latest when the worker has nothing more to do.
  [[nodiscard]] double AskingFor(std::size_t j, const LoaderSetup& setup) const {
    const Worker& worker = workers_[owner_[j]];
    double asking = worker.busy() ? setup.asking : 0;
    if (worker.indices.empty()) {
      asking = std::min(asking, std::max(0.0, worker.until - cores_.now()));
    }
    return (1 - setup.get_share) * in_.at(j).get + asking;
  }
  static double TakingOf(const Demand& demand, const LoaderSetup& setup) {
    return setup.get_share * demand.get + demand.pin;
  }

  // The training loop: next(), then a step.
  Activity RunConsumer() {
    const std::uint32_t self = kConsumerOfWorkers;
    const double load = pipeline_.step_load;
    for (std::size_t due = 0; due < in_.count; ++due) {
      const double entered = cores_.now();
      const std::size_t g = LoaderOf(due);
      Loader& loader = loaders_[g];
      const LoaderSetup& setup = *loader.setup;
      std::size_t j = due;
      if (loader.workers == 0) {  // the loop makes the batch itself
        const Demand& made = in_.at(j);
        const double threads = in_.threads(made, {});
        const double wait = made.service() - made.cpu() / threads;
        if (wait > 0) co_await Sleep(self, wait);
        co_await Compute(self, made.cpu() / threads + made.pin + made.next, threads);
      } else {
        // Takes results until the batch that is due has arrived; with in_order=False, takes only
        // the first result.
        while (!setup.in_order || !got_[due]) {
          j = links_.Pop(loader.arrived);
          for (; j == kNoBatch; j = links_.Pop(loader.arrived)) co_await Activity::Asleep{};
          if (!setup.pin_thread) {
            const Demand& taken = in_.at(j);
            const double asking = AskingFor(j, setup);
            if (asking > 0) co_await Sleep(self, asking);
            const double taking = TakingOf(taken, setup);
            if (taking > 0) co_await Compute(self, taking);
          }
          if (!setup.in_order) break;
          got_[j] = true;
        }
        if (setup.in_order) j = due;
        const double handing = in_.at(j).next;
        if (handing > 0) co_await Compute(self, handing);
      }
      if (!setup.in_order && loader.workers > 0) --workers_[owner_[j]].outstanding;
      // A woken worker computes at once, so it counts as one more thread. SendIndex() already lets
      // it begin, so both cases are examined before the call.
      const bool full = cores_.FullWith(0);
      const bool full_with_woken = cores_.FullWith(1);
      const std::optional<int> woken = SendIndex(g);
      if (woken && (*woken > 0 ? full_with_woken : full)) {
        co_await Sleep(self, pipeline_.preempted);
      }
      out_.Deliver(j, entered, cores_.now());
      const double stepped = cores_.now();
      const Demand& demand = in_.at(j);
      const double computing = load * demand.step;
      if (computing > 0) {
        co_await Compute(self, std::min(1.0, load) * demand.step, std::max(1.0, load));
      }
      const double rest = std::max(0.0, 1 - load) * demand.step + demand.h2d;
      // Each step causes at least one event, so that other actors can run even if the step takes no
      // time.
      if (rest > 0 || computing <= 0) co_await Sleep(self, rest);
      out_.step_time += cores_.now() - stepped - demand.h2d;
    }
  }

  const Sequence& in_;
  const Pipeline& pipeline_;
  Timeline& out_;
  Cores cores_;
  const bool ample_;
  BatchLinks links_;
  std::vector<bool> got_;           // by batch: taken from the queue; used only with in_order
  std::vector<std::size_t> owner_;  // by batch: its worker, once it has arrived
  std::vector<Loader> loaders_;
  std::vector<Worker> workers_;
  std::vector<Activity> actors_;  // must be the last member: they refer to the others
};

}  // namespace

void RunWorkers(const Sequence& sequence, Timeline& timeline) {
  WorkerLoop(sequence, timeline).Run();
}

}  // namespace penstock::analyzer
