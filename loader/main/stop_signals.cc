// SPDX-License-Identifier: Apache-2.0
#include "loader/main/stop_signals.h"

namespace penstock::loader {
namespace {

std::atomic<void*> current{nullptr};  // the living object; its constructor stores with release
static_assert(std::atomic<void*>::is_always_lock_free);

}  // namespace

// Uses only atomics and futex wakes, so it is async-signal-safe.
void StopSignals::Handle(int /*signal*/) {
  auto* self = static_cast<StopSignals*>(current.load(std::memory_order_acquire));
  if (self == nullptr) return;
  self->flag_.Set();
  Pipeline* pipeline = self->pipeline_.load(std::memory_order_acquire);
  if (pipeline != nullptr) pipeline->RequestStop();
}

StopSignals::StopSignals() {
  current.store(this, std::memory_order_release);
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  current.store(nullptr, std::memory_order_release);
}

void StopSignals::Attach(Pipeline* pipeline) {
  pipeline_.store(pipeline, std::memory_order_release);
  if (pipeline != nullptr && happened()) pipeline->RequestStop();
}

}  // namespace penstock::loader
