// SPDX-License-Identifier: Apache-2.0
#include "loader/trace/tracer.h"

namespace penstock::loader {
namespace {

using traces::EventType;
using traces::StageId;

class NoThread final : public ThreadTracer {
 public:
  NoThread() : ThreadTracer(false) {}

 private:
  void DoSetContext(const Place& /*place*/) override {}
  void DoBegin(StageId /*stage*/, NameId /*name*/) override {}
  void DoEnd(Bytes /*bytes*/, std::string_view /*object*/, std::uint8_t /*flags*/) override {}
  void DoCancel() override {}
  Tick DoNow() const override { return {}; }
  void DoEmit(StageId /*stage*/, NameId /*name*/, const Place& /*place*/, Tick /*start*/,
              Tick /*end*/, Bytes /*bytes*/, std::string_view /*object*/,
              std::uint8_t /*flags*/) override {}
  void DoEvent(EventType /*type*/, const Place& /*place*/, std::int64_t /*value*/) override {}
  void DoDelivered(const Place& /*place*/) override {}
  void DoCounter(NameId /*name*/, std::int64_t /*value*/) override {}
};

class None final : public Tracer {
 public:
  bool on() const override { return false; }
  NameId Name(std::string_view /*text*/) override { return {}; }
  ThreadTracer& Thread(std::string_view /*name*/, ThreadRole /*role*/,
                       std::int32_t /*index*/) override {
    return thread_;  // without state: all threads may share it
  }
  void Leave(ThreadTracer& /*thread*/) override {}
  void Fact(std::string_view /*key*/, std::string_view /*value*/) override {}
  Result<void> Finish() override { return {}; }

 private:
  NoThread thread_;
};

}  // namespace

std::unique_ptr<Tracer> NoTracer() {
  return std::make_unique<None>();
}

}  // namespace penstock::loader
