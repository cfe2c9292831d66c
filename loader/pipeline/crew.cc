// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/crew.h"

#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace penstock::loader {

bool Crew::Split(const PipelineOptions& options) {
  // A new team begins at each stage with threads of its own, and after such a stage. The exception:
  // if only decode has threads of its own, they also augment; see PipelineOptions.
  const bool reads = options.read.threads != 0;
  const bool decodes = options.decode.threads != 0;
  const bool augments = options.augment.threads != 0;
  const auto add = [this](Roles roles, unsigned threads, const char* name) {
    Team& team = teams_[used_++];
    team.roles = roles;
    team.threads = threads;
    team.name = name;
    return threads != 0;
  };
  if (!reads && !decodes && !augments) return add({true, true, true}, options.workers, "worker");
  const unsigned read_threads = reads ? options.read.threads : options.workers;
  const char* reader = reads ? "reader" : "worker";
  const char* augmenter = augments ? "augmenter" : "worker";
  if (!reads && !decodes) {
    return add({true, true, false}, options.workers, "worker") &&
           add({false, false, true}, options.augment.threads, augmenter);
  }
  if (!add({true, false, false}, read_threads, reader)) return false;
  if (!augments && (!decodes || !reads)) {
    return decodes ? add({false, true, true}, options.decode.threads, "decoder")
                   : add({false, true, true}, options.workers, "worker");
  }
  return add({false, true, false}, decodes ? options.decode.threads : options.workers,
             decodes ? "decoder" : "worker") &&
         add({false, false, true}, augments ? options.augment.threads : options.workers, augmenter);
}

Result<void> Crew::Start(Shared& shared) {
  const PipelineOptions& options = shared.options;
  if (!Split(options)) {
    return Fail(ErrorKind::kUsage,
                "0 workers leave a stage without threads: give it some of its own, or workers");
  }
  // Enough items that every thread after the readers can work on one while another waits.
  unsigned behind = 0;
  for (std::size_t i = 1; i < used_; ++i) behind += teams_[i].threads;
  const unsigned readers = teams_[0].threads;
  const std::size_t each =
      options.read_ahead + (used_ > 1 ? (2 * behind + readers - 1) / readers + 1 : 0);
  std::vector<ItemQueue*> homes;
  if (used_ > 1) {
    const auto queue = [this](std::size_t capacity) {
      queues_.push_back(std::make_unique<ItemQueue>(capacity));
      return queues_.back().get();
    };
    for (unsigned i = 0; i < readers; ++i) homes.push_back(queue(each));
    for (std::size_t i = 0; i + 1 < used_; ++i) {
      teams_[i].out = teams_[i + 1].in = queue(each * readers);
    }
  }
  for (std::size_t t = 0; t < used_; ++t) {
    for (unsigned i = 0; i < teams_[t].threads; ++i) {
      Worker::Setup setup;
      setup.roles = teams_[t].roles;
      setup.items = each;
      setup.own_decoders = !teams_[used_ - 1].roles.decode;
      setup.home = i;
      setup.in = teams_[t].in;
      setup.out = teams_[t].out;
      setup.homes = homes;
      setup.name = fmt::format("{} {}", teams_[t].name, i);
      setup.index = static_cast<std::int32_t>(workers_.size());
      auto worker = Worker::Make(shared, std::move(setup));
      PENSTOCK_TRY(worker);
      workers_.push_back(std::move(*worker));
    }
    teams_[t].active.store(teams_[t].threads, std::memory_order_relaxed);
  }
  try {
    std::size_t number = 0;
    for (std::size_t t = 0; t < used_; ++t) {
      for (unsigned i = 0; i < teams_[t].threads; ++i) {
        threads_.emplace_back([team = &teams_[t], worker = workers_[number++].get()] {
          worker->Run();
          const bool last = team->active.fetch_sub(1, std::memory_order_acq_rel) == 1;
          if (last && team->out != nullptr) team->out->Close();
        });
      }
    }
  } catch (const std::exception& trouble) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("cannot start thread {} of {}: {}", threads_.size() + 1,
                            workers_.size(), trouble.what()));
  }
  return {};
}

void Crew::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Crew::WakeAll() {
  for (const auto& queue : queues_) queue->WakeAll();
}

}  // namespace penstock::loader
