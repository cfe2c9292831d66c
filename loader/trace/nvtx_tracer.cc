// SPDX-License-Identifier: Apache-2.0
//
// Makes NVTX ranges and passes everything on to another tracer. At the first call NVTX's header
// looks for a tool (NVTX_INJECTION64_PATH, or one that is linked in). Without a tool the header
// gives no domain, and the other tracer is used alone.
#include "loader/trace/tracer.h"

#ifdef PENSTOCK_NVTX
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "traces/event.h"
#endif

namespace penstock::loader {

#ifndef PENSTOCK_NVTX

std::unique_ptr<Tracer> WithNvtx(std::unique_ptr<Tracer> inner) {
  return inner;
}

#else

namespace {

using traces::EventType;
using traces::StageId;

// A name of the inner tracer, and its text as a registered string of the domain.
struct RangeName {
  NameId inner;
  nvtxStringHandle_t text = nullptr;
};

// Names by index. The lock is held for reading too: a growing deque moves its table of blocks.
class RangeNames {
 public:
  explicit RangeNames(nvtxDomainHandle_t range_domain) : domain(range_domain) {}

  const nvtxDomainHandle_t domain;

  NameId Add(std::string_view text, NameId inner) {
    const std::string terminated(text);
    const std::lock_guard lock(mutex_);
    names_.push_back({inner, nvtxDomainRegisterStringA(domain, terminated.c_str())});
    return {static_cast<std::uint32_t>(names_.size() - 1)};
  }
  RangeName At(NameId id) const {
    const std::lock_guard lock(mutex_);
    return id.value < names_.size() ? names_[id.value] : RangeName{};
  }

 private:
  mutable std::mutex mutex_;
  std::deque<RangeName> names_;
};

class NvtxThread final : public ThreadTracer {
 public:
  NvtxThread(const RangeNames& names, ThreadTracer& inner_thread)
      : ThreadTracer(true), inner(inner_thread), names_(names) {}

  ThreadTracer& inner;

 private:
  // The range's category is the stage. Its payload is the sample that is set when it begins. A span
  // of a trace has the sample that is set when the span ends.
  nvtxEventAttributes_t Attributes(StageId stage, const RangeName& name,
                                   std::int64_t sample) const {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = static_cast<std::uint32_t>(stage);
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = name.text;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = sample;
    return attributes;
  }

  void DoSetContext(const Place& place) override {
    sample_ = place.sample;
    inner.SetContext(place);
  }
  void DoBegin(StageId stage, NameId name) override {
    const RangeName range = names_.At(name);
    const nvtxEventAttributes_t attributes = Attributes(stage, range, sample_);
    nvtxDomainRangePushEx(names_.domain, &attributes);
    inner.Begin(stage, range.inner);
  }
  void DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) override {
    inner.End(bytes, object, flags);
    nvtxDomainRangePop(names_.domain);
  }
  void DoCancel() override {
    inner.Cancel();
    nvtxDomainRangePop(names_.domain);
  }
  Tick DoNow() const override { return inner.Now(); }
  // A span that is recorded at its end gets no range, since NVTX takes the times of ranges itself.
  void DoEmit(StageId stage, NameId name, const Place& place, Tick start, Tick end, Bytes bytes,
              std::string_view object, std::uint8_t flags) override {
    inner.Emit(stage, names_.At(name).inner, place, start, end, bytes, object, flags);
  }
  void DoEvent(EventType type, const Place& place, std::int64_t value) override {
    inner.Event(type, place, value);
  }
  void DoDelivered(const Place& place) override { inner.Delivered(place); }
  void DoCounter(NameId name, std::int64_t value) override {
    inner.Counter(names_.At(name).inner, value);
  }

  const RangeNames& names_;
  std::int64_t sample_ = wire::kNoSample;
};

class NvtxTracer final : public Tracer {
 public:
  NvtxTracer(nvtxDomainHandle_t domain, std::unique_ptr<Tracer> inner)
      : names_(domain), inner_(std::move(inner)) {
    for (int stage = 1; stage < wire::kStageCount; ++stage) {
      const std::string name(traces::StageName(static_cast<StageId>(stage)));
      nvtxDomainNameCategoryA(domain, static_cast<std::uint32_t>(stage), name.c_str());
    }
  }

  bool on() const override { return true; }
  NameId Name(std::string_view text) override { return names_.Add(text, inner_->Name(text)); }
  ThreadTracer& Thread(std::string_view name, ThreadRole role, std::int32_t index) override {
    ThreadTracer& inner = inner_->Thread(name, role, index);
    const std::lock_guard lock(mutex_);
    return threads_.emplace_back(names_, inner);
  }
  void Leave(ThreadTracer& thread) override {
    inner_->Leave(static_cast<const NvtxThread&>(thread).inner);
  }
  void Fact(std::string_view key, std::string_view value) override { inner_->Fact(key, value); }
  Result<void> Finish() override { return inner_->Finish(); }

 private:
  RangeNames names_;
  std::unique_ptr<Tracer> inner_;
  std::mutex mutex_;
  std::deque<NvtxThread> threads_;
};

}  // namespace

std::unique_ptr<Tracer> WithNvtx(std::unique_ptr<Tracer> inner) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("penstock");
  if (domain == nullptr) {
    return inner;
  }
  return std::make_unique<NvtxTracer>(domain, std::move(inner));
}

#endif

}  // namespace penstock::loader
