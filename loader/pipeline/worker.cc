// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/worker.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <utility>

namespace penstock::loader {

using traces::EventType;
using traces::StageId;

Worker::Worker(Shared& shared, Setup setup)
    : shared_(shared),
      setup_(std::move(setup)),
      in_flight_(std::max<std::size_t>(shared.options.read_ahead, 1)) {
  stats_.name = setup_.name;
}

Result<std::unique_ptr<Worker>> Worker::Make(Shared& shared, Setup setup) {
  std::unique_ptr<Worker> worker(new Worker(shared, std::move(setup)));
  const Setup& made = worker->setup_;
  auto stages = Stages::Make(shared, made.roles, made.items, worker->stats_);
  PENSTOCK_TRY(stages);
  worker->stages_ = std::move(*stages);
  if (!made.roles.read) return worker;
  for (std::size_t i = 0; i < made.items; ++i) {
    auto item = std::make_unique<Item>();
    item->reader_slot = i;
    item->home = made.home;
    if (shared.options.decode.on && made.own_decoders) {
      item->decoder = std::make_unique<JpegDecoder>(shared.options.decoder);
    }
    if (made.homes.empty()) {
      worker->free_.push_back(item.get());
    } else {
      made.homes[made.home]->Push(item.get());
    }
    worker->items_.push_back(std::move(item));
  }
  return worker;
}

void Worker::Resume() {
  begun_ = SteadyNow();
  cpu_begun_ = ThreadCpuNow();
}

void Worker::Pause() {
  stats_.life += SteadyNow() - begun_;
  stats_.cpu += ThreadCpuNow() - cpu_begun_;
}

void Worker::Collect() {
  stages_->Collect(&io_);
  for (const auto& item : items_) {
    if (item->decoder != nullptr) stats_.warnings += item->decoder->warnings();
  }
}

void Worker::Run() {
  pthread_setname_np(pthread_self(), setup_.name.c_str());
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // synthetic sleeps end on time
  ThreadTracer& tracer = shared_.tracer.Thread(setup_.name, ThreadRole::kWorker, setup_.index);
  Attach(tracer);
  Resume();
  while (Step()) {
  }
  Pause();
  shared_.tracer.Leave(tracer);
}

bool Worker::Step() {
  stages_->BeginLap();
  Item* item = setup_.roles.read ? NextRead() : NextQueued();
  if (item == nullptr) return false;
  Process(*item);
  return true;
}

template <class Waiting>
void Worker::Idle(Waiting&& waiting) {
  const TimeNs from = SteadyNow();
  stages_->tracer().Begin(StageId::kIdle, shared_.names.none);
  waiting();
  stages_->tracer().End();
  stats_.idle += SteadyNow() - from;
  stages_->BeginLap();
}

bool Worker::ClaimPending() {
  const SampleOrder& order = shared_.order;
  while (!pending_ && !ended_) {
    const std::uint64_t place = shared_.ring->Claim();
    pending_batch_ = place / order.batch_size();
    pending_index_ = place % order.batch_size();
    if (pending_batch_ >= order.batches()) {
      ended_ = true;
      break;
    }
    pending_place_ = order.At(pending_batch_);
    pending_ = pending_index_ < pending_place_.valid;  // else it is beyond a short last batch
  }
  return pending_;
}

Item* Worker::TakeFree() {
  Item* item = nullptr;
  if (setup_.homes.empty()) {
    if (free_.empty()) return nullptr;
    item = free_.back();
    free_.pop_back();
  } else {
    setup_.homes[setup_.home]->TryPop(&item);
  }
  return item;
}

void Worker::Begin(Item& item) {
  item.batch = pending_batch_;
  item.batch_index = pending_place_.index;
  item.index = pending_index_;
  item.at = {pending_place_.epoch, shared_.order.Position(pending_place_, pending_index_)};
  item.sample = shared_.order.Sample(item.at.epoch, item.at.position);
  pending_ = false;
  if (item.index == 0) {
    shared_.ring->slot(item.batch).begun.store(SteadyNow().value, std::memory_order_relaxed);
  }
  stages_->Start(item);
}

Item* Worker::NextRead() {
  BatchRing& ring = *shared_.ring;
  for (;;) {
    if (shared_.stop.set()) return nullptr;
    bool starved = false;  // no item is free: in flight, or in other threads
    while (flying_ < in_flight_.size() && ClaimPending() && pending_batch_ < ring.opened()) {
      Item* item = TakeFree();
      if (item == nullptr) {
        starved = true;
        break;
      }
      Begin(*item);
      in_flight_[(oldest_ + flying_) % in_flight_.size()] = item;
      ++flying_;
    }
    if (flying_ != 0) {
      Item* oldest = in_flight_[oldest_];
      oldest_ = (oldest_ + 1) % in_flight_.size();
      --flying_;
      return oldest;
    }
    if (starved) {
      Idle([&] { setup_.homes[setup_.home]->Wait(shared_.stop); });
    } else if (pending_) {
      Idle([&] { ring.WaitOpen(pending_batch_, shared_.stop); });
    } else {
      return nullptr;
    }
  }
}

Item* Worker::NextQueued() {
  Item* item = nullptr;
  for (;;) {
    if (shared_.stop.set()) return nullptr;
    const bool closed = setup_.in->closed();  // read first: no value comes after the closing
    if (setup_.in->TryPop(&item)) return item;
    if (closed) return nullptr;
    Idle([&] { setup_.in->Wait(shared_.stop); });
  }
}

void Worker::Process(Item& item) {
  ThreadTracer& tracer = stages_->tracer();
  const Roles& roles = setup_.roles;
  tracer.SetContext(stages_->PlaceOf(item));
  if (roles.all()) tracer.Begin(StageId::kSample, shared_.names.none);
  if (roles.read) stages_->Read(item);
  if (roles.decode) stages_->Decode(item);
  if (roles.augment) {
    stages_->Augment(item);
    stages_->Finish(item);
  }
  if (roles.all()) tracer.End(Bytes{item.file.size()}, item.ref.path);
  if (roles.augment) {
    Complete(item);
    GiveBack(item);
  } else {
    setup_.out->Push(&item);
  }
}

void Worker::Complete(Item& item) {
  BatchRing& ring = *shared_.ring;
  BatchRing::Slot& slot = ring.slot(item.batch);
  if (!BatchRing::Complete(slot)) return;
  ThreadTracer& tracer = stages_->tracer();
  const Cost& collate = shared_.options.collate;
  const Place place = stages_->PlaceOf(item);
  if (!collate.none()) {
    constexpr std::uint32_t kOperation = 0xC0570003;
    tracer.Begin(StageId::kCollate, shared_.names.none);
    Spend(collate,
          collate.Draw(shared_.options.CostKey(item.at.epoch, item.batch_index), kOperation),
          shared_.stop);
    tracer.End();
  }
  batch_latency_.Add(SteadyNow() - TimeNs{slot.begun.load(std::memory_order_relaxed)});
  tracer.Event(EventType::kBatchPut, place);
  if (shared_.device != nullptr) {
    shared_.device->Submit(slot);
  } else {
    ring.Publish(slot);
  }
}

void Worker::GiveBack(Item& item) {
  if (setup_.homes.empty()) {
    free_.push_back(&item);
  } else {
    setup_.homes[item.home]->Push(&item);
  }
}

}  // namespace penstock::loader
