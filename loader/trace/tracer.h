// SPDX-License-Identifier: Apache-2.0
//
// Records the loader's work: spans, events, counters and facts of its own threads, as a trace has
// them. Each program has one Tracer, which owns a ThreadTracer for each thread. Threads: Tracer's
// functions may be called from any thread, a ThreadTracer only from the thread that asked for it.
// The pipeline sees no errors: spans that cannot be kept are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "traces/base/result.h"
#include "traces/base/units.h"
#include "traces/event.h"

namespace penstock::loader {

// A name that was given to Tracer::Name(); valid for that tracer and all its threads.
struct NameId {
  std::uint32_t value = 0;
};

// The sample, batch and epoch (generation, counted from 0) on which a thread works.
struct Place {
  std::int64_t sample = wire::kNoSample;  // dataset index
  std::uint32_t batch = wire::kNoBatch;   // index in its epoch
  std::uint16_t generation = 0;
};

// A moment of the tracer's own clock, from ThreadTracer::Now(). Only for ThreadTracer::Emit().
struct Tick {
  std::uint64_t value = 0;
  std::uint64_t other = 0;  // of the second clock, if there are two tracers
};

enum class ThreadRole { kConsumer, kWorker, kOther };

// The tracer of one thread. Spans nest: End() and Cancel() act on the innermost open one, and a
// span gets the place that is set when it ends. If nothing is recorded, each call costs one test.
class ThreadTracer {
 public:
  ThreadTracer(const ThreadTracer&) = delete;
  ThreadTracer& operator=(const ThreadTracer&) = delete;
  virtual ~ThreadTracer() = default;

  // False if nothing is recorded. Then the arguments of spans need not be computed.
  [[nodiscard]] bool on() const { return on_; }

  void SetContext(const Place& place) {
    if (on_) DoSetContext(place);
  }
  // Opens a span. Takes thread CPU time if the stage works (TakesCpuTime()).
  void Begin(traces::StageId stage, NameId name) {
    if (on_) DoBegin(stage, name);
  }
  // Closes the span. `object`: path of the file. `flags`: wire::kFlagError, kFlagMapped.
  void End(Bytes bytes = {}, std::string_view object = {}, std::uint8_t flags = 0) {
    if (on_) DoEnd(bytes, object, flags);
  }
  // Forgets the span.
  void Cancel() {
    if (on_) DoCancel();
  }

  [[nodiscard]] Tick Now() const { return on_ ? DoNow() : Tick{}; }
  // Records a span of which the caller knows start and end, such as a read during other work. The
  // span has its own `place`, since the thread may work on another sample.
  void Emit(traces::StageId stage, NameId name, const Place& place, Tick start, Tick end,
            Bytes bytes = {}, std::string_view object = {}, std::uint8_t flags = 0) {
    if (on_) DoEmit(stage, name, place, start, end, bytes, object, flags);
  }

  // Records an event of the batch in `place`. For an epoch only the generation counts.
  void Event(traces::EventType type, const Place& place, std::int64_t value = 0) {
    if (on_) DoEvent(type, place, value);
  }
  // Records Event(kBatchDelivered) for the batch in `place`. The batch also counts towards the
  // number of batches after which a recording shall end.
  void Delivered(const Place& place) {
    if (on_) DoDelivered(place);
  }
  void Counter(NameId name, std::int64_t value) {
    if (on_) DoCounter(name, value);
  }

 protected:
  explicit ThreadTracer(bool is_on) : on_(is_on) {}

  virtual void DoSetContext(const Place& place) = 0;
  virtual void DoBegin(traces::StageId stage, NameId name) = 0;
  virtual void DoEnd(Bytes bytes, std::string_view object, std::uint8_t flags) = 0;
  virtual void DoCancel() = 0;
  [[nodiscard]] virtual Tick DoNow() const = 0;
  virtual void DoEmit(traces::StageId stage, NameId name, const Place& place, Tick start, Tick end,
                      Bytes bytes, std::string_view object, std::uint8_t flags) = 0;
  virtual void DoEvent(traces::EventType type, const Place& place, std::int64_t value) = 0;
  virtual void DoDelivered(const Place& place) = 0;
  virtual void DoCounter(NameId name, std::int64_t value) = 0;

 private:
  bool on_;
};

class Tracer {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  virtual ~Tracer() = default;

  // False if nothing will be recorded.
  [[nodiscard]] virtual bool on() const = 0;
  // Returns the id of a name. Call it once for each name, at the start.
  [[nodiscard]] virtual NameId Name(std::string_view text) = 0;
  // Returns the tracer of the calling thread, which lives as long as this. `index`: number of a
  // worker. Records a worker's start; call Leave() at its end.
  [[nodiscard]] virtual ThreadTracer& Thread(std::string_view name, ThreadRole role,
                                             std::int32_t index = -1) = 0;
  // Call this when `thread` will record no more.
  virtual void Leave(ThreadTracer& thread) = 0;
  // Writes a fact of this process, such as "loader.0.kind" or "epoch.3" (traces/FORMAT.md).
  virtual void Fact(std::string_view key, std::string_view value) = 0;
  // Finishes the trace, which appears under its name. Requires: all threads have left. Errors:
  // kOutput.
  virtual Result<void> Finish() = 0;
};

// Whether thread CPU time is worth the system call: true if the stage works, false if it waits.
[[nodiscard]] constexpr bool TakesCpuTime(traces::StageId stage) {
  using traces::StageId;
  return stage != StageId::kRead && stage != StageId::kWait && stage != StageId::kIdle &&
         stage != StageId::kStep && stage != StageId::kMark;
}

// A tracer that records nothing.
[[nodiscard]] std::unique_ptr<Tracer> NoTracer();

// A tracer that writes to the agent in this process; nullptr if there is no agent, or it does not
// record. With this tracer the loader itself writes the spans of reads and decodes. kAlone: the
// agent's hooks write no such spans in this process and the processes that it forks. kBesideOthers:
// they write none inside the loader's spans of these stages, so that other libraries in the process
// keep their spans.
enum class Company { kAlone, kBesideOthers };
[[nodiscard]] std::unique_ptr<Tracer> AgentTracer(Company company = Company::kAlone);

// A tracer that writes everything to both. If one is nullptr, returns the other.
[[nodiscard]] std::unique_ptr<Tracer> BothTracers(std::unique_ptr<Tracer> first,
                                                  std::unique_ptr<Tracer> second);

// If a tool that collects NVTX is attached, a tracer like `inner` with an NVTX range (domain
// "penstock") around every span that Begin() opens; else `inner` itself.
[[nodiscard]] std::unique_ptr<Tracer> WithNvtx(std::unique_ptr<Tracer> inner);

// A span that lasts as long as the object.
class SpanScope {
 public:
  SpanScope(ThreadTracer& tracer, traces::StageId stage, NameId name) : tracer_(tracer) {
    tracer.Begin(stage, name);
  }
  ~SpanScope() {
    if (open_) tracer_.End(bytes_, object_, flags_);
  }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

  void SetBytes(Bytes bytes) { bytes_ = bytes; }
  // `object` must live as long as this object.
  void SetObject(std::string_view object) { object_ = object; }
  void SetFlags(std::uint8_t flags) { flags_ = flags; }
  void Cancel() {
    open_ = false;
    tracer_.Cancel();
  }

 private:
  ThreadTracer& tracer_;
  Bytes bytes_;
  std::string_view object_;
  std::uint8_t flags_ = 0;
  bool open_ = true;
};

}  // namespace penstock::loader
