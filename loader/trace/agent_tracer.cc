// SPDX-License-Identifier: Apache-2.0
//
// Writes through the function table of the preloaded agent: traces/native_bridge.h.
#include <dlfcn.h>

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "loader/trace/tracer.h"
#include "traces/native_bridge.h"

namespace penstock::loader {
namespace {

using traces::EventType;
using traces::StageId;

PenstockPlace Plain(const Place& place) {
  return {place.sample, place.batch, place.generation};
}

class AgentThread final : public ThreadTracer {
 public:
  AgentThread(const PenstockNativeBridge& bridge, std::int32_t index)
      : ThreadTracer(true), worker(index), bridge_(bridge) {}

  const std::int32_t worker;  // -1: none

 private:
  void DoSetContext(const Place& place) override {
    const PenstockPlace plain = Plain(place);
    bridge_.set_context(&plain);
  }

  void DoBegin(StageId stage, NameId name) override {
    const PenstockToken token = bridge_.begin(static_cast<std::uint32_t>(stage), name.value,
                                              nullptr, TakesCpuTime(stage) ? 1 : 0);
    if (depth_ < open_.size()) open_[depth_] = token;
    ++depth_;
  }

  void DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) override {
    if (depth_ == 0) return;
    if (--depth_ < open_.size()) {
      bridge_.end(open_[depth_], bytes.value, Object(object), flags);
    }
  }

  void DoCancel() override {
    if (depth_ == 0) return;
    if (--depth_ < open_.size()) bridge_.cancel(open_[depth_]);
  }

  Tick DoNow() const override { return {bridge_.now(), 0}; }

  void DoEmit(StageId stage, NameId name, const Place& place, Tick start, Tick end, Bytes bytes,
              std::string_view object, std::uint8_t flags) override {
    const PenstockPlace plain = Plain(place);
    bridge_.emit(static_cast<std::uint32_t>(stage), name.value, &plain, start.value, end.value,
                 bytes.value, Object(object), flags);
  }

  void DoEvent(EventType type, const Place& place, std::int64_t value) override {
    const PenstockPlace plain = Plain(place);
    bridge_.event(static_cast<std::uint32_t>(type), &plain, value);
  }

  void DoDelivered(const Place& place) override {
    const PenstockPlace plain = Plain(place);
    bridge_.delivered(&plain);
  }

  void DoCounter(NameId name, std::int64_t value) override { bridge_.counter(name.value, value); }

  std::uint64_t Object(std::string_view path) const {
    return path.empty() ? 0 : bridge_.intern(path.data(), path.size());
  }

  const PenstockNativeBridge& bridge_;
  std::array<PenstockToken, 32> open_{};  // the agent's limit
  std::size_t depth_ = 0;
};

class ThroughAgent final : public Tracer {
 public:
  ThroughAgent(const PenstockNativeBridge& bridge, Company company) : bridge_(bridge) {
    if (company == Company::kAlone) bridge_.claim((1u << wire::kRead) | (1u << wire::kDecode));
    bridge_.role(wire::kRoleConsumer, -1);
  }

  bool on() const override { return bridge_.recording() != 0; }

  NameId Name(std::string_view text) override {
    return {static_cast<std::uint32_t>(bridge_.intern(text.data(), text.size()))};
  }

  ThreadTracer& Thread(std::string_view name, ThreadRole role, std::int32_t index) override {
    const std::int32_t worker = role == ThreadRole::kWorker ? index : -1;
    bridge_.thread_name(std::string(name).c_str());
    ThreadTracer* thread = nullptr;
    {
      const std::lock_guard lock(mutex_);
      thread = threads_.emplace_back(std::make_unique<AgentThread>(bridge_, worker)).get();
    }
    if (worker >= 0) thread->Event(EventType::kWorkerStart, {}, worker);
    return *thread;
  }

  void Leave(ThreadTracer& thread) override {
    const std::int32_t worker = static_cast<const AgentThread&>(thread).worker;
    if (worker >= 0) thread.Event(EventType::kWorkerEnd, {}, worker);
  }

  void Fact(std::string_view key, std::string_view value) override {
    bridge_.fact(std::string(key).c_str(), std::string(value).c_str());
  }

  Result<void> Finish() override { return {}; }  // the agent owns the recording

 private:
  const PenstockNativeBridge& bridge_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<AgentThread>> threads_;
};

}  // namespace

std::unique_ptr<Tracer> AgentTracer(Company company) {
  auto* const get =
      reinterpret_cast<PenstockNativeBridgeFunction*>(dlsym(RTLD_DEFAULT, PENSTOCK_NATIVE_BRIDGE));
  const PenstockNativeBridge* bridge = get != nullptr ? get() : nullptr;
  if (bridge == nullptr || bridge->size < sizeof *bridge || bridge->recording() == 0) {
    return nullptr;
  }
  return std::make_unique<ThroughAgent>(*bridge, company);
}

}  // namespace penstock::loader
