// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <mutex>
#include <utility>

#include "loader/trace/tracer.h"

namespace penstock::loader {
namespace {

using traces::EventType;
using traces::StageId;

struct NamePair {
  NameId first, second;
};

// Names by index. The lock is held for reading too: while a deque grows, it moves its table of
// blocks, although its elements stay where they are.
class Names {
 public:
  NameId Add(NamePair pair) {
    const std::lock_guard lock(mutex_);
    pairs_.push_back(pair);
    return {static_cast<std::uint32_t>(pairs_.size() - 1)};
  }
  NamePair At(NameId id) const {
    const std::lock_guard lock(mutex_);
    return id.value < pairs_.size() ? pairs_[id.value] : NamePair{};
  }

 private:
  mutable std::mutex mutex_;
  std::deque<NamePair> pairs_;
};

class BothThread final : public ThreadTracer {
 public:
  BothThread(const Names& names, ThreadTracer& one, ThreadTracer& other)
      : ThreadTracer(one.on() || other.on()), first(one), second(other), names_(names) {}

  ThreadTracer& first;
  ThreadTracer& second;

 private:
  void DoSetContext(const Place& place) override {
    first.SetContext(place);
    second.SetContext(place);
  }
  void DoBegin(StageId stage, NameId name) override {
    const NamePair pair = names_.At(name);
    first.Begin(stage, pair.first);
    second.Begin(stage, pair.second);
  }
  void DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) override {
    second.End(bytes, object, flags);
    first.End(bytes, object, flags);
  }
  void DoCancel() override {
    second.Cancel();
    first.Cancel();
  }

  // A Tick has room for two clocks, so neither tracer may be a Both itself.
  Tick DoNow() const override { return {first.Now().value, second.Now().value}; }
  void DoEmit(StageId stage, NameId name, const Place& place, Tick start, Tick end, Bytes bytes,
              std::string_view object, std::uint8_t flags) override {
    const NamePair pair = names_.At(name);
    first.Emit(stage, pair.first, place, {start.value}, {end.value}, bytes, object, flags);
    second.Emit(stage, pair.second, place, {start.other}, {end.other}, bytes, object, flags);
  }

  void DoEvent(EventType type, const Place& place, std::int64_t value) override {
    first.Event(type, place, value);
    second.Event(type, place, value);
  }
  void DoDelivered(const Place& place) override {
    first.Delivered(place);
    second.Delivered(place);
  }
  void DoCounter(NameId name, std::int64_t value) override {
    const NamePair pair = names_.At(name);
    first.Counter(pair.first, value);
    second.Counter(pair.second, value);
  }

  const Names& names_;
};

class Both final : public Tracer {
 public:
  Both(std::unique_ptr<Tracer> first, std::unique_ptr<Tracer> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  bool on() const override { return first_->on() || second_->on(); }

  NameId Name(std::string_view text) override {
    return names_.Add({first_->Name(text), second_->Name(text)});
  }

  ThreadTracer& Thread(std::string_view name, ThreadRole role, std::int32_t index) override {
    ThreadTracer& first = first_->Thread(name, role, index);
    ThreadTracer& second = second_->Thread(name, role, index);
    const std::lock_guard lock(mutex_);
    return threads_.emplace_back(names_, first, second);
  }

  void Leave(ThreadTracer& thread) override {
    const auto& both = static_cast<const BothThread&>(thread);
    first_->Leave(both.first);
    second_->Leave(both.second);
  }

  void Fact(std::string_view key, std::string_view value) override {
    first_->Fact(key, value);
    second_->Fact(key, value);
  }

  Result<void> Finish() override {
    Result<void> first = first_->Finish();
    Result<void> second = second_->Finish();
    return first ? second : first;
  }

 private:
  std::unique_ptr<Tracer> first_;
  std::unique_ptr<Tracer> second_;
  Names names_;
  std::mutex mutex_;
  std::deque<BothThread> threads_;
};

}  // namespace

std::unique_ptr<Tracer> BothTracers(std::unique_ptr<Tracer> first, std::unique_ptr<Tracer> second) {
  if (first == nullptr || second == nullptr) {
    return first != nullptr ? std::move(first) : std::move(second);
  }
  return std::make_unique<Both>(std::move(first), std::move(second));
}

}  // namespace penstock::loader
