// SPDX-License-Identifier: Apache-2.0
#include "loader/set/interruption.h"

#include <pthread.h>

#include <ctime>
#include <utility>

namespace penstock::loader {

Interruption::Interruption(std::function<void()> first) {
  sigemptyset(&waited_);
  sigaddset(&waited_, SIGINT);
  sigaddset(&waited_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &waited_, &former_);
  thread_ = std::jthread([this, first = std::move(first)](const std::stop_token& end) {
    const timespec tick{0, 50'000'000};
    while (!end.stop_requested()) {
      if (sigtimedwait(&waited_, nullptr, &tick) < 0) continue;
      if (stop_.request_stop() && first) first();
    }
  });
}

Interruption::~Interruption() {
  thread_.request_stop();
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

}  // namespace penstock::loader
