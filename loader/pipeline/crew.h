// SPDX-License-Identifier: Apache-2.0
//
// The threads of a pipeline: which stages each does, and the queues between them. Internal to
// loader/pipeline/. Threads: Start() and Join() from the owner's; WakeAll() from any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "loader/pipeline/shared.h"
#include "loader/pipeline/worker.h"

namespace penstock::loader {

class Crew {
 public:
  Crew() = default;
  ~Crew() { Join(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Whether some stage has threads of its own.
  [[nodiscard]] static bool Staged(const PipelineOptions& options) {
    return options.read.threads + options.decode.threads + options.augment.threads != 0;
  }

  // Errors: kUsage if a stage is left without threads, kEnvironment.
  Result<void> Start(Shared& shared);
  // Requires: the stop flag is set, or all work is done.
  void Join();
  void WakeAll();  // async-signal-safe

  [[nodiscard]] std::size_t threads() const { return workers_.size(); }
  [[nodiscard]] const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }

 private:
  struct Team {  // threads that do the same
    Roles roles;
    unsigned threads = 0;
    const char* name = "";
    ItemQueue* in = nullptr;
    ItemQueue* out = nullptr;
    std::atomic<unsigned> active{0};
  };

  // Divides the stages among the teams. False if a stage gets no threads.
  bool Split(const PipelineOptions& options);

  std::array<Team, kStages> teams_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<ItemQueue>> queues_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace penstock::loader
