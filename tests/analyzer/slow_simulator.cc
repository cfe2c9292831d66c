// SPDX-License-Identifier: Apache-2.0
#include "tests/analyzer/slow_simulator.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

namespace penstock::analyzer::testing {
namespace {

// Work of an actor: waiting, reading, or computing with threads.
struct Task {
  double left = 0;
  bool computes = false;
  double threads = 1;
  bool reads = false;
  std::size_t place = 0;  // place in the queue of readers; 0: not in the queue yet
};

struct Actor {
  std::deque<Task> tasks;       // done one after the other
  std::function<bool()> go_on;  // called if there are no tasks; returns whether anything changed
  void Wait(double seconds) { tasks.push_back({seconds, false, 0, false, 0}); }
  void Compute(double seconds, double threads = 1) {
    tasks.push_back({seconds, true, threads, false, 0});
  }
  void Read(double seconds) { tasks.push_back({seconds, false, 0, true, 0}); }
};

// Runs the actors until `done` is true. Returns the time.
double Play(std::deque<Actor>& actors, const Pipeline& pipeline, double& now, const bool& done) {
  const double cores = pipeline.cores;
  std::size_t places = 0;
  while (!done) {
    bool happened = true;
    while (happened && !done) {
      happened = false;
      for (Actor& actor : actors) {
        while (!actor.tasks.empty() && actor.tasks.front().left <= 0) actor.tasks.pop_front();
        if (actor.tasks.empty() && actor.go_on() && !done) happened = true;
      }
    }
    if (done) break;
    double threads = pipeline.others;
    std::size_t first = static_cast<std::size_t>(-1);
    for (Actor& actor : actors) {
      if (actor.tasks.empty()) continue;
      Task& task = actor.tasks.front();
      if (task.computes) threads += task.threads;
      if (task.reads && task.place == 0) task.place = ++places;
      if (task.reads) first = std::min(first, task.place);
    }
    const double computing = threads > cores ? cores / threads : 1;
    const auto speed = [&](const Task& task) {
      return task.computes ? computing : task.reads && task.place != first ? 0 : 1;
    };
    Task* next = nullptr;
    double soonest = 1e300;
    for (Actor& actor : actors) {
      if (actor.tasks.empty()) continue;
      Task& task = actor.tasks.front();
      if (!(speed(task) > 0)) continue;
      const double needs = task.left / speed(task);
      if (needs < soonest) {
        soonest = needs;
        next = &task;
      }
    }
    if (next == nullptr) break;  // no actor has anything to do
    for (Actor& actor : actors) {
      if (actor.tasks.empty()) continue;
      Task& task = actor.tasks.front();
      task.left -= soonest * speed(task);
    }
    next->left = 0;
    now += soonest;
  }
  return now;
}

void Step(Actor& consumer, const Pipeline& pipeline, const Demand& demand) {
  const double load = pipeline.step_load;
  consumer.Compute(std::min(1.0, load) * demand.step, std::max(1.0, load));
  consumer.Wait(std::max(0.0, 1 - load) * demand.step + demand.h2d);
}

void Get(Actor& actor, const Pipeline& pipeline, const Demand& demand, double asking) {
  actor.Wait((1 - pipeline.get_share) * demand.get + asking);
  actor.Compute(pipeline.get_share * demand.get + demand.pin);
}

template <class T>
bool Take(std::deque<T>& queue, T& item) {
  if (queue.empty()) return false;
  item = queue.front();
  queue.pop_front();
  return true;
}

}  // namespace

Timeline SlowWorkers(const Sequence& sequence) {
  const Pipeline& pipeline = sequence.pipeline;
  const auto workers = static_cast<std::size_t>(pipeline.workers);
  const auto prefetch = static_cast<std::size_t>(pipeline.prefetch);
  std::vector<std::deque<std::size_t>> indices(workers), made(workers);
  std::vector<std::size_t> outstanding(workers, 0), making(workers), sending(workers);
  std::vector<int> at(workers, 0), feeder_at(workers, 0);
  std::vector<bool> warm(workers, false);
  std::vector<double> until(workers, 0.0);
  std::deque<std::size_t> unpinned, arrived;
  std::vector<std::size_t> owner(sequence.count);
  std::set<std::size_t> got;
  std::size_t sent = 0, turn = 0, handed = 0, pinning = 0, current = 0;
  double now = 0, entered = 0;
  bool done = false;
  Timeline out;

  const auto busy = [&](std::size_t w) { return at[w] == 1 || !indices[w].empty(); };
  const auto asking = [&](std::size_t w) {
    if (!busy(w)) return 0.0;
    return indices[w].empty() ? std::clamp(until[w] - now, 0.0, pipeline.asking) : pipeline.asking;
  };
  // Returns the number of workers that it woke; -1 if there was nothing to send.
  const auto send = [&] {
    if (sent == sequence.count) return -1;
    for (std::size_t tried = 0; tried < workers; ++tried) {
      const std::size_t w = turn++ % workers;
      if (!pipeline.in_order && outstanding[w] >= prefetch) continue;
      ++outstanding[w];
      owner[sent] = w;
      const bool idle = !busy(w);
      indices[w].push_back(sent++);
      return idle ? 1 : 0;
    }
    return -1;
  };
  for (std::size_t i = 0; i < workers * prefetch; ++i) send();

  std::deque<Actor> actors(2 + 2 * workers);
  const auto computing = [&] {
    double threads = pipeline.others;
    for (const Actor& actor : actors) {
      const auto task = std::find_if(actor.tasks.begin(), actor.tasks.end(),
                                     [](const Task& one) { return one.left > 0; });
      if (task != actor.tasks.end() && task->computes) threads += task->threads;
    }
    return threads;
  };
  for (std::size_t w = 0; w < workers; ++w) {
    Actor& worker = actors[2 + 2 * w];
    worker.Wait(sequence.start(w));
    worker.go_on = [&, w] {
      if (at[w] == 1) {
        made[w].push_back(making[w]);
        at[w] = 0;
        return true;
      }
      if (!Take(indices[w], making[w])) return false;
      const Demand& demand = sequence.at(making[w]);
      worker.Compute(pipeline.overhead);
      const double device =
          std::min(pipeline.device_per_sample * demand.samples, demand.read.wall - demand.read.cpu);
      Work extra;
      if (w < pipeline.slower.size()) extra = pipeline.slower[w];
      extra.wall *= demand.samples;
      extra.cpu *= demand.samples;
      if (!warm[w]) {
        extra.wall += sequence.epoch.warm_up.service();
        extra.cpu += sequence.epoch.warm_up.cpu();
        warm[w] = true;
      }
      until[w] = now + pipeline.overhead + demand.service() + extra.wall + demand.put;
      const double time = demand.service() + extra.wall - device;
      const double threads = std::max(1.0, (demand.cpu() + extra.cpu) / time);
      const double cpu = (demand.cpu() + extra.cpu) / threads;
      const double wait = time - cpu;
      worker.Wait(sequence.lead(making[w]) * wait);
      const int pieces = pipeline.turns ? static_cast<int>(demand.samples) : 1;
      const double last = pieces > 1 ? demand.collate.cpu / threads : 0;
      for (int k = 0; k < pieces; ++k) {
        worker.Read(device / pieces);
        worker.Compute((cpu - last) / pieces, threads);
      }
      worker.Compute(last + demand.put, threads);
      worker.Wait((1 - sequence.lead(making[w])) * wait);
      at[w] = 1;
      return true;
    };
    Actor& feeder = actors[3 + 2 * w];
    feeder.go_on = [&, w] {
      const Demand& last = sequence.at(sending[w]);
      if (feeder_at[w] == 1) {
        (pipeline.pin_thread ? unpinned : arrived).push_back(sending[w]);
        const double known = pipeline.feed_share * last.feed + last.put + pipeline.overhead;
        feeder.Compute(std::max(0.0, pipeline.worker_cpu - known));
        feeder_at[w] = 0;
        return true;
      }
      if (!Take(made[w], sending[w])) return false;
      const Demand& demand = sequence.at(sending[w]);
      feeder.Compute(pipeline.feed_share * demand.feed);
      feeder.Wait((1 - pipeline.feed_share) * demand.feed + demand.latency);
      feeder_at[w] = 1;
      return true;
    };
  }
  Actor& pinner = actors[1];
  bool pins = false;
  pinner.go_on = [&] {
    if (pins) {
      arrived.push_back(pinning);
      pins = false;
      return true;
    }
    if (!Take(unpinned, pinning)) return false;
    Get(pinner, pipeline, sequence.at(pinning), asking(owner[pinning]));
    pins = true;
    return true;
  };
  Actor& consumer = actors[0];
  enum { kEnter, kInNext, kGot, kHand, kDeliver } state = kEnter;
  consumer.go_on = [&] {
    if (state == kEnter) {
      entered = now;
      state = kInNext;
      if (handed == sequence.count) {
        done = true;
        out.end = now;
      }
      return true;
    }
    if (state == kGot) {
      got.insert(current);
      state = kInNext;
      return true;
    }
    if (state == kHand) {
      --outstanding[owner[current]];
      const double threads = computing();
      const int woken = send();
      if (woken >= 0 && threads + woken >= pipeline.cores - 1e-6) consumer.Wait(pipeline.preempted);
      state = kDeliver;
      return true;
    }
    if (state == kDeliver) {
      out.Deliver(current, entered, now);
      ++handed;
      Step(consumer, pipeline, sequence.at(current));
      state = kEnter;
      return true;
    }
    const bool due = pipeline.in_order ? got.count(handed) > 0 : !got.empty();
    if (due) {
      current = pipeline.in_order ? handed : *got.begin();
      got.erase(current);
      consumer.Compute(sequence.at(current).next);
      state = kHand;
      return true;
    }
    if (!Take(arrived, current)) return false;
    if (!pipeline.pin_thread) {
      Get(consumer, pipeline, sequence.at(current), asking(owner[current]));
    }
    state = kGot;
    return true;
  };
  Play(actors, pipeline, now, done);
  return out;
}

Timeline SlowThreads(const Sequence& sequence) {
  const Pipeline& pipeline = sequence.pipeline;
  struct Sample {
    std::size_t batch;
    std::size_t index;
  };
  std::deque<Sample> samples;
  std::vector<std::size_t> left;
  for (std::size_t j = 0; j < sequence.count; ++j) {
    left.push_back(sequence.at(j).tasks);
    for (std::size_t k = 0; k < sequence.at(j).tasks; ++k) {
      samples.push_back({j, sequence.at(j).first_sample + k});
    }
  }
  std::set<std::size_t> ready;
  std::size_t released = 0, handed = 0;
  double now = 0, entered = 0;
  bool done = false, waited = false, handing = false, stepping = false;
  Timeline out;
  const auto threads = static_cast<std::size_t>(pipeline.workers);
  std::deque<Actor> actors(1 + threads);
  std::vector<std::size_t> making(threads);
  std::vector<int> at(threads, 0);
  for (std::size_t t = 0; t < threads; ++t) {
    Actor& thread = actors[1 + t];
    thread.Wait(sequence.start(t));
    thread.go_on = [&, t] {
      if (at[t] == 1 && --left[making[t]] == 0) {
        thread.Compute(sequence.at(making[t]).collate.wall);
        at[t] = 2;
        return true;
      }
      const bool news = at[t] == 2;
      if (news) ready.insert(making[t]);
      at[t] = 0;
      if (samples.empty() || samples.front().batch >= released + pipeline.credits()) return news;
      const SampleCost& cost = sequence.epoch.samples[samples.front().index];
      making[t] = samples.front().batch;
      samples.pop_front();
      const auto cpu = static_cast<double>(cost.read_cpu + cost.decode_cpu + cost.augment_cpu);
      const auto wall = static_cast<double>(cost.read + cost.decode + cost.augment);
      const double lead = sequence.lead(making[t] * 64 + left[making[t]]);
      const double device =
          std::min(pipeline.device_per_sample, static_cast<double>(cost.read - cost.read_cpu));
      thread.Wait(lead * (wall - cpu - device));
      thread.Read(device);
      thread.Compute(cpu + pipeline.overhead);
      thread.Wait((1 - lead) * (wall - cpu - device));
      at[t] = 1;
      return true;
    };
  }
  Actor& consumer = actors[0];
  consumer.go_on = [&] {
    if (stepping) {
      stepping = false;
      ++handed;
      ++released;
      entered = now;
      waited = false;
    }
    if (handed == sequence.count) {
      done = true;
      out.end = now;
      return true;
    }
    if (handing) {
      handing = false;
      out.Deliver(handed, entered, now);
      Step(consumer, pipeline, sequence.at(handed));
      stepping = true;
      return true;
    }
    if (ready.count(handed) == 0) {
      const bool news = !waited;
      waited = true;
      return news;
    }
    consumer.Compute(sequence.at(handed).next + (waited ? sequence.at(handed).latency : 0));
    handing = true;
    return true;
  };
  Play(actors, pipeline, now, done);
  return out;
}

}  // namespace penstock::analyzer::testing
